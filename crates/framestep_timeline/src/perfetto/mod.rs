//! A film in the trace format of Perfetto.
//!
//! The field numbers are those of Perfetto's published schema (`trace_packet.proto` and
//! the files that it imports).

mod clock;
mod proto;
mod writer;

use std::collections::HashMap;

use framestep::task::Outcome;

use crate::film::Film;
use crate::lanes::{Arrow, ArrowKind, At, Bar, Lane, Lanes, Poll};
use crate::record::{NONE, phase_word};

use clock::Stamps;
use writer::{Event, Shape, Track, Writer};

const FRAMES: u64 = 2;
const HOST: u64 = 3;
const ALIVE: u64 = 4;
const POLLED: u64 = 5;
const DUE: u64 = 6;
const FIRST_OWNER: u64 = 16;

impl Film {
    /// Writes the film as a trace for [Perfetto](https://ui.perfetto.dev). Save it as a
    /// file, and open it there.
    ///
    /// - Each script has a track, below the track of its owner. Slices show its polls, and
    ///   what it waits for between them, with the line of the `.await`.
    /// - Arrows (flows) lead from the end of a script to the scripts that joined it, from
    ///   the emission of a signal, from a wake, and from a spawn.
    /// - Counters: `alive` at the end of the frame; `polled`: polls in the frame; `due`:
    ///   scripts that were polled in the frame, or were woken and still waited for their
    ///   poll when it ended.
    ///
    /// Times are those of the [stopwatch](crate::Recorder::stopwatch). Without one, a
    /// frame begins at the reading of the game clock, and its events are spread evenly
    /// over it. The order is right, but lengths inside a frame have no meaning.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # let recorder = framestep_timeline::Recorder::new();
    /// std::fs::write("game.perfetto-trace", recorder.film().perfetto())?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn perfetto(&self) -> Vec<u8> {
        let lanes = self.lanes();
        let mut writer = Writer::new();
        writer.process("framestep");
        Trace {
            film: self,
            stamps: Stamps::of(&lanes, self.is_timed),
            tracks: HashMap::new(),
            lanes: &lanes,
            writer,
        }
        .write()
    }
}

struct Trace<'a> {
    film: &'a Film,
    lanes: &'a Lanes,
    stamps: Stamps,
    /// The track of each script that has one.
    tracks: HashMap<u32, u64>,
    writer: Writer,
}

impl Trace<'_> {
    fn write(mut self) -> Vec<u8> {
        self.write_frames();
        self.write_counters();
        self.add_tracks();
        let mut events: HashMap<u64, Vec<Event>> = HashMap::new();
        // Where an arrow to a script at some time ends.
        let mut targets: HashMap<(u64, u64), usize> = HashMap::new();
        for lane in &self.lanes.lanes {
            let track = self.tracks[&lane.script];
            let life = self.life(lane);
            for (at, event) in life.iter().enumerate() {
                if event.is_begin_of("poll") {
                    targets.entry((track, event.at)).or_insert(at);
                }
            }
            events.insert(track, life);
        }
        for emit in &self.lanes.emits {
            let track = self.track(emit.source);
            let name = format!("emits {}", self.film.text(emit.name));
            let event = Event::new(self.stamps.at(emit.at), Shape::Instant, "signal").named(name);
            events.entry(track).or_default().push(event);
        }
        for (number, arrow) in (1..).zip(&self.lanes.arrows) {
            let target = (self.track(arrow.target), self.stamps.at(arrow.to));
            if let Some(&at) = targets.get(&target) {
                self.add_arrow(number, arrow, &mut events);
                if let Some(event) = events
                    .get_mut(&target.0)
                    .and_then(|events| events.get_mut(at))
                {
                    event.ends_flows.push(number);
                }
            }
        }
        let mut tracks: Vec<u64> = events.keys().copied().collect();
        tracks.sort_unstable();
        for track in tracks {
            let mut events = events.remove(&track).unwrap_or_default();
            events.sort_by_key(Event::order);
            for event in &events {
                self.writer.event(track, event);
            }
        }
        self.writer.finish()
    }

    fn track(&self, script: u32) -> u64 {
        self.tracks.get(&script).copied().unwrap_or(HOST)
    }

    fn write_frames(&mut self) {
        self.writer.track(&Track {
            id: FRAMES,
            name: "frames",
            rank: 0,
            ..Track::default()
        });
        for (at, column) in self.lanes.columns.iter().enumerate() {
            let at_event = |event: u32| At { column: at, event };
            let name = format!("frame {}", column.frame);
            let begin = self.stamps.at(at_event(0));
            let elapsed = crate::text::seconds(column.elapsed);
            let event = Event::new(begin, Shape::Begin, "frame")
                .named(name)
                .with("game clock", elapsed);
            self.writer.event(FRAMES, &event);
            for run in &column.runs {
                let begin = self.stamps.at(at_event(run.from));
                let end = self.stamps.at(at_event(run.to)).max(begin);
                let event = Event::new(begin, Shape::Begin, "phase").named(phase_word(run.phase));
                self.writer.event(FRAMES, &event);
                self.writer
                    .event(FRAMES, &Event::new(end, Shape::End, "phase"));
            }
            let end = self.stamps.end_of(at);
            self.writer
                .event(FRAMES, &Event::new(end, Shape::End, "frame"));
        }
    }

    fn write_counters(&mut self) {
        for (rank, id, name) in [(1, ALIVE, "alive"), (2, POLLED, "polled"), (3, DUE, "due")] {
            self.writer.track(&Track {
                id,
                name,
                rank,
                is_counter: true,
                ..Track::default()
            });
        }
        let columns = self.lanes.columns.len();
        let mut counts = vec![[0_i64; 3]; columns + 1];
        for lane in &self.lanes.lanes {
            counts[lane.from.column][0] += 1;
            if let Some((at, _)) = lane.ended {
                counts[at.column][0] -= 1;
            }
            for polls in lane.polls.chunk_by(|a, b| a.from.column == b.from.column) {
                counts[polls[0].from.column][1] += i64::try_from(polls.len()).unwrap_or(i64::MAX);
                counts[polls[0].from.column][2] += 1;
            }
        }
        for (column, left) in self.left_ready() {
            counts[column][2] += left;
        }
        let mut alive = 0;
        for (column, [born, polled, due]) in counts.into_iter().enumerate().take(columns) {
            alive += born;
            let begin = self.stamps.at(At { column, event: 0 });
            for (id, value) in [(ALIVE, alive), (POLLED, polled), (DUE, due)] {
                self.writer
                    .counter(id, begin, u64::try_from(value).unwrap_or(0));
            }
        }
    }

    /// How many scripts were woken and still waited for their poll at the end of a frame
    /// in which they were not polled.
    fn left_ready(&self) -> HashMap<usize, i64> {
        let mut left = HashMap::new();
        for arrow in &self.lanes.arrows {
            if matches!(arrow.kind, ArrowKind::Signal | ArrowKind::Wake) {
                for column in arrow.from.column..arrow.to.column {
                    *left.entry(column).or_default() += 1;
                }
            }
        }
        left
    }

    /// A track for each owner, and below it one for each script.
    fn add_tracks(&mut self) {
        self.writer.track(&Track {
            id: HOST,
            name: "host",
            rank: 4,
            ..Track::default()
        });
        let mut owners: HashMap<u32, u64> = HashMap::new();
        let mut next = FIRST_OWNER;
        for lane in &self.lanes.lanes {
            let owner = self.film.script(lane.script).owner;
            owners.entry(owner).or_insert_with(|| {
                next += 1;
                let name = match owner {
                    NONE => "no owner".to_owned(),
                    owner => self.film.text(owner),
                };
                self.writer.track(&Track {
                    id: next,
                    name: &name,
                    rank: next,
                    ..Track::default()
                });
                next
            });
        }
        for lane in &self.lanes.lanes {
            next += 1;
            self.writer.track(&Track {
                id: next,
                parent: owners[&self.film.script(lane.script).owner],
                name: &self.film.name_and_id(lane.script),
                rank: next,
                ..Track::default()
            });
            self.tracks.insert(lane.script, next);
        }
    }

    /// The slices of one script: its polls, and a wait between two of them.
    fn life(&self, lane: &Lane) -> Vec<Event> {
        let mut events = Vec::new();
        if let Some(spawned) = lane.spawned {
            let place = self.film.place(self.film.script(lane.script).place);
            let event = Event::new(self.stamps.at(spawned), Shape::Instant, "life");
            events.push(event.named("spawned").with_some("at", place));
        }
        let end = lane.ended.map_or(self.lanes.end(), |(at, _)| at);
        let mut free = lane.from;
        for poll in &lane.polls {
            self.add_wait(lane, free, poll.from, &mut events);
            self.add_poll(lane, poll, &mut events);
            free = if poll.is_over { poll.to } else { end };
        }
        if free < end {
            self.add_wait(lane, free, end, &mut events);
        }
        if let Some((at, outcome)) = lane.ended {
            let name = match outcome {
                Outcome::Finished => "finished",
                Outcome::Stopped => "stopped",
                Outcome::Panicked => "panicked",
            };
            events.push(Event::new(self.stamps.at(at), Shape::Instant, "life").named(name));
        }
        for pause in &lane.pauses {
            let by = self.film.name_and_id(pause.by);
            let event = Event::new(self.stamps.at(pause.from), Shape::Instant, "pause");
            events.push(event.named("paused").with("by", by));
            if let Some(to) = pause.to {
                let event = Event::new(self.stamps.at(to), Shape::Instant, "pause");
                events.push(event.named("resumed from a pause"));
            }
        }
        events
    }

    fn add_poll(&self, lane: &Lane, poll: &Poll, events: &mut Vec<Event>) {
        let begin = self.stamps.at(poll.from);
        let end = if poll.is_over {
            poll.to
        } else {
            self.lanes.end()
        };
        let by = (poll.by != NONE).then(|| self.film.text(poll.by));
        let place = if poll.place == NONE {
            self.film.script(lane.script).place
        } else {
            poll.place
        };
        let mut event = Event::new(begin, Shape::Begin, "poll")
            .named("poll")
            .with(
                "frame",
                self.lanes.columns[poll.from.column].frame.to_string(),
            )
            .with("phase", phase_word(poll.phase))
            .with_some("resumed by", by)
            .with_some("from", self.film.place(place));
        event.line = self.film.tables.places.get(place).cloned();
        events.push(event);
        events.push(Event::new(
            self.stamps.at(end).max(begin),
            Shape::End,
            "poll",
        ));
    }

    fn add_wait(&self, lane: &Lane, from: At, to: At, events: &mut Vec<Event>) {
        let (begin, end) = (self.stamps.at(from), self.stamps.at(to));
        let is_open = |bar: &&Bar| bar.from <= from && bar.to.is_none_or(|ended| ended > from);
        let first = lane
            .waits
            .partition_point(|bar| bar.from < from)
            .saturating_sub(64);
        let open = || {
            lane.waits[first..]
                .iter()
                .take_while(|bar| bar.from <= from)
                .filter(is_open)
        };
        let names: Vec<String> = open()
            .map(|bar| self.film.wait(&bar.wait, bar.now))
            .collect();
        if end <= begin || names.is_empty() {
            return;
        }
        let since = open().map(|bar| bar.since).min().unwrap_or(0);
        let mut event = Event::new(begin, Shape::Begin, "wait")
            .named(names.join(" | "))
            .with("since frame", since.to_string());
        for bar in open() {
            event = event.with_some("at", self.film.place(bar.wait.place()));
        }
        let place = open().find_map(|bar| self.film.tables.places.get(bar.wait.place()));
        event.line = place.cloned();
        events.push(event);
        events.push(Event::new(end, Shape::End, "wait"));
    }

    fn add_arrow(&self, number: u64, arrow: &Arrow, events: &mut HashMap<u64, Vec<Event>>) {
        let other = self.film.name_and_id(arrow.target);
        let name = match arrow.kind {
            ArrowKind::Spawn => format!("spawns {other}"),
            ArrowKind::Join => format!("ends for {other}"),
            ArrowKind::Signal => format!("wakes {other} through {}", self.film.text(arrow.name)),
            ArrowKind::Wake => format!("wakes {other}"),
        };
        let mut event = Event::new(self.stamps.at(arrow.from), Shape::Instant, "cause").named(name);
        event.flow = Some(number);
        events
            .entry(self.track(arrow.source))
            .or_default()
            .push(event);
    }
}
