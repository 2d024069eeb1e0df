//! What an event says to people.

use std::fmt;

use super::ServerEvent;

/// A few of these names.
fn few(names: &[String]) -> String {
    const FEW: usize = 8;
    let first = names[..names.len().min(FEW)].join(", ");
    match names.len().checked_sub(FEW) {
        None | Some(0) => first,
        Some(more) => format!("{first} and {more} more"),
    }
}

/// Words about a build that is not this node's.
fn of_build(build: Option<u64>) -> String {
    build.map_or(String::new(), |build| format!(", of build {build:x}"))
}

impl fmt::Display for ServerEvent {
    #[expect(
        clippy::too_many_lines,
        reason = "a sentence for each event, and none is forgotten"
    )]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ServerEvent as E;
        match self {
            E::Joined { build, with } if with.is_empty() => {
                write!(f, "has joined, build {build:x}, no other nodes yet")
            }
            E::Joined { build, with } => {
                write!(f, "has joined, build {build:x}, with {}", with.join(", "))
            }
            E::Shares { runs, follows, all } => {
                write!(f, "runs {runs} of {all} shards, follows {follows}")
            }
            E::Stops { shards } => {
                write!(f, "stops: it saves {shards} shards, and hands them over")
            }
            E::Stopped { after } => write!(f, "has stopped, in {:.1} s", after.as_secs_f64()),
            E::PeerJoined { node, build } => {
                write!(f, "node {node} has joined{}", of_build(*build))
            }
            E::PeerStops { node } => write!(f, "node {node} stops"),
            E::PeerLeft { node } => write!(f, "node {node} has left"),
            E::PeerLost { node, build } => {
                let comma = if build.is_some() { "," } else { "" };
                let build = of_build(*build);
                write!(
                    f,
                    "node {node}{build}{comma} is lost: it sends no heartbeat. Its shards fail over"
                )
            }
            E::SettingsDiffer { node, theirs, ours } => write!(
                f,
                "node {node} runs the same code with other settings: {theirs}, and here {ours}. Rooms are \
                 computed with them, so it counts as another build, and the later one takes the shards. \
                 Start all nodes with the same settings"
            ),
            E::LaterBuild { build, own } => write!(
                f,
                "build {build:x} is later than this one, and takes its shards over. To go back: `rooms top \
                 --prefer {own:x}`"
            ),
            E::LogIsSilent { shards, all, why } => write!(
                f,
                "the log does not answer for {shards} of {all} shards: {why}. Until it does, inputs are not \
                 accepted, and rooms stand still; then they go on with the same frame"
            ),
            E::LogAnswers { after } => {
                write!(
                    f,
                    "the log answers again, after {:.1} s",
                    after.as_secs_f64()
                )
            }
            E::LogIsFull { why } => write!(
                f,
                "the log of the shard is full: {why}. Its rooms stand still. What no save needs is trimmed; \
                 if that is not enough, give it more with `NatsLog::max_bytes`, and see who sends so much"
            ),
            E::ThreadFailed { why } | E::NoProbe { why } => f.write_str(why),
            E::TaskFailed { task, why } => {
                write!(f, "{task} has failed: {why}. It is started again")
            }
            E::LogWasCut { frame } => write!(
                f,
                "the log does not have the tick of frame {frame} any more: it was cut back. This \
                 node begins again from a save"
            ),
            E::StateDiffers {
                frame,
                ticked_by,
                rooms,
            } => {
                let list = match &rooms[..] {
                    [] => "of the frame itself".to_owned(),
                    [room] => format!("of room {room}"),
                    rooms => format!("of one of the rooms {}", few(rooms)),
                };
                write!(
                    f,
                    "after frame {frame}, the state {list} differs from that on {ticked_by}: it depends on \
                     what is not recorded, such as the order of a `HashMap`"
                )
            }
            E::VoidTicks { count: 1, last } => write!(
                f,
                "the tick in entry {last} does not fit the log: it has no effect"
            ),
            E::VoidTicks { count, last } => write!(
                f,
                "{count} ticks do not fit the log, the last in entry {last}: they have no effect"
            ),
            E::NoSave { first } => write!(
                f,
                "no save fits the log, which begins with entry {first}: the shard cannot be loaded. If no \
                 node has its state any more, `rooms restart` begins it without rooms"
            ),
            E::BadSave { frame, why } => {
                write!(f, "the save of frame {frame} cannot be read: {why}")
            }
            E::NotSaved { frame, why } => write!(f, "frame {frame} cannot be saved: {why}"),
            E::NotLoaded { why } => write!(f, "it cannot be loaded: {why}"),
            E::CannotBegin { frame, build, why } => write!(
                f,
                "this build cannot read the save of frame {frame} of build {build:x}, so the shard stays \
                 with that: {why}"
            ),
            E::NotOffered { node, build } => write!(
                f,
                "{node} of build {build:x} cannot read the save of this shard, and says why. The shard \
                 stays with this build"
            ),
            E::StandsStill {
                frame,
                build,
                is_handed_over: true,
                own,
            } => write!(
                f,
                "the shard stands still: frame {frame} was run by build {build:x}, and this build is an \
                 earlier one, which may drop what it does not know. Start a node of that build or of a \
                 later one, or go back to this one: `rooms top --prefer {own:x}`"
            ),
            E::StandsStill { frame, build, .. } => write!(
                f,
                "the shard stands still: frame {frame} was run by build {build:x}, only that may go on, \
                 and no node of it runs. Start one: it catches up, and hands over"
            ),
            E::StartsFailed { starts } => write!(
                f,
                "{starts} starts at its save have not ended: its rooms are tried in another process"
            ),
            E::RoomTakenOut { frame } => write!(
                f,
                "it ends or hangs the process in frame {frame}: it is not run any more"
            ),
            E::RoomNotTakenOut { why } => {
                write!(f, "it ends or hangs the process, and stays: {why}")
            }
            E::RoomHangs { frame } => write!(
                f,
                "it hangs in frame {frame}: the process ends. Its other rooms go on elsewhere"
            ),
            E::RoomBroken { by, why } => write!(f, "it is broken: {by}: {why}"),
            E::ScriptPanicked {
                script,
                message,
                after,
            } => {
                write!(f, "script `{script}` has panicked: {message}")?;
                match after {
                    Some(after) => write!(f, " (after {after})"),
                    None => Ok(()),
                }
            }
            E::Reported { text } => f.write_str(text),
            E::NoView { why } => write!(f, "it has no view: {why}"),
            E::ViewTooLarge {
                player,
                size,
                limit,
            } => {
                let of = player
                    .as_ref()
                    .map_or(String::new(), |player| format!(" of {player}"));
                write!(
                    f,
                    "its view{of} has {size} bytes, and the log takes {limit}: it is not sent. Show less, or \
                     raise `max_payload` of NATS"
                )
            }
            E::RoomClosed => f.write_str("the operator has closed it"),
            E::PlayerKicked { player } => {
                write!(f, "the operator has removed {player}")
            }
            E::InputsRefused {
                count: 1,
                player,
                room,
                why,
            } => write!(
                f,
                "an input of {player} to room {room} has no effect: {why}"
            ),
            E::InputsRefused {
                count,
                player,
                room,
                why,
            } => write!(
                f,
                "{count} inputs have no effect, the first of {player} to room {room}: {why}"
            ),
            E::RoomsNotOpened {
                count: 1,
                room,
                why,
            } => write!(f, "room {room} is not opened: {why}"),
            E::RoomsNotOpened { count, room, why } => write!(
                f,
                "{count} rooms are not opened, the first is {room}: {why}"
            ),
            E::EffectPanicked { key, why } => {
                write!(f, "the effect {key} has panicked: {why}. It is repeated")
            }
            E::AnswerTooLarge { key, size, limit } => write!(
                f,
                "the answer to {key} has {size} bytes, and the log takes {limit} (`Server::max_answer`): the \
                 script waits without an end"
            ),
        }
    }
}
