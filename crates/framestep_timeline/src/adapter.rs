//! Turns the events of framestep into records. Only this file uses both.

use framestep::inspect::{Source, SourceKind, TraceEvent, TraceKind, Wait, Waiting};

use crate::record::{Kind, NONE, Record, WaitKind, clock_number, outcome_number, phase_number};
use crate::recorder::Inner;
use crate::tables::Origin;
use crate::text;

impl Inner {
    /// Whether the stopwatch is read for this event.
    pub(crate) fn is_timed(what: &TraceKind) -> bool {
        matches!(
            what,
            TraceKind::Resumed { .. }
                | TraceKind::Suspended { .. }
                | TraceKind::Ended(_)
                | TraceKind::PhaseBegan
                | TraceKind::PhaseEnded
        )
    }

    pub(crate) fn note(&mut self, event: &TraceEvent, stamp: u64) {
        let script = event.id.map_or(NONE, |id| self.script(id));
        let mut record = Record {
            value: stamp,
            ..Record::new(Kind::Emitted, phase_number(event.phase), script)
        };
        match &event.kind {
            TraceKind::FrameBegan { elapsed } => {
                let elapsed = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
                return self.begin_frame(event.frame, elapsed);
            }
            TraceKind::PhaseBegan => record.kind = Kind::PhaseBegan,
            TraceKind::PhaseEnded => record.kind = Kind::PhaseEnded,
            TraceKind::Spawned { at, parent, owner } => {
                let place = self.tape.tables.places.number(*at);
                let parent = parent.map_or(NONE, |parent| self.script(parent));
                let owner = owner.as_ref().map_or(NONE, |owner| self.name(owner));
                let known = &mut self.tape.tables.scripts[script as usize];
                (known.place, known.parent, known.owner) = (place, parent, owner);
                return self.spawn(script, record.phase, &event.name);
            }
            TraceKind::Resumed { by, from } => {
                self.set_name(script, &event.name);
                self.count_poll(script);
                record.kind = Kind::Resumed;
                record.other = by.as_ref().map_or(NONE, |by| self.awaited(script, by));
                record.place = self.tape.tables.places.number(*from);
            }
            TraceKind::Suspended { waits } => {
                self.compare_waits(script, waits);
                record.kind = Kind::Suspended;
            }
            TraceKind::Ended(outcome) => {
                self.compare_waits(script, &[]);
                self.set_name(script, &event.name);
                record.kind = Kind::Ended;
                record.detail = outcome_number(*outcome);
            }
            TraceKind::Woken { by, source } => {
                record.kind = Kind::Woken;
                record.other = by.map_or(NONE, |by| self.script(by));
                record.place = source.as_ref().map_or(NONE, |by| self.awaited(script, by));
            }
            TraceKind::Paused => record.kind = Kind::Paused,
            TraceKind::Unpaused => record.kind = Kind::Unpaused,
            TraceKind::Emitted {
                source,
                listeners,
                value,
                ..
            } => {
                record.other = self.source(source);
                record.detail = 1 + u8::try_from(*listeners).unwrap_or(254).min(254);
                record.place = value.as_ref().map_or(NONE, |value| self.name(value));
                self.emitted = record.other;
            }
            TraceKind::Acquired { source, count, at } => {
                record.kind = Kind::Acquired;
                record.other = self.source(source);
                record.place = self.tape.tables.places.number(Some(*at));
                record.value = *count as u64;
            }
            TraceKind::Released { source, count } => {
                record.kind = Kind::Released;
                record.other = self.source(source);
                record.value = *count as u64;
            }
            // An event of a newer framestep.
            _ => return,
        }
        self.push(record);
    }
}

impl Inner {
    /// Records which waits of a script are over, and which have begun, since it was
    /// suspended last.
    fn compare_waits(&mut self, script: u32, waits: &[Waiting]) {
        let mut before = self.take_waits(script).into_iter();
        let mut now = Vec::with_capacity(waits.len());
        let (mut ended, mut begun) = (Vec::new(), Vec::new());
        for waiting in waits {
            let record = self.record_of_wait(script, waiting);
            now.push(record);
            let is_same = |earlier: &Record| *earlier == record;
            let goes_on = if waiting.is_new {
                ended.extend(before.by_ref());
                // A condition that did not hold begins anew. It is one wait all the same.
                let same = ended.iter().position(is_same);
                let same = same.filter(|_| record.wait_kind() == WaitKind::Condition);
                same.map(|at| ended.remove(at)).is_some()
            } else {
                // Those that go on come first, and in their order.
                let over = before.as_slice().iter().position(is_same);
                over.is_some_and(|over| {
                    ended.extend(before.by_ref().take(over));
                    before.next().is_some()
                })
            };
            if !goes_on {
                begun.push(record);
            }
        }
        ended.extend(before);
        for record in ended {
            self.push(Record {
                kind: Kind::WaitEnded,
                ..record
            });
        }
        for record in begun {
            self.push(record);
        }
        self.set_waits(script, now);
    }

    fn record_of_wait(&mut self, script: u32, waiting: &Waiting) -> Record {
        let wait = &waiting.wait;
        let mut record = Record::new(Kind::WaitBegan, phase_number(wait.phase()), script);
        record.place = self.tape.tables.places.number(waiting.at);
        let wait_kind = match wait {
            Wait::Frame { .. } => WaitKind::Frame,
            Wait::Run { .. } => WaitKind::Run,
            Wait::Condition { .. } => WaitKind::Condition,
            Wait::FrameCount { left, .. } => {
                record.value = *left;
                WaitKind::Frames
            }
            Wait::StepCount { left, .. } => {
                record.value = *left;
                WaitKind::Steps
            }
            Wait::Timer {
                clock, deadline, ..
            } => {
                record.other = clock_number(*clock);
                record.value = u64::try_from(deadline.as_nanos()).unwrap_or(u64::MAX);
                WaitKind::Timer
            }
            Wait::Join { id } => {
                record.other = self.script(*id);
                WaitKind::Join
            }
            Wait::Signal { source, .. } => {
                record.other = self.source(source);
                WaitKind::Signal
            }
            Wait::Watch { source, .. } => {
                record.other = self.source(source);
                if waiting.is_new {
                    self.note_value(script, record.other, source);
                }
                WaitKind::Watch
            }
            Wait::Permit { source, .. } => {
                record.other = self.source(source);
                WaitKind::Permit
            }
            Wait::Wake { .. } => WaitKind::Wake,
            Wait::Never => WaitKind::Never,
            other => {
                record.other = self.name(&other.to_string());
                WaitKind::Other
            }
        };
        record.detail = wait_kind as u8;
        record
    }
}

impl Inner {
    /// The number of the name of a source. Others of the same name have other numbers.
    fn source(&mut self, source: &Source) -> u32 {
        if source.named_at().is_none() {
            return self.name(source.name());
        }
        match self.sources.get(source) {
            Some(&name) => name,
            None => self.add_source(source),
        }
    }

    #[cold]
    fn add_source(&mut self, source: &Source) -> u32 {
        let by = source.named_by().map(|id| {
            let script = self.script(id);
            let known = self.tape.tables.scripts[script as usize].name;
            let name = text::without_path(self.tape.tables.names.get(known));
            format!("{} ({id})", text::visible(&name))
        });
        let tables = &mut self.tape.tables;
        let base = tables.names.number(source.name());
        let place = tables.places.number(source.named_at());
        let name = tables.add_source(Origin {
            base,
            place,
            frame: source.named_in(),
            by,
            is_signal: source.kind() == SourceKind::Signal,
            ..Origin::default()
        });
        self.sources.insert(source.clone(), name);
        name
    }

    /// The source with this name for which a script waits. If it waits for several of that
    /// name, that which was emitted last, or else the first.
    fn awaited(&mut self, script: u32, name: &str) -> u32 {
        let base = self.name(name);
        let tables = &self.tape.tables;
        let waits = self.notes[script as usize].waits.iter();
        let named = waits.filter(|wait| wait.wait_kind().has_name());
        let mut sources = named
            .map(|wait| wait.other)
            .filter(|number| tables.base(*number) == base);
        let Some(first) = sources.next() else {
            return base;
        };
        let is_emitted = sources.any(|number| number == self.emitted);
        if is_emitted { self.emitted } else { first }
    }

    /// Records the value that a watch has when a wait for it begins.
    fn note_value(&mut self, script: u32, name: u32, source: &Source) {
        if let Some(value) = source.value() {
            let place = self.name(&value);
            self.tape.push_value(Record {
                other: name,
                place,
                ..Record::new(Kind::Valued, 0, script)
            });
        }
    }
}
