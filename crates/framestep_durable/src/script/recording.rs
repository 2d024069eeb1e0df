//! What a script is to the waits of framestep that it polls: it keeps them, and records how they end.

use std::any::Any;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::task::{Context, Poll};

use framestep::durable::{
    Asks, Begun, CalledOn, DurableWait, FrameWait, Given, Gives, Reads, Recorder, Ticked, Writer,
    in_line, save_time,
};
use framestep::time::{Clock, ClockGuard, Time};

use crate::bytes::{Bytes, message_of};
use crate::ids::ClockId;
use crate::journal::{Call, Known};
use crate::script::caller::{in_a_closure, refuse};
use crate::script::cell::Mode;
use crate::script::effect::{time_now, time_of};
use crate::script::recorder::Polling;
use crate::script::{Pending, ScriptCell, Slot, expect_read};

type Line = &'static Location<'static>;

impl Recorder for ScriptCell {
    fn begin_frame(&self, call: &'static str, at: Line, wait: FrameWait) -> u64 {
        self.expect_outside_of_closures(call, at);
        let site = self.site_at(call, at);
        let number = self.take_number();
        let mut chapter = self.change();
        chapter.waits.make_room();
        chapter.waits.push_frame(number, site, wait);
        self.ticket(number)
    }

    fn keep(&self, call: &'static str, at: Line, wait: DurableWait) -> u64 {
        self.expect_outside_of_closures(call, at);
        let site = self.site_at(call, at);
        let number = self.take_number();
        self.add_wait(Pending {
            number,
            site,
            slot: Slot::Plain(wait),
            shown: None,
        });
        self.ticket(number)
    }

    fn take_resumed(&self, ticket: u64) -> bool {
        match self.number_of(ticket) {
            Some(number) if !self.is_in_closure() => self.end_if_resumed(number),
            _ => false,
        }
    }

    fn begin_replayed(&self, call: &'static str, at: Line) -> Option<(u64, bool)> {
        if !self.is_replayed() || self.is_in_closure() {
            return None;
        }
        let (number, is_over) = self.take_begun(self.site_at(call, at))?;
        Some((self.ticket(number), is_over))
    }

    fn end_replayed(&self, ticket: u64) -> Option<bool> {
        let number = self.number_of(ticket)?;
        if !self.is_replayed() || self.is_in_closure() {
            return None;
        }
        self.take_ended(number)
    }

    fn begin(
        &self,
        call: &'static str,
        at: Line,
        cx: &Context<'_>,
        wait: DurableWait,
        gives: Gives,
        asks: Asks<'_>,
    ) -> Begun {
        self.expect_outside_of_closures(call, at);
        let site = self.site_at(call, at);
        if self.is_replayed() {
            let begun = self.begin_again(site, gives);
            if let Begun::Pending(ticket) = begun {
                if let Some(number) = self.number_of(ticket) {
                    self.note_not_begun(number, wait);
                }
            }
            return begun;
        }
        let number = self.take_number();
        match self.poll_wait(wait, call, at, cx, number, site, asks) {
            Poll::Ready(wait) => Begun::Over(self.end_with(number, site, gives, &wait)),
            Poll::Pending => Begun::Pending(self.ticket(number)),
        }
    }

    fn poll(
        &self,
        ticket: u64,
        call: &'static str,
        at: Line,
        cx: &Context<'_>,
        gives: Gives,
        asks: Asks<'_>,
    ) -> Poll<Given> {
        self.expect_outside_of_closures(call, at);
        let number = self.expect_number_of(ticket, call);
        if self.is_replayed() {
            return self.poll_again(number, call, at, gives);
        }
        let known = self.site_of(number);
        let site = known.unwrap_or_else(|| self.site_at(call, at));
        // Taken out meanwhile, because a condition may drop other waits.
        let wait = match self.take_executor_wait(number) {
            Some(wait) => wait,
            None => match self.take_not_begun(number) {
                Some(wait) => wait,
                None => return Poll::Pending,
            },
        };
        let polled = self.poll_wait(wait, call, at, cx, number, site, asks);
        polled.map(|wait| self.end_with(number, site, gives, &wait))
    }

    fn uses_waker(&self, is_called: bool) {
        self.note_use_of_waker(is_called);
    }

    fn forget(&self, ticket: u64) {
        if let Some(number) = self.number_of(ticket) {
            drop(self.remove_wait(number));
            drop(self.take_not_begun(number));
        }
    }

    fn poll_stop(&self, ticket: Option<u64>, call: &'static str, at: Line) -> Begun {
        self.poll_stop_wait(ticket, call, at)
    }

    fn is_stop_requested(&self, call: &'static str, at: Line) -> bool {
        let asked = self.effect(Call::at(call, "", at), || Bytes::of(&self.reads_request()));
        asked.is_some_and(|asked| expect_read(&asked))
    }

    fn deferred(&self, f: &mut dyn FnMut()) {
        if self.has_effects() {
            self.in_closure(f);
        }
    }

    fn tick_due(&self, ticket: u64) -> Option<i128> {
        let number = self.number_of(ticket)?;
        let due = self.with_slot(number, |slot| match slot {
            Slot::Plain(wait) => wait.tick_due(),
            _ => None,
        });
        due.flatten()
    }

    fn time(&self, call: &'static str, at: Line, read: Reads<'_, Time>) -> Option<Time> {
        let value = self.reads(call, at, &mut || {
            let mut out = Writer::default();
            save_time(&read()?, &mut out);
            Some(Bytes::of(&out.into_numbers()))
        });
        let value = value.ok()?;
        Some(time_of(value.as_ref()))
    }

    fn delta_seconds(&self, call: &'static str, at: Line, read: Reads<'_, f32>) -> Option<f32> {
        let value = self
            .reads(call, at, &mut || Some(Bytes::of(&read()?)))
            .ok()?;
        Some(value.map_or(0.0, |value| expect_read(&value)))
    }

    fn frame(&self, call: &'static str, at: Line, read: Reads<'_, u64>) -> Option<u64> {
        let value = self
            .reads(call, at, &mut || Some(Bytes::of(&read()?)))
            .ok()?;
        Some(value.map_or(0, |value| expect_read(&value)))
    }

    fn number(&self, call: &'static str, at: Line, act: &mut dyn FnMut() -> u64) -> u64 {
        let value = self.effect(Call::at(call, "", at), || Bytes::of(&act()));
        value.map_or(0, |value| expect_read(&value))
    }

    fn guard(
        &self,
        call: &'static str,
        at: Line,
        clock: &Clock,
        take: &mut dyn FnMut() -> ClockGuard,
    ) -> Box<dyn Any> {
        self.take_guard(call, at, clock, take)
    }

    #[inline]
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &'static str {
        ScriptCell::name(self)
    }

    fn clocks(&self) -> [Clock; 2] {
        let clocks = &self.shared().clocks;
        [ClockId::GAME, ClockId::REALTIME].map(|id| clocks.expect(id))
    }

    fn refuse(&self, call: &'static str, at: Line, on: CalledOn) -> Option<String> {
        let name = self.name();
        let why = || match on {
            CalledOn::Framestep => format!(
                "`{call}` at {at} is framestep's own, and cannot be recorded: the durable script `{name}` would do it again \
                 after a load. {}",
                instead_of(call)
            ),
            CalledOn::Source => format!(
                "`{call}` at {at} is on a source of framestep's own, or on what `named` returns to a host, which cannot \
                 be saved: the durable script `{name}` would make the call again after a load. Declare the source as a \
                 constant, with `signal`, `watch` or `semaphore` of `framestep_durable`, or make the call in the closure \
                 of a `with` or an `effect`"
            ),
        };
        // A load does not call closures, nor the destructors of a script that has ended.
        (!self.is_in_closure() && self.mode.get() != Mode::Ending).then(why)
    }
}

/// What a durable script does instead of a call of framestep.
fn instead_of(call: &str) -> &'static str {
    match call {
        "offload" => {
            "A job on another thread is a question of the script: await `ask(|| request)`, which the host answers when \
             its thread has ended"
        }
        "Budget::checkpoint" => {
            "How much fits into a frame is another number each time: do a fixed number of items in each frame, with \
             `next_frame()` between them"
        }
        "try_with" | "try_with_ref" | "try_with_as" => {
            "Use `with` of `framestep_durable`, or `defer` and `with_deferred` to clean up"
        }
        "handle" | "remote" => {
            "Let the host keep one, or `runtime.host()`, or call it in the closure of a `with` or an `effect`"
        }
        "Handle::enter" | "Executor::enter" => {
            "A script is in its executor: leave it out. Or call it in the closure of a `with` or an `effect`"
        }
        "Clock::child" => {
            "Let the host make the clock, with `ClockId::child`, and give its `ClockId` to the script"
        }
        call if call.starts_with("RuntimeHandle::") => {
            "That is for the host: use the function of this name, such as `start`, or call it in the closure of a \
             `with` or an `effect`"
        }
        _ => {
            "Use that of `framestep_durable`, or call it in the closure of a `with` or an `effect`"
        }
    }
}

impl ScriptCell {
    /// What the waits of the present chapter know their states by.
    #[inline]
    pub(crate) fn ticket(&self, number: u32) -> u64 {
        u64::from(self.chapters.get()) << 32 | u64::from(number)
    }

    /// The number of a wait. `None` if it is of another chapter.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    pub(crate) fn number_of(&self, ticket: u64) -> Option<u32> {
        (ticket >> 32 == u64::from(self.chapters.get())).then_some(ticket as u32)
    }

    /// The number of a wait.
    ///
    /// # Panics
    ///
    /// If it is of another chapter.
    #[inline]
    pub(crate) fn expect_number_of(&self, ticket: u64, call: &str) -> u32 {
        self.number_of(ticket).unwrap_or_else(|| {
            panic!(
                "`{call}` was begun in a chapter of the script `{}` that is over: make a new one",
                self.name()
            )
        })
    }

    #[inline]
    pub(crate) fn expect_outside_of_closures(&self, call: &str, at: Line) {
        if self.is_in_closure() {
            refuse(&in_a_closure(call, self.name()), at);
        }
    }

    /// Polls a wait, and returns it if it is over. If it is pending, it is kept.
    #[expect(clippy::too_many_arguments, reason = "each is a part of a poll")]
    fn poll_wait(
        &self,
        mut wait: DurableWait,
        call: &'static str,
        at: Line,
        cx: &Context<'_>,
        number: u32,
        site: Known,
        asks: Asks<'_>,
    ) -> Poll<DurableWait> {
        let mut asked = |progress| self.in_closure(|| asks(progress));
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let mut cx = Context::from_waker(cx.waker());
            in_line(at, || wait.poll_asking(&mut cx, call, &mut asked))
        }));
        match polled {
            Ok(Poll::Pending) => {
                self.keep(number, site, wait);
                Poll::Pending
            }
            Ok(Poll::Ready(())) => Poll::Ready(wait),
            Err(payload) => {
                self.record_failure(number, &message_of(&*payload), site);
                drop(wait);
                drop(self.remove_wait(number));
                resume_unwind(payload);
            }
        }
    }

    fn keep(&self, number: u32, site: Known, wait: DurableWait) {
        let mut chapter = self.change();
        match chapter.waits.get(number) {
            Some(pending) => pending.slot = Slot::Plain(wait),
            None => chapter.waits.push(Pending {
                number,
                site,
                slot: Slot::Plain(wait),
                shown: None,
            }),
        }
    }

    /// Records the end of a wait.
    fn end_with(&self, number: u32, site: Known, gives: Gives, wait: &DurableWait) -> Given {
        let value = match gives {
            Gives::Nothing => Bytes::EMPTY,
            Gives::Time => time_now(),
            Gives::Tick => wait
                .ticked()
                .map_or(Bytes::EMPTY, |tick| Bytes::of(&(tick.due_ns, tick.now_ns))),
        };
        self.record_end(number, value.get(), site);
        drop(self.remove_wait(number));
        given(&value, gives)
    }

    /// A wait that the code of the save did not have, if it has yet to begin.
    fn take_not_begun(&self, number: u32) -> Option<DurableWait> {
        self.new_waits.borrow_mut().remove(&number).flatten()
    }

    /// Begins a wait in a replay.
    fn begin_again(&self, site: Known, gives: Gives) -> Begun {
        let number = self.take_number();
        match self.polling(number, site) {
            Polling::Ended(value) => Begun::Over(given(&value, gives)),
            Polling::Failed(message) => resume_unwind(Box::new(message)),
            Polling::Pending | Polling::Live => {
                // It gets its state when the replay ends.
                self.add_wait(Pending {
                    number,
                    site,
                    slot: Slot::Replayed,
                    shown: None,
                });
                Begun::Pending(self.ticket(number))
            }
        }
    }

    /// Polls a wait that has begun in a replay.
    fn poll_again(&self, number: u32, call: &'static str, at: Line, gives: Gives) -> Poll<Given> {
        let known = self.site_of(number);
        let site = known.unwrap_or_else(|| self.site_at(call, at));
        match self.polling(number, site) {
            Polling::Ended(value) => {
                drop(self.remove_wait(number));
                Poll::Ready(given(&value, gives))
            }
            Polling::Failed(message) => {
                drop(self.remove_wait(number));
                resume_unwind(Box::new(message))
            }
            Polling::Pending | Polling::Live => Poll::Pending,
        }
    }

    /// Reads something, and records it. `None` where it must not be done.
    fn reads(
        &self,
        function: &'static str,
        at: Line,
        read: &mut dyn FnMut() -> Option<Bytes>,
    ) -> Result<Option<Bytes>, Outside> {
        let mut is_outside = false;
        let value = self.effect(Call::at(function, "", at), || {
            let value = read();
            is_outside = value.is_none();
            value.unwrap_or(Bytes::EMPTY)
        });
        if is_outside { Err(Outside) } else { Ok(value) }
    }
}

/// No executor runs the script.
struct Outside;

fn given(value: &Bytes, gives: Gives) -> Given {
    match gives {
        Gives::Nothing => Given::Nothing,
        Gives::Time => Given::Time(time_of(Some(value))),
        Gives::Tick => {
            let (due_ns, now_ns) = expect_read(value);
            Given::Tick(Ticked { due_ns, now_ns })
        }
    }
}
