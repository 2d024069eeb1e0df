//! docs/contract.md#decided-stop-within: requests to stop with a time.

use std::cell::Cell;
use std::rc::Rc;

use framestep::Phase;
use framestep_testkit::program::{Got, Length, Waiting as Boxed};
use futures::FutureExt;

use super::Core;
use super::state::State;
use super::wait::{Plan, Waiting};

/// State of an owner.
pub(super) struct Request {
    owner: usize,
    length: u64,
    /// The number and the frame of the call.
    called: u64,
    frame: u64,
    /// The deadline in frame time, counted from the call.
    deadline: u64,
    homes: Vec<Home>,
    /// Receives how many coroutines were left when it was served.
    stopped: Rc<Cell<usize>>,
}

/// A home phase of the coroutines that were asked.
struct Home {
    phase: Phase,
    /// The latest frame in which it has run, or that of the call.
    ran: u64,
    /// The number and the frame of the run in which the time begins, and the deadline.
    begun: Option<(u64, u64, u64)>,
    is_done: bool,
}

/// The fixed steps of the frame.
#[derive(Default)]
pub(super) struct Steps {
    /// Since the frame began, a step has been due all the time, and the phase has not been run.
    none: bool,
    /// The latest frame that was over like that.
    missed: u64,
}

impl Core {
    /// Returns a wait for the end of the owner.
    pub(super) fn stop_within(self: &Rc<Self>, owner: usize, length: Length) -> Boxed {
        let stopped = Rc::new(Cell::new(0));
        let (is_over, ends) = {
            let mut state = self.state.borrow_mut();
            let is_over = state.is_idle(owner);
            let length = match length {
                Length::Nanos(length) => Some(length),
                Length::Negative => Some(0),
                Length::Infinite => None,
                Length::NotANumber => panic!("a request to stop within NaN seconds"),
            };
            if let Some(length) = length.filter(|_| !is_over) {
                let request = state.request(owner, length, stopped.clone());
                state.requests.push(request);
            }
            (is_over, state.owners[owner].ends)
        };
        self.request_stop(owner);
        let core = Rc::downgrade(self);
        let mut wait = None;
        let over = futures::future::poll_fn(move |cx| {
            let core = core.upgrade().expect("it is polled in its executor");
            let has_ended = is_over || core.state.borrow().owners[owner].ends > ends;
            let wait = wait.get_or_insert_with(|| {
                let plan = Plan::Ended(owner);
                (!has_ended).then(|| Waiting::new(&core, None, plan))
            });
            match wait {
                None => std::task::Poll::Ready(()),
                Some(wait) => wait.poll(cx, |_| true),
            }
        });
        over.map(move |()| Got::Stopped(stopped.get()))
            .boxed_local()
    }

    /// At the end of a run: stops what the next request whose time is over concerns. Returns
    /// whether there was one.
    pub(super) fn serve_request(&self) -> bool {
        let (stopped, all) = {
            let mut state = self.state.borrow_mut();
            let run = state.run.as_mut().expect("it is under way");
            let Some(number) = run.due.pop_front() else {
                return false;
            };
            // It may be over by now.
            let Some(at) = state.requests.iter().position(|one| one.called == number) else {
                return true;
            };
            let request = state.requests.remove(at);
            let all = state.owned(request.owner);
            (request.stopped, all)
        };
        {
            let state = self.state.borrow();
            let alive = all.iter().filter(|&&one| state.is_alive(one));
            stopped.set(alive.count());
        }
        for coroutine in all {
            self.stop(coroutine);
        }
        true
    }
}

impl State {
    fn request(&mut self, owner: usize, length: u64, stopped: Rc<Cell<usize>>) -> Request {
        let called = self.number();
        let frame = self.clocks.frame;
        let mut homes: Vec<Home> = Vec::new();
        for coroutine in self.owned(owner) {
            let phase = self.coroutines[coroutine].home;
            let is_new = homes.iter().all(|home| home.phase != phase);
            if self.is_alive(coroutine) && is_new {
                homes.push(Home {
                    phase,
                    ran: frame,
                    begun: None,
                    is_done: false,
                });
            }
        }
        let now = self
            .clocks
            .of_waits(self.owners[owner].clock, Phase::Update);
        Request {
            owner,
            length,
            called,
            frame,
            deadline: now.saturating_add(length),
            homes,
            stopped,
        }
    }

    /// Requests are over once their owner has ended.
    pub(super) fn end_requests(&mut self, owner: usize) {
        self.owners[owner].ends += 1;
        self.requests.retain(|request| request.owner != owner);
    }

    /// A step may be due, or no longer.
    pub(super) fn look_at_steps(&mut self) {
        self.steps.none &= self.clocks.is_step_due();
    }

    /// The run of a step begins.
    pub(super) fn step_begins(&mut self) {
        self.steps.none = false;
    }

    /// Called before and after the clocks advance.
    pub(super) fn frame_ends(&mut self) {
        self.look_at_steps();
        if self.steps.none {
            self.steps.missed = self.clocks.frame;
        }
    }

    pub(super) fn frame_begins(&mut self) {
        self.steps.none = self.clocks.is_step_due();
    }

    /// At the end of a run: the requests whose time is over, in the order of the calls.
    pub(super) fn requests_due(&mut self, phase: Phase, number: u64) -> Vec<u64> {
        self.look_at_steps();
        let mut requests = std::mem::take(&mut self.requests);
        let mut due = Vec::new();
        for request in &mut requests {
            let clock = self.owners[request.owner].clock;
            let frame = self.clocks.frame;
            for home in request.homes.iter_mut().filter(|home| home.phase == phase) {
                home.ran = frame;
                let now = self.clocks.of_waits(clock, phase);
                match home.begun {
                    None if number > request.called => {
                        let deadline = now.saturating_add(request.length);
                        home.begun = Some((number, frame, deadline));
                    }
                    None => {}
                    Some((first, first_frame, deadline)) => {
                        let is_later = if phase == Phase::FixedUpdate {
                            number > first
                        } else {
                            frame > first_frame
                        };
                        home.is_done |= is_later && now >= deadline;
                    }
                }
            }
            let open = request.homes.iter().filter(|home| !home.is_done);
            let open: Vec<&Home> = open.collect();
            let by_homes = open.is_empty() && !request.homes.is_empty();
            let now = self.clocks.of_waits(clock, Phase::Update);
            let instead = frame > request.frame && now >= request.deadline;
            let none_runs = open.iter().all(|home| !self.is_run(home));
            if by_homes || none_runs && instead {
                due.push(request.called);
            }
        }
        self.requests = requests;
        due
    }

    /// Whether the host runs a phase, so that a request waits for it.
    fn is_run(&self, home: &Home) -> bool {
        let frame = self.clocks.frame;
        if home.phase == Phase::FixedUpdate {
            let is_missed = self.steps.missed + 1 == frame && home.ran < self.steps.missed;
            let none = self.steps.none;
            self.clocks.may_step() && !(is_missed && none)
        } else {
            frame <= home.ran + 1
        }
    }
}
