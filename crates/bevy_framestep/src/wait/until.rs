//! Waits for conditions on the world.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bevy_ecs::prelude::*;
use framestep::inspect::WaitNote;
use framestep::{Phase, time};
use futures::future::FusedFuture;

use super::turn::Turn;
use crate::borrow::{Call, refused, with_condition, with_ref};
use crate::executor::Shared;

const CONDITION: Call = Call::wait("wait_until_world");

/// Conditions that scripts wait for, which are checked when a run of a phase begins.
///
/// A script is not polled for a condition that does not hold.
#[derive(Default)]
pub(crate) struct Conditions {
    lists: RefCell<Vec<(Phase, Vec<Group>)>>,
    /// How many runs there have been.
    runs: Cell<u64>,
}

/// Conditions of a phase on the same thing, in the order in which scripts began to wait.
struct Group {
    /// `None` for the conditions on anything.
    gate: Option<Rc<dyn Gate>>,
    list: Vec<Rc<Condition>>,
    /// So many of the first ones did not hold in the latest run of the phase.
    checked: usize,
}

/// Knows when the conditions of a group cannot hold: nothing that they are about has changed.
pub(crate) trait Gate: 'static {
    /// That of its type: there is one gate of each type.
    fn key(&self) -> TypeId {
        TypeId::of::<Self>()
    }

    /// Whether a condition may hold that did not in the latest run of the phase. It is called in each
    /// run of the phase in which there are conditions.
    fn may_hold(&self, world: &World, run: &Run) -> bool;
}

impl Group {
    /// Removes the conditions that are over, so that the list is as long as there are waits, up to a
    /// factor: while the gate is closed, none is visited. Returns what is to be dropped.
    #[cold]
    fn sweep(&mut self, phase: Phase) -> Vec<Rc<Condition>> {
        let is_over = |of: &Rc<Condition>| of.state.get() != State::Listed(phase);
        let over = self.list[..self.checked]
            .iter()
            .filter(|of| is_over(of))
            .count();
        self.checked -= over;
        let over = self.list.extract_if(.., |of| is_over(of)).collect();
        self.list.reserve(self.list.len() + 1);
        over
    }
}

/// A condition and the script that waits for it.
pub(crate) struct Condition<A: ?Sized = dyn Ask> {
    state: Cell<State>,
    waker: RefCell<Option<Waker>>,
    /// Its panic, which becomes one of the script.
    panic: Cell<Option<Box<dyn Any + Send>>>,
    ask: RefCell<A>,
}

/// What is checked.
pub(crate) trait Ask: 'static {
    fn holds(&mut self, world: &World) -> bool;

    /// The same when a run begins.
    fn holds_in(&mut self, world: &World, _: &Run) -> bool {
        self.holds(world)
    }

    /// What knows when it cannot hold.
    fn gate(&self) -> Option<Rc<dyn Gate>> {
        None
    }

    /// Drops what belongs to the user: the future has ended.
    fn forget(&mut self) {}

    /// Says what it is, for snapshots.
    fn name(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// A run of the scripts whose conditions are checked.
pub(crate) struct Run {
    pub(super) phase: Phase,
    /// No two runs of a world have the same.
    pub(super) number: u64,
    /// Whether the condition did not hold in the latest run of the phase.
    pub(super) is_known: bool,
}

/// A closure, which exists as long as the future.
impl<P: FnMut(&World) -> bool + 'static> Ask for Option<P> {
    #[inline]
    fn holds(&mut self, world: &World) -> bool {
        self.as_mut().is_some_and(|condition| condition(world))
    }

    fn forget(&mut self) {
        *self = None;
    }

    fn name(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a condition on the world")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    /// It is in the list of this phase. It is removed from other lists.
    Listed(Phase),
    /// It held when a run began, and has left the list.
    Held,
    Done,
}

impl Conditions {
    pub(crate) fn add(&self, phase: Phase, condition: Rc<Condition>) {
        let gate = condition.ask.borrow().gate();
        let key = gate.as_ref().map(|gate| gate.key());
        let mut lists = self.lists.borrow_mut();
        let index = lists.iter().position(|(of, _)| *of == phase);
        let index = index.unwrap_or_else(|| {
            lists.push((phase, Vec::new()));
            lists.len() - 1
        });
        let group = group_of(&mut lists[index].1, key, gate);
        let is_full = group.list.len() == group.list.capacity();
        let over = is_full.then(|| group.sweep(phase));
        group.list.push(condition);
        // A waker may call back when it is dropped.
        drop(lists);
        drop(over);
    }

    /// Whether there are conditions to check in `phase`.
    pub(crate) fn has_some(&self, phase: Phase) -> bool {
        let lists = self.lists.borrow();
        lists
            .iter()
            .any(|(of, groups)| *of == phase && groups.iter().any(|group| !group.list.is_empty()))
    }

    /// Whether no script waits for a condition.
    pub(crate) fn is_empty(&self) -> bool {
        let lists = self.lists.borrow();
        let mut all = lists.iter().flat_map(|(phase, groups)| {
            let all = groups.iter().flat_map(|group| &group.list);
            all.map(move |of| (*phase, of))
        });
        !all.any(|(phase, condition)| condition.state.get() == State::Listed(phase))
    }

    /// Checks the conditions of `phase`, and wakes the scripts whose condition holds.
    pub(crate) fn ask(&self, world: &World, phase: Phase) {
        let groups = match self.lists.borrow_mut().iter_mut().find(|of| of.0 == phase) {
            Some((_, groups)) => std::mem::take(groups),
            None => return,
        };
        let mut taken = Taken {
            conditions: self,
            phase,
            groups,
        };
        self.runs.set(self.runs.get() + 1);
        for group in &mut taken.groups {
            group.ask(world, phase, self.runs.get());
        }
    }
}

/// The group with this gate, which is made if there is none.
fn group_of(
    groups: &mut Vec<Group>,
    key: Option<TypeId>,
    gate: Option<Rc<dyn Gate>>,
) -> &mut Group {
    let is_it = |group: &Group| group.gate.as_ref().map(|gate| gate.key()) == key;
    let index = groups.iter().position(is_it).unwrap_or_else(|| {
        groups.push(Group {
            gate,
            list: Vec::new(),
            checked: 0,
        });
        groups.len() - 1
    });
    &mut groups[index]
}

impl Group {
    /// Checks those conditions that may hold.
    fn ask(&mut self, world: &World, phase: Phase, number: u64) {
        if self.list.is_empty() {
            return;
        }
        let mut run = Run {
            phase,
            number,
            is_known: true,
        };
        let gate = self.gate.as_ref();
        let is_open = gate.is_none_or(|gate| gate.may_hold(world, &run));
        let (known, new) = self.list.split_at(self.checked);
        let mut some_leave = is_open && ask_all(known, world, &run);
        run.is_known = false;
        some_leave |= ask_all(new, world, &run);
        if some_leave {
            let is_listed = State::Listed(phase);
            self.list.retain(|of| of.state.get() == is_listed);
        }
        self.checked = self.list.len();
    }
}

/// The groups of a phase while they are checked. They are put back even if a destructor or a waker
/// panics.
struct Taken<'a> {
    conditions: &'a Conditions,
    phase: Phase,
    groups: Vec<Group>,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut lists = self.conditions.lists.borrow_mut();
        if let Some((_, groups)) = lists.iter_mut().find(|of| of.0 == self.phase) {
            // Wakers and conditions may have added conditions.
            for mut added in std::mem::replace(groups, std::mem::take(&mut self.groups)) {
                let key = added.gate.as_ref().map(|gate| gate.key());
                let group = group_of(groups, key, added.gate.take());
                group.list.append(&mut added.list);
            }
        }
    }
}

/// Checks all, and returns whether some of them leave the list.
fn ask_all(list: &[Rc<Condition>], world: &World, run: &Run) -> bool {
    let phase = run.phase;
    let mut some_leave = false;
    let mut next = 0;
    while next < list.len() {
        let asked = catch_unwind(AssertUnwindSafe(|| {
            while let Some(condition) = list.get(next) {
                let is_listed = condition.state.get() == State::Listed(phase);
                if !is_listed || condition.ask.borrow_mut().holds_in(world, run) {
                    condition.leave(phase);
                    some_leave = true;
                }
                next += 1;
            }
        }));
        if let Err(panic) = asked {
            list[next].panic.set(Some(panic));
            list[next].leave(phase);
            some_leave = true;
            next += 1;
        }
    }
    some_leave
}

/// In its own words.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ask.try_borrow() {
            Ok(ask) => ask.name(f),
            Err(_) => f.write_str("a condition"),
        }
    }
}

impl Condition {
    /// Whether it holds now, in the turn of the script.
    #[track_caller]
    fn holds(&self) -> bool {
        match with_condition(|world| self.ask.borrow_mut().holds(world)) {
            Ok(holds) => holds,
            Err(error) => refused(CONDITION, error),
        }
    }

    /// Wakes the script, if it still waits for this list.
    fn leave(&self, phase: Phase) {
        if self.state.get() == State::Listed(phase) {
            self.state.set(State::Held);
            let waker = self.waker.take();
            waker.inspect(Waker::wake_by_ref);
        }
    }
}

/// The future of [`wait_until_world`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct WaitUntilWorld {
    condition: Rc<Condition>,
    turn: Turn,
    note: Option<WaitNote>,
}

impl WaitUntilWorld {
    pub(crate) fn of(ask: impl Ask) -> Self {
        WaitUntilWorld {
            condition: Rc::new(Condition {
                state: Cell::new(State::New),
                waker: RefCell::new(None),
                panic: Cell::new(None),
                ask: RefCell::new(ask),
            }),
            turn: Turn::default(),
            note: None,
        }
    }

    /// Waits for a call of the condition's waker, from now on that of `cx`.
    #[track_caller]
    fn wait(&mut self, cx: &Context<'_>) {
        let waker = &self.condition.waker;
        let is_known = |known: &Waker| known.will_wake(cx.waker());
        if waker.borrow().as_ref().is_some_and(is_known) {
            return;
        }
        let before = waker.replace(Some(cx.waker().clone()));
        drop(before);
        self.note = Some(WaitNote::begin(&self.condition));
    }

    /// The list is for waits in the home phase. In another phase, the script checks by
    /// itself.
    #[track_caller]
    fn poll_elsewhere(&mut self, phase: Phase, cx: &mut Context<'_>) -> Poll<()> {
        let condition = &self.condition;
        assert!(
            condition.state.get() != State::Done,
            "`wait_until_world` was polled after it had ended"
        );
        condition.state.set(State::New);
        // From the next run on.
        let is_due = self.turn.has_begun() && time().phase == Some(phase);
        if is_due && condition.holds() {
            return self.end();
        }
        self.turn.wait(cx, phase);
        if self.note.is_none() {
            self.note = Some(WaitNote::begin(&self.condition));
        }
        Poll::Pending
    }

    fn end(&mut self) -> Poll<()> {
        self.condition.state.set(State::Done);
        self.note = None;
        Poll::Ready(())
    }

    /// Checks in the runs of `phase`, and resumes there.
    ///
    /// If `phase` is not the home phase, the script is polled in each of its runs.
    ///
    /// # Panics
    ///
    /// If the wait has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        assert!(
            self.condition.state.get() == State::New,
            "`in_phase` was called on a wait that has begun"
        );
        self.turn.set(phase);
        self
    }
}

/// Waits until a condition on the world holds.
///
/// It does what [`wait_until`](framestep::wait_until) does, but costs less: conditions are
/// checked one after the other when a run begins, and a script is polled only when its
/// condition holds. The condition owns what it captures.
///
/// # Resumes
///
/// In the home phase of the script, or in another one with
/// [`in_phase`](WaitUntilWorld::in_phase). The condition is checked when a run of that phase
/// begins, from the next run on. If it holds, it is checked again when the script's turn
/// comes, so it still holds when the script resumes, even if other scripts of that run have
/// changed the world.
///
/// # Cancel safety
///
/// Dropping it removes the condition; nothing is lost.
///
/// # Panics
///
/// When polled, where [`with_ref`](framestep::lend::with_ref) does. A panic of the condition becomes a panic of the
/// script.
///
/// # Examples
///
/// ```
/// use bevy_app::App;
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
/// use bevy_time::TimePlugin;
///
/// #[derive(Resource)]
/// struct Gold(u32);
///
/// async fn merchant() {
///     wait_until_world(|world| world.resource::<Gold>().0 >= 30).await;
///     resource_mut(|gold: &mut Gold| gold.0 -= 25);
/// }
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, FramestepPlugin::default()));
/// app.insert_resource(Gold(20));
/// app.world_mut().start_script(merchant);
/// app.update();
/// app.world_mut().resource_mut::<Gold>().0 += 10;
/// app.update();
/// assert_eq!(app.world().resource::<Gold>().0, 5);
/// ```
pub fn wait_until_world(condition: impl FnMut(&World) -> bool + 'static) -> WaitUntilWorld {
    WaitUntilWorld::of(Some(condition))
}

impl Future for WaitUntilWorld {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if let Some(phase) = this.turn.elsewhere() {
            return this.poll_elsewhere(phase, cx);
        }
        let condition = &this.condition;
        let phase = framestep::task::home();
        match condition.state.get() {
            State::Done => panic!("`wait_until_world` was polled after it had ended"),
            State::Held => {
                if let Some(panic) = condition.panic.take() {
                    condition.state.set(State::Done);
                    resume_unwind(panic);
                }
                if condition.holds() {
                    return this.end();
                }
            }
            State::Listed(of) if of == phase => {
                this.wait(cx);
                return Poll::Pending;
            }
            State::New | State::Listed(_) => {}
        }
        condition.state.set(State::Listed(phase));
        let shared = with_ref(CONDITION, Shared::of);
        shared.add_condition(phase, condition.clone());
        this.wait(cx);
        Poll::Pending
    }
}

impl FusedFuture for WaitUntilWorld {
    fn is_terminated(&self) -> bool {
        self.condition.state.get() == State::Done
    }
}

impl Drop for WaitUntilWorld {
    fn drop(&mut self) {
        self.condition.state.set(State::Done);
        // It is borrowed only if the condition stops its own script.
        if let Ok(mut ask) = self.condition.ask.try_borrow_mut() {
            ask.forget();
        }
    }
}

impl fmt::Debug for WaitUntilWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitUntilWorld")
            .field("state", &self.condition.state)
            .finish_non_exhaustive()
    }
}
