//! docs/contract.md#rule-9-start-and-spawn: start runs now, spawn runs soon.

use framestep::Phase;
use framestep::task::Outcome;

use super::Core;
use super::choices::{
    SPAWN_IN_IS_FOR_THE_NEXT_RUN, SPAWNED_IN_A_PAUSE_RESUMES_AT_HOME,
    SPAWNED_OUTSIDE_BEGINS_AT_HOME, WHAT_OWNERS_BEGIN_INHERITS_HOME,
};
use super::state::{Cause, Coroutine, State};
use super::wake;
use framestep_testkit::program::{How, Lent, Scripted};

impl Core {
    /// Adds a coroutine of an owner; with `inherit`, of the caller's owner and
    /// clock.
    pub(super) fn begin(
        &self,
        how: How,
        inherit: bool,
        owner: Option<usize>,
        script: Scripted,
    ) -> usize {
        let (coroutine, accepted) = {
            let mut state = self.state.borrow_mut();
            let caller = state.scopes.last().copied().filter(|_| inherit);
            let is_free = owner.is_none();
            let (owner, clock) = match (owner, caller) {
                (Some(owner), _) => (owner, state.owners[owner].clock),
                (None, Some(caller)) => {
                    let caller = &state.coroutines[caller];
                    (caller.owner, caller.clock)
                }
                (None, None) => (0, 0),
            };
            let accepted = state.is_active(owner);
            let inherits = if is_free || !WHAT_OWNERS_BEGIN_INHERITS_HOME {
                caller.filter(|_| is_free)
            } else {
                wake::calling(self.number())
            };
            let home = match (how, inherits) {
                (How::SpawnIn(home) | How::StartIn(home), _) => home,
                (_, Some(caller)) => state.coroutines[caller].home,
                (_, None) => Phase::Update,
            };
            // What one that was requested to stop begins there is asked, too.
            let by = state.scopes.last().copied();
            let asked = by.and_then(|by| state.coroutines[by].asked);
            let asked = asked.filter(|&asked| state.is_within(owner, asked));
            let coroutine = state.coroutines.len();
            let waker = wake::waker(self.number(), coroutine, &self.inbox);
            state.coroutines.push(Coroutine {
                future: None,
                owner,
                clock,
                home,
                outcome: (!accepted).then_some(Outcome::Stopped),
                returned: None,
                stopping: false,
                going: false,
                paused: false,
                asked,
                remembered: None,
                unmade: false,
                waker,
            });
            (coroutine, accepted)
        };
        if !accepted {
            drop(script);
            return coroutine;
        }
        let mut state = self.state.borrow_mut();
        state.take_over();
        state.coroutines[coroutine].future = Some(script);
        match how {
            How::SpawnIn(home) => {
                state.make_ready(coroutine, home, Cause::Other, SPAWN_IN_IS_FOR_THE_NEXT_RUN);
            }
            How::Spawn => state.spawned(coroutine),
            How::Start | How::StartIn(_) if state.borrowed => state.held.push(coroutine),
            How::Start | How::StartIn(_) => {
                drop(state);
                self.start_now(coroutine);
            }
        }
        coroutine
    }

    fn start_now(&self, coroutine: usize) {
        let mut state = self.state.borrow_mut();
        if !state.is_alive(coroutine) {
            return;
        }
        if state.is_paused(coroutine) {
            state.spawned(coroutine);
            return;
        }
        drop(state);
        self.poll(coroutine);
    }

    /// Sent from another thread: it is made and polled in the next run of Update.
    pub(super) fn remote(&self, script: Scripted) {
        let coroutine = self.begin(How::SpawnIn(Phase::Update), false, None, script);
        self.state.borrow_mut().coroutines[coroutine].unmade = true;
    }

    /// Borrows the lent state.
    pub(super) fn with(&self, f: &mut dyn FnMut()) -> Lent {
        {
            let mut state = self.state.borrow_mut();
            if !state.lent {
                return Lent::Missing;
            }
            if state.borrowed {
                return Lent::Borrowed;
            }
            state.borrowed = true;
        }
        let let_go = LetGo(self);
        f();
        drop(let_go);
        Lent::Given
    }
}

/// Begins the starts that a closure has held back, even while it unwinds.
struct LetGo<'a>(&'a Core);

impl Drop for LetGo<'_> {
    fn drop(&mut self) {
        self.0.state.borrow_mut().borrowed = false;
        let held = std::mem::take(&mut self.0.state.borrow_mut().held);
        for coroutine in held {
            self.0.start_now(coroutine);
        }
    }
}

impl State {
    /// It begins later in this run, or in the next one.
    fn spawned(&mut self, coroutine: usize) {
        let home = self.coroutines[coroutine].home;
        let outside = if SPAWNED_OUTSIDE_BEGINS_AT_HOME {
            home
        } else {
            Phase::Update
        };
        let phase = self.phase().unwrap_or(outside);
        let phase = if self.is_paused(coroutine) && SPAWNED_IN_A_PAUSE_RESUMES_AT_HOME {
            home
        } else {
            phase
        };
        self.make_ready(coroutine, phase, Cause::Other, false);
    }
}
