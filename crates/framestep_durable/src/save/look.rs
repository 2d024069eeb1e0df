//! What is in a save state, as text.

use std::fmt;
use std::time::Duration;

use framestep::durable::{Reader, SavedWait, phase_of, saved_time};

use crate::bytes;
use crate::bytes::{Bytes, Content, text_of};
use crate::events::{PromiseEntry, Settled, Stream};
use crate::journal::{Entry, Kind, said_at, waits};
use crate::save::{SaveState, SemaphoreImage};
use crate::script::{GuardImage, JoinError, ScriptImage, SlotImage, WaitImage};

/// A value, or that it is not set.
pub(crate) fn value_text(value: Option<&Content>) -> String {
    value.map_or_else(|| "its default".to_owned(), ToString::to_string)
}

pub(crate) fn stream_text(stream: &Stream) -> String {
    let Stream { missed, events, .. } = stream;
    let given = stream.given.iter().map(|given| &given.value);
    let unread = given
        .chain(events)
        .take(bytes::SHOWN)
        .map(|event| text_of(event.value().get()));
    let unread: Vec<String> = unread.collect();
    let more = if events.len() > bytes::SHOWN {
        ", .."
    } else {
        ""
    };
    let count = events.len() + usize::from(stream.given.is_some());
    let unread = unread.join(", ");
    format!("{count} unread [{unread}{more}], {missed} missed")
}

pub(crate) fn permits_text(permits: &SemaphoreImage) -> String {
    let held = permits.held.iter().map(|((script, _), count)| match count {
        1 => script.to_string(),
        count => format!("{script} ({count} of them)"),
    });
    let held: Vec<String> = held.collect();
    let held = match held.as_slice() {
        [] => "no script".to_owned(),
        held => held.join(", "),
    };
    let (count, waits) = (permits.count, permits.waits.len());
    let set = if permits.is_set { ", set" } else { "" };
    format!("{count}{set}, held by {held}, {waits} waits")
}

pub(crate) fn promise_text(promise: &PromiseEntry) -> String {
    match &promise.settled {
        None => "open".to_owned(),
        Some(Settled::Cancelled) => "cancelled".to_owned(),
        Some(Settled::Resolved(value)) => format!("resolved with {}", text_of(value.value().get())),
    }
}

/// Tells what is in it: scripts, their lines, waits, deadlines and entries, and values.
///
/// Values are shown as they were serialised: a save state does not know their types. The example
/// `look` of the package prints a file.
impl fmt::Display for SaveState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (frame, elapsed) = saved_time(&self.clocks).unwrap_or_default();
        write!(
            f,
            "frame {frame}, {elapsed:?}: {} scripts",
            self.scripts.len()
        )?;
        if !self.build.is_empty() {
            write!(f, ", build `{}`", self.build)?;
        }
        writeln!(f)?;
        let mut waits = Reader::new(&self.waits);
        for script in &self.scripts {
            self.show_script(f, script, &mut waits)?;
        }
        for (name, value, waits) in &self.values {
            let value = value_text(value.as_ref());
            writeln!(f, "value `{name}`: {value}, {} waits", waits.len())?;
        }
        for (name, listed) in &self.signals {
            writeln!(f, "signal `{name}`: {} waits", listed.len())?;
        }
        for ((script, _), stream) in &self.streams {
            let (topic, text) = (&stream.topic, stream_text(stream));
            writeln!(f, "subscription of {script} to `{topic}`: {text}")?;
        }
        for permits in &self.permits {
            let (topic, text) = (&permits.topic, permits_text(permits));
            writeln!(f, "permits `{topic}`: {text}")?;
        }
        for ((script, number), promise) in &self.promises {
            let (name, text) = (&promise.name, promise_text(promise));
            writeln!(f, "promise {number} `{name}` of {script}: {text}")?;
        }
        for guard in &self.guards {
            let GuardImage { script, clock, .. } = guard;
            match guard.factor {
                None => writeln!(f, "a guard of {script} holds clock {}", clock.0)?,
                Some((bits, _)) => {
                    let factor = f64::from_bits(bits);
                    writeln!(
                        f,
                        "a guard of {script} scales clock {} by {factor}",
                        clock.0
                    )?;
                }
            }
        }
        for owner in &self.owners {
            let name = owner.name.as_deref().unwrap_or("");
            write!(f, "owner #{} {name}", owner.id.0)?;
            for (is, word) in [(owner.is_paused, "paused"), (!owner.is_active, "inactive")] {
                if is {
                    write!(f, ", {word}")?;
                }
            }
            writeln!(f)?;
        }
        for stop in &self.stops {
            let (owner, line) = (stop.owner.0, &stop.line);
            writeln!(f, "a request to stop owner #{owner}, made at {line}")?;
        }
        for ended in &self.ended {
            let script = ended.id;
            match &ended.result {
                Ok(output) => writeln!(
                    f,
                    "ended: {script} returned {}",
                    text_of(output.value().get())
                )?,
                Err(error) => writeln!(f, "ended: {script}: {error}")?,
            }
        }
        Ok(())
    }
}

impl SaveState {
    fn show_script(
        &self,
        f: &mut fmt::Formatter<'_>,
        script: &ScriptImage,
        waits: &mut Reader<'_>,
    ) -> fmt::Result {
        write!(f, "script {} `{}`", script.id, script.name)?;
        if let Ok(home) = phase_of(script.home) {
            write!(f, ", home {home}")?;
        }
        if let Some(owner) = script.owner {
            write!(f, ", owner #{}", owner.0)?;
        }
        if script.version > 0 {
            write!(f, ", version {}", script.version)?;
        }
        if !script.has_begun {
            f.write_str(", has not begun")?;
        }
        if self.asked.contains(&script.id) {
            f.write_str(", stop requested")?;
        }
        let state = &script.state;
        writeln!(f, "\n    its chapter began with {state}")?;
        let (mut at, mut number) = (0, 1);
        let read = |number, entry: Entry<'_>| {
            let text = said_at(entry.kind, entry.site, &self.sites);
            match (entry.value, self.join_error(script, number, &entry)) {
                ([], _) => text,
                (_, Some(error)) => format!("{text}: {error}"),
                (value, None) => format!("{text}: {}", text_of(value)),
            }
        };
        while let Some((text, next)) = script.journal.read(at, |entry| read(number, entry)) {
            writeln!(f, "    {number:4} {text}")?;
            (at, number) = (next, number + 1);
        }
        for (label, result) in script.once.iter() {
            write!(f, "    has done {label:?} once")?;
            match result.get() {
                [] => writeln!(f)?,
                result => writeln!(f, ", which returned {}", text_of(result))?,
            }
        }
        if script.restarts_after_wait {
            writeln!(
                f,
                "    waits as earlier code did, then restarts its chapter"
            )?;
        }
        for wait in &script.waits {
            self.show_wait(f, wait, waits)?;
        }
        Ok(())
    }

    /// The error of a join, if that is what an entry of this number records.
    fn join_error(
        &self,
        script: &ScriptImage,
        number: u32,
        entry: &Entry<'_>,
    ) -> Option<JoinError> {
        let is_join = matches!(entry.kind, Kind::Ended(_))
            && self
                .sites
                .get(entry.site)
                .is_some_and(|site| &*site.call == "join");
        let result: Result<Bytes, JoinError> = bytes::read(entry.value).filter(|_| is_join)?;
        let error = result.err()?;
        Some(error.with_line(script.stop_lines.of(number)))
    }

    fn show_wait(
        &self,
        f: &mut fmt::Formatter<'_>,
        wait: &WaitImage,
        saved: &mut Reader<'_>,
    ) -> fmt::Result {
        write!(f, "    awaits {}", waits(&[wait.named], &self.sites))?;
        let of_executor = match &wait.slot {
            SlotImage::Plain
            | SlotImage::Join(_)
            | SlotImage::OwnerEnd(_)
            | SlotImage::Tick { .. } => 1,
            SlotImage::Animate { has_end, .. } => 1 + usize::from(*has_end),
            SlotImage::Stop { .. }
            | SlotImage::Signal { .. }
            | SlotImage::Next { .. }
            | SlotImage::Value { .. }
            | SlotImage::Permit { .. }
            | SlotImage::Promise(_)
            | SlotImage::Request(_) => 0,
        };
        for _ in 0..of_executor {
            let Ok(saved) = SavedWait::read(saved) else {
                return writeln!(f, ", damaged");
            };
            if let Some(phase) = saved.phase {
                write!(f, ", in {phase}")?;
            }
            if let Some((clock, deadline_ns)) = saved.deadline {
                let deadline = Duration::from_nanos(deadline_ns);
                match clock {
                    _ if deadline_ns == 0 => f.write_str(", reached")?,
                    0 => write!(f, ", until {deadline:?}")?,
                    1 => write!(f, ", until {deadline:?} of realtime")?,
                    clock => write!(f, ", until {deadline:?} of clock {clock}")?,
                }
            }
            if let Some((unit, due)) = saved.count {
                write!(f, ", until {unit} {due}")?;
            }
        }
        if let Some(name) = wait
            .slot
            .topic()
            .filter(|topic| topic.as_ref().ends_with(']'))
        {
            write!(f, ", of `{name}`")?;
        }
        match &wait.slot {
            SlotImage::Join(script) => writeln!(f, ", the end of {script}"),
            SlotImage::OwnerEnd(owner) => writeln!(f, ", the end of owner #{}", owner.0),
            SlotImage::Signal { given, .. } => match given.value() {
                Some(given) => writeln!(f, ", emitted with {}", text_of(given.value().get())),
                None => writeln!(f),
            },
            SlotImage::Permit {
                granted: Some(_), ..
            } => writeln!(f, ", granted"),
            SlotImage::Promise(number) => writeln!(f, ", promise {number}"),
            SlotImage::Request(request) => {
                let content = text_of(request.content.value().get());
                write!(f, ", question {} with {content}", request.id)?;
                match &request.answer {
                    Some(answer) => {
                        writeln!(f, ", answered with {}", text_of(answer.value().get()))
                    }
                    None => writeln!(f),
                }
            }
            _ => writeln!(f),
        }
    }
}
