//! Signals, permits and requests to stop: lists of those that wait, in order.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::FutureExt;

use super::Core;
use super::state::Ask;
use framestep_testkit::program::{Got, Keep, Waiting as Boxed};

/// Each with its name, in the order in which they began to wait.
struct Line<T> {
    waiting: Vec<(u64, T, Waker)>,
    next: u64,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Line {
            waiting: Vec::new(),
            next: 0,
        }
    }
}

impl<T> Line<T> {
    /// Joins the end of the line, or stays in it with another waker.
    fn wait(&mut self, name: &mut Option<u64>, with: T, cx: &Context<'_>) {
        let mut waiting = self.waiting.iter_mut();
        if let Some((.., waker)) = waiting.find(|(other, ..)| Some(*other) == *name) {
            waker.clone_from(cx.waker());
        } else {
            self.waiting.push((self.next, with, cx.waker().clone()));
            *name = Some(self.next);
            self.next += 1;
        }
    }

    fn leave(&mut self, name: Option<u64>) {
        self.waiting.retain(|(other, ..)| Some(*other) != name);
    }
}

#[derive(Clone, Default)]
pub(crate) struct Signal(Rc<RefCell<Events>>);

#[derive(Default)]
struct Events {
    emitted: Vec<u64>,
    line: Line<()>,
    /// The event that was sent to one, by its name. Those that began to wait before the last
    /// number get it in turn.
    sent: Vec<(u64, u64, u64)>,
}

impl Signal {
    pub(super) fn emit(&self, event: u64) {
        let waiting = {
            let mut events = self.0.borrow_mut();
            events.emitted.push(event);
            std::mem::take(&mut events.line.waiting)
        };
        for (.., waker) in waiting {
            waker.wake();
        }
    }

    pub(super) fn emit_one(&self, event: u64) -> bool {
        let limit = self.0.borrow().line.next;
        self.send(event, limit)
    }

    fn send(&self, event: u64, limit: u64) -> bool {
        let (.., waker) = {
            let mut events = self.0.borrow_mut();
            if !matches!(events.line.waiting.first(), Some((first, ..)) if *first < limit) {
                return false;
            }
            let first = events.line.waiting.remove(0);
            events.sent.push((first.0, event, limit));
            first
        };
        waker.wake();
        true
    }

    pub(super) fn event(&self) -> impl Future<Output = Got> + use<> {
        OneEvent {
            from: self.0.borrow().emitted.len(),
            signal: self.clone(),
            name: None,
        }
    }
}

struct OneEvent {
    signal: Signal,
    from: usize,
    name: Option<u64>,
}

impl OneEvent {
    fn take_sent(&self) -> Option<(u64, u64)> {
        let mut events = self.signal.0.borrow_mut();
        let mut sent = events.sent.iter();
        let at = sent.position(|(to, ..)| Some(*to) == self.name)?;
        let (_, event, limit) = events.sent.remove(at);
        Some((event, limit))
    }
}

impl Future for OneEvent {
    type Output = Got;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Got> {
        if let Some((event, _)) = self.take_sent() {
            return Poll::Ready(Got::Event(event));
        }
        let this = &mut *self;
        let mut events = this.signal.0.borrow_mut();
        if let Some(&event) = events.emitted.get(this.from) {
            return Poll::Ready(Got::Event(event));
        }
        events.line.wait(&mut this.name, (), cx);
        Poll::Pending
    }
}

impl Drop for OneEvent {
    fn drop(&mut self) {
        let sent = self.take_sent();
        self.signal.0.borrow_mut().line.leave(self.name);
        if let Some((event, limit)) = sent {
            self.signal.send(event, limit);
        }
    }
}

#[derive(Clone)]
pub(crate) struct Semaphore(Rc<RefCell<Counts>>);

struct Counts {
    count: usize,
    taken: usize,
    line: Line<usize>,
    /// The names of those that have got theirs and have not resumed.
    granted: Vec<u64>,
}

impl Counts {
    fn are_free(&self, count: usize) -> bool {
        count == 0 || self.taken + count <= self.count
    }
}

impl Semaphore {
    pub(super) fn new(count: usize) -> Self {
        Semaphore(Rc::new(RefCell::new(Counts {
            count,
            taken: 0,
            line: Line::default(),
            granted: Vec::new(),
        })))
    }

    pub(super) fn change(&self, count: impl FnOnce(usize) -> usize) {
        let before = self.0.borrow().count;
        self.0.borrow_mut().count = count(before);
        self.grant();
    }

    pub(super) fn counts(&self) -> (usize, usize) {
        let counts = self.0.borrow();
        let free = counts.count.saturating_sub(counts.taken);
        let is_waited_for = !counts.line.waiting.is_empty();
        (counts.count, if is_waited_for { 0 } else { free })
    }

    /// The first in line gets its permits once they are free.
    fn grant(&self) {
        loop {
            let waker = {
                let mut counts = self.0.borrow_mut();
                let Some(&(name, count, _)) = counts.line.waiting.first() else {
                    return;
                };
                if !counts.are_free(count) {
                    return;
                }
                counts.taken += count;
                counts.granted.push(name);
                counts.line.waiting.remove(0).2
            };
            waker.wake();
        }
    }

    fn put_back(&self, count: usize) {
        self.0.borrow_mut().taken -= count;
        self.grant();
    }

    pub(super) fn acquire(&self, count: usize, keep: Keep) -> impl Future<Output = Got> + use<> {
        let acquire = Acquire {
            permits: self.clone(),
            count,
            name: None,
        };
        acquire.map(move |permit| {
            keep(Box::new(permit));
            Got::Done
        })
    }
}

struct Permit(Semaphore, usize);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.put_back(self.1);
    }
}

struct Acquire {
    permits: Semaphore,
    count: usize,
    name: Option<u64>,
}

impl Acquire {
    fn take_granted(&self) -> bool {
        let mut counts = self.permits.0.borrow_mut();
        let mut granted = counts.granted.iter();
        let at = granted.position(|&to| Some(to) == self.name);
        at.map(|at| counts.granted.remove(at)).is_some()
    }
}

impl Future for Acquire {
    type Output = Permit;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Permit> {
        let this = &mut *self;
        let is_taken = this.take_granted() || {
            let mut counts = this.permits.0.borrow_mut();
            let is_first = this.name.is_none() && counts.line.waiting.is_empty();
            let takes = this.count == 0 || is_first && counts.are_free(this.count);
            if takes {
                counts.taken += this.count;
            } else {
                counts.line.wait(&mut this.name, this.count, cx);
            }
            takes
        };
        if is_taken {
            Poll::Ready(Permit(this.permits.clone(), this.count))
        } else {
            Poll::Pending
        }
    }
}

impl Drop for Acquire {
    fn drop(&mut self) {
        if self.take_granted() {
            self.permits.put_back(self.count);
        } else {
            // It may have kept others waiting.
            self.permits.0.borrow_mut().line.leave(self.name);
            self.permits.grant();
        }
    }
}

/// A wait for a request to stop.
struct Asked {
    core: Rc<Core>,
    name: Option<u64>,
}

pub(super) fn asked(core: &Rc<Core>) -> Boxed {
    let mut asked = Asked {
        core: core.clone(),
        name: None,
    };
    poll_fn(move |cx| asked.poll(cx)).boxed_local()
}

impl Asked {
    fn poll(&mut self, cx: &Context<'_>) -> Poll<Got> {
        let coroutine = self.core.polling().expect("only coroutines wait");
        let mut state = self.core.state.borrow_mut();
        if state.coroutines[coroutine].asked.is_some() {
            return Poll::Ready(Got::Done);
        }
        let owner = state.coroutines[coroutine].owner;
        if let Some(ask) = state
            .asks
            .iter_mut()
            .find(|ask| Some(ask.name) == self.name)
        {
            ask.waker.clone_from(cx.waker());
        } else {
            let name = state.number();
            self.name = Some(name);
            let waker = cx.waker().clone();
            state.asks.push(Ask { name, owner, waker });
        }
        Poll::Pending
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let mut state = self.core.state.borrow_mut();
        state.asks.retain(|ask| Some(ask.name) != self.name);
    }
}
