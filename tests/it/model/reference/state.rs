//! All that the reference knows.

use std::collections::BTreeMap;

use framestep::{Outcome, Phase};

use super::super::system::Script;
use super::clocks::Clocks;

#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct State {
    pub(super) clocks: Clocks,
    /// Counts whatever has a place in an order.
    order: u64,
    pub(super) coroutines: Vec<Coroutine>,
    pub(super) waits: BTreeMap<u64, Wait>,
    pub(super) owners: Vec<Owner>,
    pub(super) runs: BTreeMap<Phase, Run>,
    pub(super) running: Option<Phase>,
    /// When the run under way began.
    pub(super) run_began: u64,
    /// Who is being polled or dropped, the innermost last, and its clock.
    pub(super) inside: Vec<Option<(usize, usize)>>,
    /// Joins whose coroutine has ended since the last poll.
    pub(super) ended: Vec<u64>,
    /// Joins that come next, the first last.
    pub(super) front: Vec<u64>,
    /// How many borrows of lent state are under way.
    pub(super) held: usize,
    pub(super) deferred: Vec<usize>,
    pub(super) lent: bool,
    pub(super) borrowed: bool,
    pub(super) closed: bool,
    /// Something happened that a pause leaves open: which of two timers goes
    /// first that it made due at the same time, or whether one is ready that is
    /// looked at before the next run of its phase; or how long it was for timers
    /// that count on fixed time, or if it began or ended in a fixed step; or how
    /// long it had been for a timer of a phase that is run in steps and outside;
    /// or in which run somebody resumes who is paused twice before that.
    pub(super) open: bool,
}

#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct Coroutine {
    /// `None` while it is being polled, or gone.
    pub(super) future: Option<Script>,
    pub(super) alive: bool,
    pub(super) outcome: Option<Outcome>,
    pub(super) output: Option<usize>,
    /// To be dropped when its poll returns.
    pub(super) stopping: bool,
    /// In which it was last polled.
    pub(super) phase: Phase,
    pub(super) owner: Option<usize>,
    pub(super) ready: Option<Ready>,
    pub(super) paused_itself: bool,
    pub(super) paused: bool,
    /// It came up to be polled while it was paused: when, and in which phase.
    pub(super) parked: Option<(u64, Phase)>,
    /// What the clocks read when it was paused.
    paused_at: Vec<u64>,
    /// For how long it has been paused, by clock.
    missed: Vec<i128>,
}

/// A coroutine is to be polled for no wait of the executor's own.
#[derive(Clone, Copy)]
pub(super) struct Ready {
    /// In the run under way, after all that was ready before.
    pub(super) soon: bool,
    /// Those that come back from a pause go first.
    pub(super) place: (u8, u64),
    pub(super) since: u64,
}

/// The latest run of a phase.
#[derive(Default)]
pub(super) struct Run {
    pub(super) serial: u64,
    pub(super) frame: u64,
    pub(super) readings: Vec<u64>,
    /// It was part of a fixed step.
    pub(super) in_step: bool,
}

pub(super) struct Wait {
    /// `None`: a wait that nobody polls.
    pub(super) coroutine: Option<usize>,
    pub(super) phase: Phase,
    pub(super) kind: Kind,
    /// The frame in which it began.
    pub(super) frame: u64,
    /// When it began, among all.
    pub(super) began: u64,
    /// A run in which it was due has begun.
    pub(super) ready: bool,
    /// Its place came up while its coroutine was paused.
    pub(super) parked: Option<u64>,
    /// Whether the run of its phase before it began was part of a fixed step.
    pub(super) in_step: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Kind {
    NextFrame,
    /// From this frame on.
    Frames(u64),
    NextRun,
    Timer {
        clock: usize,
        deadline: u64,
        /// For how long its coroutine had been paused when it began.
        missed: i128,
    },
    Never,
    /// The run in which it was last asked.
    Condition(u64),
    Join(usize),
}

#[derive(Default)]
pub(super) struct Owner {
    pub(super) parent: Option<usize>,
    pub(super) gone: bool,
    pub(super) inactive: bool,
    pub(super) paused: bool,
    pub(super) clock: usize,
}

impl State {
    pub(super) fn new(unlimited: bool) -> Self {
        State {
            clocks: Clocks::new(unlimited),
            order: 0,
            coroutines: Vec::new(),
            waits: BTreeMap::new(),
            owners: Vec::new(),
            runs: BTreeMap::new(),
            running: None,
            run_began: 0,
            inside: Vec::new(),
            ended: Vec::new(),
            front: Vec::new(),
            held: 0,
            deferred: Vec::new(),
            lent: false,
            borrowed: false,
            closed: false,
            open: false,
        }
    }

    pub(super) fn next(&mut self) -> u64 {
        self.order += 1;
        self.order
    }

    /// Who runs innermost.
    pub(super) fn current(&self) -> Option<usize> {
        let inside = self.inside.iter().rev();
        inside.flatten().next().map(|&(coroutine, _)| coroutine)
    }

    /// The clock that whoever runs innermost counts on.
    pub(super) fn own_clock(&self) -> usize {
        self.inside
            .last()
            .copied()
            .flatten()
            .map_or(0, |(_, clock)| clock)
    }

    pub(super) fn clock_of(&self, coroutine: usize) -> usize {
        let owner = self.coroutines[coroutine].owner;
        owner.map_or(0, |owner| self.owners[owner].clock)
    }

    pub(super) fn add(&mut self, future: Script, phase: Phase, owner: Option<usize>) -> usize {
        self.coroutines.push(Coroutine {
            future: Some(future),
            alive: true,
            outcome: None,
            output: None,
            stopping: false,
            phase,
            owner,
            ready: None,
            paused_itself: false,
            paused: owner.is_some_and(|owner| self.is_held(owner)),
            parked: None,
            paused_at: Vec::new(),
            missed: Vec::new(),
        });
        self.coroutines.len() - 1
    }

    fn upwards(&self, owner: usize) -> impl Iterator<Item = &Owner> {
        let first = Some(&self.owners[owner]);
        std::iter::successors(first, |owner| Some(&self.owners[owner.parent?]))
    }

    fn is_below(&self, owner: usize, top: usize) -> bool {
        let mut line = std::iter::successors(Some(owner), |&at| self.owners[at].parent);
        line.any(|at| at == top)
    }

    /// Whether something may be begun on an owner.
    pub(super) fn is_open(&self, owner: usize) -> bool {
        !self.owners[owner].gone && self.upwards(owner).all(|owner| !owner.inactive)
    }

    fn is_held(&self, owner: usize) -> bool {
        self.upwards(owner).any(|owner| owner.paused)
    }

    /// The owners below one, itself last: those of each after their children.
    fn below(&self, owner: usize) -> Vec<usize> {
        let children = (0..self.owners.len()).filter(|&at| self.owners[at].parent == Some(owner));
        let mut all: Vec<usize> = children.flat_map(|child| self.below(child)).collect();
        all.push(owner);
        all
    }

    /// What an owner and those below it own: the children's first.
    pub(super) fn owned(&self, owner: usize) -> Vec<usize> {
        let owned_by = |owner| {
            let alive =
                (0..self.coroutines.len()).filter(|&at| self.coroutines[at].outcome.is_none());
            alive.filter(move |&at| self.coroutines[at].owner == Some(owner))
        };
        self.below(owner).into_iter().flat_map(owned_by).collect()
    }

    /// An owner is dropped: it and those below it take nothing any more.
    pub(super) fn remove_owner(&mut self, owner: usize) {
        for below in self.below(owner) {
            self.owners[below].gone = true;
        }
        for at in 0..self.owners.len() {
            if self.owners[at].parent == Some(owner) {
                self.owners[at].parent = None;
            }
        }
        // What it owned has nobody's clock from now on.
        self.owners[owner].clock = 0;
    }

    pub(super) fn set_owner_paused(&mut self, owner: usize, paused: bool) -> bool {
        if self.owners[owner].paused == paused {
            return false;
        }
        self.owners[owner].paused = paused;
        for at in 0..self.coroutines.len() {
            if self.coroutines[at]
                .owner
                .is_some_and(|own| self.is_below(own, owner))
            {
                self.update_pause(at);
            }
        }
        true
    }

    pub(super) fn set_paused(&mut self, coroutine: usize, paused: bool) -> bool {
        let it = &mut self.coroutines[coroutine];
        if !it.alive || it.paused_itself == paused {
            return false;
        }
        it.paused_itself = paused;
        self.update_pause(coroutine);
        true
    }

    /// Rule 12: whoever has it set on itself or on an owner above is paused.
    fn update_pause(&mut self, coroutine: usize) {
        let held = self.coroutines[coroutine]
            .owner
            .is_some_and(|owner| self.is_held(owner));
        let since = self.next();
        let readings = self.clocks.readings();
        let it = &mut self.coroutines[coroutine];
        let paused = it.paused_itself || held;
        if !it.alive || it.paused == paused {
            return;
        }
        it.paused = paused;
        // Fixed time is a clock of its own to a pause, which is told elsewhere.
        let measured_otherwise = |wait: &Wait| {
            let steps = matches!(wait.phase, Phase::FixedUpdate | Phase::Custom(_));
            steps && wait.coroutine == Some(coroutine) && matches!(wait.kind, Kind::Timer { .. })
        };
        self.open |= self.clocks.is_in_step() || self.waits.values().any(measured_otherwise);
        // Paused again before the place that it got back has come up.
        let comes_back = |wait: &Wait| wait.coroutine == Some(coroutine) && wait.parked.is_some();
        self.open |= paused && self.waits.values().any(comes_back);
        if paused {
            it.paused_at = readings;
            return;
        }
        it.missed.resize(readings.len(), 0);
        for (clock, (&now, missed)) in readings.iter().zip(&mut it.missed).enumerate() {
            // Clocks begin at zero.
            let from = it.paused_at.get(clock).copied().unwrap_or(0);
            *missed += i128::from(now.saturating_sub(from));
        }
        if let Some((order, phase)) = it.parked.take() {
            it.phase = phase;
            it.ready = Some(Ready {
                soon: false,
                place: (0, order),
                since,
            });
        }
    }

    pub(super) fn missed(&self, coroutine: Option<usize>, clock: usize) -> i128 {
        let coroutine = coroutine.map(|at| &self.coroutines[at]);
        let missed = coroutine.and_then(|it| it.missed.get(clock));
        missed.copied().unwrap_or(0)
    }

    /// Rule 4: it is to be polled, now or in the next run of its phase.
    pub(super) fn make_ready(&mut self, coroutine: usize) {
        let since = self.next();
        let innermost = self.current() == Some(coroutine);
        let (running, run_began) = (self.running, self.run_began);
        let it = &mut self.coroutines[coroutine];
        if !it.alive {
            return;
        }
        let soon = running == Some(it.phase) && !innermost;
        // It has a place already, and keeps it unless the new one is earlier.
        if it
            .ready
            .is_some_and(|ready| !soon || ready.soon || ready.since < run_began)
        {
            return;
        }
        it.ready = Some(Ready {
            soon,
            place: (1, since),
            since,
        });
    }

    /// A place of a paused coroutine came up.
    pub(super) fn park(&mut self, coroutine: usize, phase: Phase) {
        let order = self.next();
        let it = &mut self.coroutines[coroutine];
        it.ready = None;
        it.parked.get_or_insert((order, phase));
    }

    /// When a timer is due.
    pub(super) fn deadline(&self, wait: &Wait) -> Option<(usize, i128)> {
        let Kind::Timer {
            clock,
            deadline,
            missed,
        } = wait.kind
        else {
            return None;
        };
        let grown = self.missed(wait.coroutine, clock) - missed;
        Some((clock, i128::from(deadline) + grown))
    }

    /// Whether a wait is due in the run of its phase that has just begun: the
    /// table of the contract.
    pub(super) fn is_due(&self, wait: &Wait) -> bool {
        let run = &self.runs[&wait.phase];
        let paused = wait.coroutine.is_some_and(|at| self.coroutines[at].paused);
        match wait.kind {
            Kind::NextFrame | Kind::Condition(_) => run.frame > wait.frame,
            Kind::Frames(frame) => run.frame >= frame,
            Kind::NextRun => true,
            Kind::Timer { .. } => {
                let (clock, deadline) = self.deadline(wait).expect("it is a timer");
                // One that came up before it was paused has its place.
                let stands_still = paused && !wait.ready;
                let reading = i128::from(run.readings[clock]);
                run.frame > wait.frame && !stands_still && (wait.ready || reading >= deadline)
            }
            Kind::Never | Kind::Join(_) => false,
        }
    }

    /// Whether fixed time and that of the frame both count for a timer, of one
    /// who has been paused.
    pub(super) fn is_mixed(&self, wait: &Wait) -> bool {
        let Kind::Timer { clock, .. } = wait.kind else {
            return false;
        };
        let of_two_times = self.runs[&wait.phase].in_step != wait.in_step;
        of_two_times && self.missed(wait.coroutine, clock) != 0
    }

    /// Whether a pause has put off a timer.
    pub(super) fn is_put_off(&self, wait: &Wait) -> bool {
        matches!(wait.kind, Kind::Timer { clock, missed, .. }
            if self.missed(wait.coroutine, clock) != missed)
    }

    /// Whether a pause makes a difference between what a timer's latest run
    /// said and what its clock read in it.
    pub(super) fn is_open_whether_ready(&self, wait: &Wait) -> bool {
        let Some((clock, deadline)) = self.deadline(wait) else {
            return false;
        };
        let run = self.runs.get(&wait.phase);
        let run = run.filter(|run| run.frame > wait.frame);
        let reading = run.and_then(|run| run.readings.get(clock).copied());
        wait.ready != reading.is_some_and(|reading| i128::from(reading) >= deadline)
    }

    /// Where a due wait stands among the others: rule 8.
    pub(super) fn place(&self, wait: &Wait) -> (u8, u64, i128, u64) {
        match (wait.parked, self.deadline(wait)) {
            (Some(parked), _) => (0, parked, 0, 0),
            (None, None) => (1, wait.began, 0, 0),
            (None, Some((clock, deadline))) => (2, clock as u64, deadline, wait.began),
        }
    }
}
