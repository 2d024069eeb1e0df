//! Runs, and what coroutines do to one another.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use framestep::{Outcome, Phase};

use super::super::system::Script;
use super::state::{Kind, Owner, State};

/// Nothing of the user's runs while the state is borrowed.
pub(super) struct Model {
    pub(super) state: RefCell<State>,
}

thread_local! {
    /// The reference that wakers mean.
    static LATEST: RefCell<Weak<Model>> = const { RefCell::new(Weak::new()) };
}

struct WakeOne(usize);

impl Wake for WakeOne {
    fn wake(self: Arc<Self>) {
        let model = LATEST.with_borrow(Weak::upgrade);
        if let Some(model) = model {
            model.state.borrow_mut().make_ready(self.0);
        }
    }
}

impl Model {
    pub(super) fn new(unlimited: bool) -> Rc<Self> {
        let model = Rc::new(Model {
            state: RefCell::new(State::new(unlimited)),
        });
        LATEST.set(Rc::downgrade(&model));
        model
    }

    pub(super) fn close(&self) {
        self.state.borrow_mut().closed = true;
        let futures: Vec<Script> = {
            let mut state = self.state.borrow_mut();
            let coroutines = state.coroutines.iter_mut();
            coroutines.filter_map(|it| it.future.take()).collect()
        };
        drop(futures);
    }

    /// Calls `f` inside of a coroutine, or of the executor alone.
    pub(super) fn inside<R>(&self, coroutine: Option<usize>, f: impl FnOnce() -> R) -> R {
        struct Leave<'a>(&'a Model);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.state.borrow_mut().inside.pop();
            }
        }
        {
            let mut state = self.state.borrow_mut();
            let level = coroutine.map(|at| (at, state.clock_of(at)));
            state.inside.push(level);
        }
        let _leave = Leave(self);
        f()
    }

    /// One run of a phase: what is next is polled until nothing is.
    pub(super) fn run(&self, phase: Phase) {
        let due = self.begin_run(phase);
        self.inside(None, || {
            self.poll_joiners();
            while let Some(coroutine) = self.next_arrival(phase) {
                self.resume(coroutine, phase);
            }
            for wait in due {
                self.resume_wait(wait, phase);
            }
            while let Some(coroutine) = self.next_soon() {
                self.resume(coroutine, phase);
            }
        });
        self.state.borrow_mut().running = None;
    }

    /// The waits that are due, in order.
    fn begin_run(&self, phase: Phase) -> Vec<u64> {
        let mut state = self.state.borrow_mut();
        if !matches!(phase, Phase::Custom(_)) {
            state.clocks.in_step = phase == Phase::FixedUpdate;
        }
        state.running = Some(phase);
        state.run_began = state.next();
        let (frame, readings) = (state.clocks.frame, state.clocks.readings());
        let in_step = state.clocks.is_in_step();
        let run = state.runs.entry(phase).or_default();
        run.in_step = in_step;
        run.serial += 1;
        run.frame = frame;
        run.readings = readings;
        let mut of_phase = state.waits.values().filter(|wait| wait.phase == phase);
        let mixed = of_phase.any(|wait| state.is_mixed(wait));
        state.open |= mixed && matches!(phase, Phase::Custom(_));
        let of_phase = state.waits.iter().filter(|(_, wait)| wait.phase == phase);
        let due = of_phase.filter(|(_, wait)| state.is_due(wait));
        let due: Vec<u64> = due.map(|(&id, _)| id).collect();
        for id in &due {
            let wait = state.waits.get_mut(id).expect("it is there");
            wait.ready = true;
        }
        let mut places: Vec<_> = due
            .iter()
            .filter(|id| !state.is_parked(**id))
            .map(|&id| (state.place(&state.waits[&id]), id))
            .collect();
        places.sort_unstable();
        let tie = places.windows(2).any(|pair| {
            let same =
                (pair[0].0.0, pair[0].0.1, pair[0].0.2) == (pair[1].0.0, pair[1].0.1, pair[1].0.2);
            let put_off = pair
                .iter()
                .any(|(_, id)| state.is_put_off(&state.waits[id]));
            same && put_off
        });
        state.open |= tie;
        places.into_iter().map(|(_, id)| id).collect()
    }

    /// What became ready before the run.
    fn next_arrival(&self, phase: Phase) -> Option<usize> {
        let state = self.state.borrow();
        let began = state.run_began;
        let coroutines = state.coroutines.iter().enumerate();
        let ready = coroutines.filter_map(|(at, it)| {
            let ready = it
                .ready
                .filter(|ready| !ready.soon && it.phase == phase && ready.since < began);
            Some((ready?.place, at))
        });
        ready.min().map(|(_, at)| at)
    }

    /// What became ready during the run.
    fn next_soon(&self) -> Option<usize> {
        let state = self.state.borrow();
        let coroutines = state.coroutines.iter().enumerate();
        let ready = coroutines.filter_map(|(at, it)| {
            let ready = it.ready.filter(|ready| ready.soon);
            Some((ready?.place, at))
        });
        ready.min().map(|(_, at)| at)
    }

    fn resume_wait(&self, id: u64, phase: Phase) {
        let coroutine = {
            let mut state = self.state.borrow_mut();
            let serial = state.runs[&phase].serial;
            let Some(wait) = state.waits.get(&id) else {
                return;
            };
            let asked = matches!(wait.kind, Kind::Condition(asked) if asked == serial);
            let Some(coroutine) = wait.coroutine.filter(|_| !asked) else {
                return;
            };
            if state.coroutines[coroutine].paused {
                let order = state.next();
                let wait = state.waits.get_mut(&id).expect("it is there");
                wait.parked = Some(order);
                return;
            }
            coroutine
        };
        self.resume(coroutine, phase);
    }

    fn resume(&self, coroutine: usize, phase: Phase) {
        {
            let mut state = self.state.borrow_mut();
            if state.coroutines[coroutine].paused {
                state.park(coroutine, phase);
                return;
            }
            state.coroutines[coroutine].phase = phase;
        }
        self.poll(coroutine);
        self.poll_joiners();
    }

    /// Rule 6: those who joined what ended in the last poll are next, depth
    /// first.
    fn poll_joiners(&self) {
        loop {
            let coroutine = {
                let mut state = self.state.borrow_mut();
                let ended = std::mem::take(&mut state.ended);
                state.front.extend(ended.into_iter().rev());
                let Some(next) = state.front.pop() else {
                    return;
                };
                let wait = state.waits.get(&next);
                let Some(coroutine) = wait.and_then(|wait| wait.coroutine) else {
                    continue;
                };
                let phase = state.running.expect("in a run");
                if state.coroutines[coroutine].paused {
                    state.park(coroutine, phase);
                    continue;
                }
                state.coroutines[coroutine].phase = phase;
                coroutine
            };
            self.poll(coroutine);
        }
    }

    fn poll(&self, coroutine: usize) {
        let future = {
            let mut state = self.state.borrow_mut();
            let it = &mut state.coroutines[coroutine];
            it.ready = None;
            it.future.take()
        };
        let Some(mut future) = future.filter(|_| self.is_alive(coroutine)) else {
            return;
        };
        let waker = Waker::from(Arc::new(WakeOne(coroutine)));
        let polled = self.inside(Some(coroutine), || {
            catch_unwind(AssertUnwindSafe(|| {
                future.as_mut().poll(&mut Context::from_waker(&waker))
            }))
        });
        let stopping = {
            let mut state = self.state.borrow_mut();
            state.coroutines[coroutine].future = Some(future);
            state.coroutines[coroutine].stopping
        };
        match polled {
            Ok(Poll::Ready(output)) => {
                self.state.borrow_mut().coroutines[coroutine].output = Some(output);
                self.end(coroutine, Outcome::Finished);
            }
            Ok(Poll::Pending) if stopping => self.end(coroutine, Outcome::Stopped),
            Ok(Poll::Pending) => {}
            Err(_) => self.end(coroutine, Outcome::Panicked),
        }
    }

    fn is_alive(&self, coroutine: usize) -> bool {
        self.state.borrow().coroutines[coroutine].alive
    }

    /// Whether it is the coroutine's own, handed on by no wrapper.
    pub(super) fn is_waker_of(waker: &Waker, coroutine: usize) -> bool {
        let own = Waker::from(Arc::new(WakeOne(coroutine)));
        own.vtable() == waker.vtable()
    }

    /// Rule 10.
    pub(super) fn stop(&self, coroutine: usize) -> bool {
        if !self.is_alive(coroutine) {
            return false;
        }
        let polled = {
            let mut state = self.state.borrow_mut();
            let mut inside = state.inside.iter().flatten();
            let polled = inside.any(|&(at, _)| at == coroutine);
            state.coroutines[coroutine].stopping |= polled;
            polled
        };
        if !polled {
            self.end(coroutine, Outcome::Stopped);
        }
        true
    }

    fn end(&self, coroutine: usize, outcome: Outcome) {
        let (future, deferred) = {
            let mut state = self.state.borrow_mut();
            let deferred = state.deferred.len();
            let it = &mut state.coroutines[coroutine];
            it.alive = false;
            (it.future.take(), deferred)
        };
        let dropped = self.inside(Some(coroutine), || {
            catch_unwind(AssertUnwindSafe(|| drop(future)))
        });
        self.settle(coroutine, dropped.map_or(Outcome::Panicked, |()| outcome));
        self.start_deferred(deferred);
    }

    fn settle(&self, coroutine: usize, outcome: Outcome) {
        let mut state = self.state.borrow_mut();
        let it = &mut state.coroutines[coroutine];
        it.outcome = Some(outcome);
        it.ready = None;
        let mut joins: Vec<(u64, u64)> = Vec::new();
        for (&id, wait) in &state.waits {
            if matches!(wait.kind, Kind::Join(target) if target == coroutine) {
                joins.push((wait.began, id));
            }
        }
        joins.sort_unstable();
        let joins = joins.into_iter().map(|(_, id)| id);
        if state.running.is_some() {
            state.ended.extend(joins);
            return;
        }
        // An end outside of a run is an outside wake.
        for id in joins {
            if let Some(joiner) = state.waits[&id].coroutine {
                state.make_ready(joiner);
            }
        }
    }

    pub(super) fn inherited_owner(&self) -> Option<usize> {
        let state = self.state.borrow();
        let (coroutine, _) = state.inside.last().copied().flatten()?;
        state.coroutines[coroutine].owner
    }

    fn accepts(&self, owner: Option<usize>) -> bool {
        let state = self.state.borrow();
        !state.closed && owner.is_none_or(|owner| state.is_open(owner))
    }

    /// Rule 9: soon.
    pub(super) fn spawn(
        &self,
        future: Script,
        phase: Option<Phase>,
        owner: Option<usize>,
    ) -> Option<usize> {
        if !self.accepts(owner) {
            return None;
        }
        let mut state = self.state.borrow_mut();
        let soon = phase.is_none() && state.running.is_some();
        let phase = phase.or(state.running).unwrap_or(Phase::Update);
        let coroutine = state.add(future, phase, owner);
        state.enlist(coroutine, soon);
        Some(coroutine)
    }

    /// Rule 9: now.
    pub(super) fn start(&self, future: Script, owner: Option<usize>) -> Option<usize> {
        if !self.accepts(owner) {
            return None;
        }
        let (coroutine, deferred) = {
            let mut state = self.state.borrow_mut();
            let phase = state.running.unwrap_or(Phase::Update);
            let coroutine = state.add(future, phase, owner);
            if state.coroutines[coroutine].paused {
                let soon = state.running.is_some();
                state.enlist(coroutine, soon);
                return Some(coroutine);
            }
            if state.held > 0 {
                state.deferred.push(coroutine);
                return Some(coroutine);
            }
            (coroutine, state.deferred.len())
        };
        self.poll(coroutine);
        self.start_deferred(deferred);
        Some(coroutine)
    }

    /// Starts those that were put off since there were `from` of them.
    fn start_deferred(&self, from: usize) {
        let batch = {
            let mut state = self.state.borrow_mut();
            if state.held > 0 || state.deferred.len() <= from {
                return;
            }
            state.deferred.split_off(from)
        };
        for coroutine in batch {
            let (alive, paused) = {
                let state = self.state.borrow();
                let it = &state.coroutines[coroutine];
                (it.alive, it.paused)
            };
            if alive && paused {
                self.state.borrow_mut().make_ready(coroutine);
            } else if alive {
                self.poll(coroutine);
                self.start_deferred(from);
            }
        }
    }

    pub(super) fn borrow_lent(&self, f: &mut dyn FnMut()) {
        struct LetGo<'a>(&'a Model, usize);
        impl Drop for LetGo<'_> {
            fn drop(&mut self) {
                {
                    let mut state = self.0.state.borrow_mut();
                    state.held -= 1;
                    state.borrowed = false;
                }
                self.0.start_deferred(self.1);
            }
        }
        let deferred = {
            let mut state = self.state.borrow_mut();
            state.held += 1;
            state.borrowed = true;
            state.deferred.len()
        };
        let _let_go = LetGo(self, deferred);
        f();
    }

    pub(super) fn add_owner(&self, parent: Option<usize>, clock: Option<usize>) -> usize {
        let mut state = self.state.borrow_mut();
        let above = parent.map(|parent| &state.owners[parent]);
        let owner = Owner {
            gone: above.is_some_and(|above| above.gone),
            clock: clock.unwrap_or_else(|| above.map_or(0, |above| above.clock)),
            parent,
            ..Owner::default()
        };
        state.owners.push(owner);
        state.owners.len() - 1
    }

    pub(super) fn stop_owned(&self, owner: usize) {
        let owned = self.state.borrow().owned(owner);
        for coroutine in owned {
            self.stop(coroutine);
        }
    }

    pub(super) fn drop_owner(&self, owner: usize) {
        let owned = {
            let mut state = self.state.borrow_mut();
            if state.closed {
                return;
            }
            let owned = state.owned(owner);
            state.remove_owner(owner);
            owned
        };
        for coroutine in owned {
            self.stop(coroutine);
        }
    }
}

impl State {
    fn enlist(&mut self, coroutine: usize, soon: bool) {
        let since = self.next();
        self.coroutines[coroutine].ready = Some(super::state::Ready {
            soon,
            place: (1, since),
            since,
        });
    }

    /// Whether the wait has given its place up, and its coroutine is paused
    /// still.
    fn is_parked(&self, wait: u64) -> bool {
        let wait = &self.waits[&wait];
        wait.parked.is_some() && wait.coroutine.is_some_and(|at| self.coroutines[at].paused)
    }
}
