//! What a server tells its operator.

mod text;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::entry::Player;

/// Something that a server tells its operator, for [`Server::on_note`](crate::Server::on_note).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerNote {
    /// The node.
    pub node: String,
    /// The shard. `None` if it is about the node.
    pub shard: Option<u32>,
    /// The room, if it is about one.
    pub room: Option<String>,
    /// What has happened.
    pub event: ServerEvent,
}

impl ServerNote {
    /// Whether somebody should look at it: [`ServerEvent::is_warning`].
    pub fn is_warning(&self) -> bool {
        self.event.is_warning()
    }
}

impl fmt::Display for ServerNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.node)?;
        if let Some(shard) = self.shard {
            write!(f, ", shard {shard}")?;
        }
        if let Some(room) = &self.room {
            write!(f, ", room {room}")?;
        }
        write!(f, ": {}", self.event)
    }
}

/// What has happened to a node, a shard or a room. Its text is a sentence for people.
///
/// Builds are named by their numbers, which are shown in hexadecimal digits.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// The node has joined.
    Joined {
        /// Its build.
        build: u64,
        /// The other nodes.
        with: Vec<String>,
    },
    /// What the node does has changed.
    Shares {
        /// Shards that it runs.
        runs: usize,
        /// Shards that it follows as a standby.
        follows: usize,
        /// All shards.
        all: u32,
    },
    /// The node stops: it saves its shards and hands them over.
    Stops {
        /// Shards that it runs.
        shards: usize,
    },
    /// The node has stopped.
    Stopped {
        /// How long that took.
        after: Duration,
    },
    /// Another node has joined.
    PeerJoined {
        /// The node.
        node: String,
        /// Its build, if that is another one.
        build: Option<u64>,
    },
    /// Another node stops.
    PeerStops {
        /// The node.
        node: String,
    },
    /// Another node has left.
    PeerLeft {
        /// The node.
        node: String,
    },
    /// Another node sends no heartbeat. Its shards fail over.
    PeerLost {
        /// The node.
        node: String,
        /// Its build, if that is another one.
        build: Option<u64>,
    },
    /// Another node runs the same code with other settings that rooms are computed with: it is of
    /// another build.
    SettingsDiffer {
        /// The node.
        node: String,
        /// Its settings.
        theirs: String,
        /// Those of this node.
        ours: String,
    },
    /// There is a later build, which takes over the shards.
    LaterBuild {
        /// The later build.
        build: u64,
        /// This one.
        own: u64,
    },
    /// The log does not answer. Rooms stand still.
    LogIsSilent {
        /// For how many shards.
        shards: usize,
        /// All shards.
        all: u32,
        /// What it has said, or that it has said nothing.
        why: String,
    },
    /// The log answers again.
    LogAnswers {
        /// How long it did not.
        after: Duration,
    },
    /// The log of a shard is full: its rooms stand still.
    LogIsFull {
        /// What the log says.
        why: String,
    },
    /// A thread has not ended in time, or has panicked.
    ThreadFailed {
        /// What has happened.
        why: String,
    },
    /// A task of the node has failed, and is started again.
    TaskFailed {
        /// The task.
        task: &'static str,
        /// Why.
        why: String,
    },
    /// The log does not have the tick any more at which this node is: it was cut back, such as by a
    /// loss of power. The node begins again from a save.
    LogWasCut {
        /// The frame of the node.
        frame: u64,
    },
    /// The log has another hash of the state after this frame than this node: a room depends on what
    /// is not recorded.
    StateDiffers {
        /// The frame.
        frame: u64,
        /// The node whose tick has the other hash.
        ticked_by: String,
        /// The rooms that are in the hash of this frame.
        rooms: Vec<String>,
    },
    /// Ticks do not fit the log. They have no effect.
    VoidTicks {
        /// How many, since this was told last.
        count: u64,
        /// The entry of the last one.
        last: u64,
    },
    /// No save fits the log, and the log does not begin at its first entry.
    NoSave {
        /// The first entry of the log.
        first: u64,
    },
    /// A save could not be read.
    BadSave {
        /// Its frame.
        frame: u64,
        /// Why not.
        why: String,
    },
    /// The state could not be saved.
    NotSaved {
        /// The frame.
        frame: u64,
        /// Why not.
        why: String,
    },
    /// A shard could not be loaded.
    NotLoaded {
        /// Why not.
        why: String,
    },
    /// This build cannot read the save of another one: the shard stays with that.
    CannotBegin {
        /// The frame of the save.
        frame: u64,
        /// The build that has written it.
        build: u64,
        /// Why not.
        why: String,
    },
    /// A node of a later build cannot read the save of this shard, which stays here.
    NotOffered {
        /// The node.
        node: String,
        /// Its build.
        build: u64,
    },
    /// The shard is at frames of another build, no node of which runs, so it stands still. Start one:
    /// it catches up, and hands over.
    StandsStill {
        /// The last frame known of that build.
        frame: u64,
        /// The build.
        build: u64,
        /// Whether the build has handed over. Then this one is an earlier build.
        is_handed_over: bool,
        /// This build.
        own: u64,
    },
    /// Starts of the shard at a save have ended the process: its rooms are tried in another one.
    StartsFailed {
        /// How many.
        starts: u32,
    },
    /// Rooms cannot be tried in another process.
    NoProbe {
        /// Why not.
        why: String,
    },
    /// The room ends or hangs its process. It is not run any more.
    RoomTakenOut {
        /// The frame in which it did that.
        frame: u64,
    },
    /// The room ends or hangs its process, and this could not be noted in the log.
    RoomNotTakenOut {
        /// Why not.
        why: String,
    },
    /// The room hangs in a frame: the process ends.
    RoomHangs {
        /// The frame.
        frame: u64,
    },
    /// The room is broken: it stands still on all nodes.
    RoomBroken {
        /// What has broken it, such as its frame.
        by: String,
        /// The text of a panic, or why it cannot be saved.
        why: String,
    },
    /// A script of the room has panicked. Only this script has ended.
    ScriptPanicked {
        /// The script.
        script: String,
        /// The text of the panic.
        message: String,
        /// The `.await` that it had reached.
        after: Option<String>,
    },
    /// The runtime of the room reports something.
    Reported {
        /// The report.
        text: String,
    },
    /// The room has no view.
    NoView {
        /// Why not.
        why: String,
    },
    /// A view of the room is too large for the log, and is not sent.
    ViewTooLarge {
        /// The player whose view it is. `None`: the view of all.
        player: Option<Player>,
        /// Its bytes.
        size: usize,
        /// How many there may be.
        limit: usize,
    },
    /// The operator has closed the room.
    RoomClosed,
    /// The operator has removed a player from the room.
    PlayerKicked {
        /// The player.
        player: Player,
    },
    /// Inputs have no effect.
    InputsRefused {
        /// How many, since this was told last.
        count: u64,
        /// The player of the first one.
        player: Player,
        /// The room of the first one.
        room: Arc<str>,
        /// Why.
        why: String,
    },
    /// Rooms are not opened.
    RoomsNotOpened {
        /// How many, since this was told last.
        count: u64,
        /// The first one.
        room: Arc<str>,
        /// Why.
        why: String,
    },
    /// An effect has panicked. It is repeated.
    EffectPanicked {
        /// Its key.
        key: String,
        /// The panic.
        why: String,
    },
    /// The answer of an effect is too large for the log: the script waits without an end.
    AnswerTooLarge {
        /// The key of the effect.
        key: String,
        /// Its bytes.
        size: usize,
        /// How many there may be.
        limit: usize,
    },
}

impl ServerEvent {
    /// Whether somebody should look at it: a room that is broken or differs, a script that has
    /// panicked, an input that has no effect, a node that was lost, a log that does not answer. Other
    /// events say what is as it should be: which nodes come and go, and which shards this one runs.
    pub fn is_warning(&self) -> bool {
        !matches!(
            self,
            ServerEvent::Joined { .. }
                | ServerEvent::Shares { .. }
                | ServerEvent::Stops { .. }
                | ServerEvent::Stopped { .. }
                | ServerEvent::PeerJoined { .. }
                | ServerEvent::PeerStops { .. }
                | ServerEvent::PeerLeft { .. }
                | ServerEvent::LaterBuild { .. }
                | ServerEvent::LogAnswers { .. }
                | ServerEvent::RoomClosed
                | ServerEvent::PlayerKicked { .. }
        )
    }

    /// The name of its kind, such as `RoomBroken`, for metrics and filters.
    pub fn name(&self) -> &'static str {
        match self {
            ServerEvent::Joined { .. } => "Joined",
            ServerEvent::Shares { .. } => "Shares",
            ServerEvent::Stops { .. } => "Stops",
            ServerEvent::Stopped { .. } => "Stopped",
            ServerEvent::PeerJoined { .. } => "PeerJoined",
            ServerEvent::PeerStops { .. } => "PeerStops",
            ServerEvent::PeerLeft { .. } => "PeerLeft",
            ServerEvent::PeerLost { .. } => "PeerLost",
            ServerEvent::SettingsDiffer { .. } => "SettingsDiffer",
            ServerEvent::LaterBuild { .. } => "LaterBuild",
            ServerEvent::LogIsSilent { .. } => "LogIsSilent",
            ServerEvent::LogAnswers { .. } => "LogAnswers",
            ServerEvent::LogIsFull { .. } => "LogIsFull",
            ServerEvent::ThreadFailed { .. } => "ThreadFailed",
            ServerEvent::TaskFailed { .. } => "TaskFailed",
            ServerEvent::LogWasCut { .. } => "LogWasCut",
            ServerEvent::StateDiffers { .. } => "StateDiffers",
            ServerEvent::VoidTicks { .. } => "VoidTicks",
            ServerEvent::NoSave { .. } => "NoSave",
            ServerEvent::BadSave { .. } => "BadSave",
            ServerEvent::NotSaved { .. } => "NotSaved",
            ServerEvent::NotLoaded { .. } => "NotLoaded",
            ServerEvent::CannotBegin { .. } => "CannotBegin",
            ServerEvent::NotOffered { .. } => "NotOffered",
            ServerEvent::StandsStill { .. } => "StandsStill",
            ServerEvent::StartsFailed { .. } => "StartsFailed",
            ServerEvent::NoProbe { .. } => "NoProbe",
            ServerEvent::RoomTakenOut { .. } => "RoomTakenOut",
            ServerEvent::RoomNotTakenOut { .. } => "RoomNotTakenOut",
            ServerEvent::RoomHangs { .. } => "RoomHangs",
            ServerEvent::RoomBroken { .. } => "RoomBroken",
            ServerEvent::ScriptPanicked { .. } => "ScriptPanicked",
            ServerEvent::Reported { .. } => "Reported",
            ServerEvent::NoView { .. } => "NoView",
            ServerEvent::ViewTooLarge { .. } => "ViewTooLarge",
            ServerEvent::RoomClosed => "RoomClosed",
            ServerEvent::PlayerKicked { .. } => "PlayerKicked",
            ServerEvent::InputsRefused { .. } => "InputsRefused",
            ServerEvent::RoomsNotOpened { .. } => "RoomsNotOpened",
            ServerEvent::EffectPanicked { .. } => "EffectPanicked",
            ServerEvent::AnswerTooLarge { .. } => "AnswerTooLarge",
        }
    }

    /// Why a node does not have a shard: the kind and the reason, whatever the frame. `None` of other
    /// events.
    pub(crate) fn absence(&self) -> Option<(&'static str, String)> {
        let why = match self {
            ServerEvent::NoSave { .. } => String::new(),
            ServerEvent::BadSave { why, .. }
            | ServerEvent::NotLoaded { why }
            | ServerEvent::CannotBegin { why, .. } => why.clone(),
            ServerEvent::StandsStill { build, .. } => format!("{build:x}"),
            _ => return None,
        };
        Some((self.name(), why))
    }
}

/// The hook for notes.
pub(crate) type Hook = Arc<dyn Fn(&ServerNote) + Send + Sync>;

/// The hook of a server without one: with the feature `tracing` and a subscriber, that has the notes.
pub(crate) fn print(note: &ServerNote) {
    #[cfg(feature = "tracing")]
    if tracing::dispatcher::has_been_set() {
        return;
    }
    let mark = if note.is_warning() { "warning: " } else { "" };
    eprintln!("framestep_rooms: {mark}{note}");
}

/// Emits a note to `tracing`, and counts it.
pub(crate) fn emit(note: &ServerNote) {
    #[cfg(not(any(feature = "tracing", feature = "metrics")))]
    let _ = note;
    #[cfg(feature = "tracing")]
    {
        let (node, shard, room) = (&*note.node, note.shard, note.room.as_deref());
        let event = note.event.name();
        if note.is_warning() {
            tracing::warn!(target: "framestep_rooms", node, shard, room, event, "{}", note.event);
        } else {
            tracing::info!(target: "framestep_rooms", node, shard, room, event, "{}", note.event);
        }
    }
    #[cfg(feature = "metrics")]
    metrics::counter!("rooms_events_total", "event" => note.event.name()).increment(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_a_shard_is_not_there_is_told_once_whatever_the_frame() {
        let bad = |frame, why: &str| ServerEvent::BadSave {
            frame,
            why: why.to_owned(),
        };
        assert_eq!(bad(7, "cut").absence(), bad(8, "cut").absence());
        assert_ne!(bad(7, "cut").absence(), bad(7, "of entry 8").absence());
        assert_eq!(ServerEvent::RoomClosed.absence(), None);
    }
}
