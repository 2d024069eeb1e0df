//! Coroutines for games: plain `async fn`s that go on a little in every frame.
//!
//! A script says what happens one thing after another, with waits in between.
//! The host, a game loop or an engine, steps an [`Executor`] once a frame; the
//! executor polls the scripts that are due, those alone, and in a fixed order.
//! Nothing here reads a clock, [`Budget::new`] and [`Builder::slow_poll`] apart:
//! time is what the host says it is.
//!
//! ```
//! use framestep::prelude::*;
//!
//! async fn open_door() {
//!     println!("the door creaks");
//!     wait_seconds(0.5).await;
//!     println!("the door is open");
//! }
//!
//! let mut executor = Executor::new();
//! let door = executor.start(open_door()); // prints that it creaks
//! executor.run_frame(0.25);
//! assert!(!door.is_finished());
//! executor.run_frame(0.25); // prints that it is open
//! assert!(door.is_finished());
//! ```
//!
//! What follows is a tour: the same door, step by step.
//!
//! # A frame
//!
//! [`Executor::run_frame`] begins a frame and runs its phases, in this order:
//!
//! ```text
//! begin_frame(dt)             the frame is counted, the clocks go on by dt
//!   EarlyUpdate
//!   FixedUpdate    0..n times, once for every fixed step that is due
//!   Update                    where waits resume unless they say otherwise
//!   LateUpdate
//!   EndOfFrame
//! ```
//!
//! An engine with phases of its own calls the parts, its own callback for a
//! phase first: [`begin_frame`](Executor::begin_frame),
//! [`begin_fixed_step`](Executor::begin_fixed_step),
//! [`run_phase`](Executor::run_phase), also with a
//! [phase of the host's own](Phase::Custom). Frame 0 is everything before the
//! first `begin_frame`.
//!
//! # Waiting
//!
//! This door moves, a little in every frame. It is part of a world that the host
//! [lends](Executor::lend) to the scripts for each frame; a script borrows it [`with`] a
//! closure.
//!
//! ```
//! use framestep::prelude::*;
//!
//! #[derive(Default)]
//! struct World {
//!     /// How far each door is open: from 0 to 1.
//!     doors: [f32; 2],
//! }
//!
//! async fn open(door: usize) {
//!     while with_ref(|world: &World| world.doors[door] < 1.0) {
//!         next_frame().await;
//!         let step = 2.0 * delta_seconds();
//!         with(|world: &mut World| world.doors[door] = (world.doors[door] + step).min(1.0));
//!     }
//! }
//!
//! let mut world = World::default();
//! let mut executor = Executor::new();
//! executor.spawn(open(0));
//! executor.lend(&mut world, |executor| executor.run_frame(0.25)); // it begins
//! executor.lend(&mut world, |executor| executor.run_frame(0.25));
//! assert_eq!(world.doors, [0.5, 0.0]);
//! executor.lend(&mut world, |executor| executor.run_frame(0.25));
//! assert_eq!(world.doors, [1.0, 0.0]);
//! assert!(executor.is_empty());
//! ```
//!
//! Awaited in frame N, a wait is due in
//!
//! | wait | due in |
//! |---|---|
//! | [`next_frame()`] | the first Update with frame > N |
//! | [`wait_frames(n)`](wait_frames) | the first Update with frame >= N + n; 0 counts as 1 |
//! | [`wait_steps(n)`](wait_steps) | the `n`-th fixed step that begins after the await; 0 counts as 1 |
//! | [`wait_seconds(s)`](wait_seconds), [`wait_seconds_realtime(s)`](wait_seconds_realtime) | the first Update with frame > N and its clock at or past the deadline |
//! | [`wait_until(cond)`](wait_until), [`wait_while(cond)`](wait_while) | every Update with frame > N, to ask, until it holds (no longer holds) |
//! | [`fixed_update()`], [`end_of_frame()`], [`in_phase(p)`](in_phase) | the first run of that phase that begins after the await |
//! | a [`Coroutine`], [`join(coroutine)`](join()) | whichever run it ends in; at once if it has ended |
//!
//! [`in_phase`](WaitSeconds::in_phase) on a wait that names Update puts another
//! phase in its place. A join returns what the coroutine returned, the
//! others return `()`: [`time()`] has the clocks. A length of time is a number of
//! [`Seconds`] or a `Duration`. None of these but a join is ready at once, so a
//! loop around one cannot hold a frame up.
//!
//! On top of them: [`timeout`] and [`interval`], [`frames`] and [`animate`],
//! [`select!`] and [`join!`], [`race`] and [`join_all`] for several futures at
//! once, [`Signal`] for events and [`Watch`] for values that change, and [`Budget`] for long jobs that are cut into
//! frames.
//!
//! # Scripts within scripts
//!
//! A plain `.await` makes one `async fn` a part of another. [`start`] makes it a
//! coroutine of its own, which runs at once up to its first wait, and then side
//! by side with the one that started it. [`spawn`] is the same, but runs soon:
//! later in the run under way. Dropping the [`Coroutine`] that both give lets it
//! go on by itself; awaiting it waits for its end, and goes on in the same frame
//! and phase.
//!
//! ```
//! # use framestep::prelude::*;
//! # #[derive(Default)]
//! # struct World {
//! #     doors: [f32; 2],
//! # }
//! # async fn open(door: usize) {
//! #     while with_ref(|world: &World| world.doors[door] < 1.0) {
//! #         next_frame().await;
//! #         let step = 2.0 * delta_seconds();
//! #         with(|world: &mut World| world.doors[door] = (world.doors[door] + step).min(1.0));
//! #     }
//! # }
//! /// Opens a door and shuts it a second later; gives the frame.
//! async fn let_through(door: usize) -> u64 {
//!     open(door).await;
//!     wait_seconds(1).await;
//!     with(|world: &mut World| world.doors[door] = 0.0);
//!     time().frame
//! }
//!
//! async fn procession() -> Result<(), JoinError> {
//!     let gate = start(let_through(0));
//!     wait_seconds(0.5).await;
//!     let portal = start(let_through(1));
//!     assert_eq!(gate.await?, 6); // 2 frames to open, 4 frames a second
//!     assert_eq!(time().frame, 6);
//!     assert_eq!(portal.await?, 8);
//!     Ok(())
//! }
//!
//! let mut executor = Executor::new();
//! let mut world = World::default();
//! executor.lend(&mut world, |executor| executor.run_until(procession(), 0.25))?;
//! # Ok::<(), framestep::JoinError>(())
//! ```
//!
//! # Stopping
//!
//! [`Coroutine::stop`], or [`stop`] with a [`CoroutineId`] kept from
//! [`Coroutine::id`], drops a script where it waits: its destructors have run
//! when `stop` returns. One that is being polled, such as one that stops itself,
//! goes on to its next wait first. A coroutine that joins it is told, in the same run;
//! the same goes for a script that panicked, which ends that one script and
//! nothing else. If nobody joins it, the panic is a [`Report`]; errors that a
//! script returns go to [`on_error`](Coroutine::on_error).
//!
//! ```
//! # use framestep::prelude::*;
//! # #[derive(Default)]
//! # struct World {
//! #     doors: [f32; 2],
//! # }
//! # async fn open(door: usize) {
//! #     while with_ref(|world: &World| world.doors[door] < 1.0) {
//! #         next_frame().await;
//! #         let step = 2.0 * delta_seconds();
//! #         with(|world: &mut World| world.doors[door] = (world.doors[door] + step).min(1.0));
//! #     }
//! # }
//! /// Shuts its door whenever, and for whatever reason, it goes.
//! struct Spring(usize);
//!
//! impl Drop for Spring {
//!     fn drop(&mut self) {
//!         let door = self.0;
//!         // Now, or if the world is not to be had now, as soon as it is.
//!         with_soon(move |world: &mut World| world.doors[door] = 0.0);
//!     }
//! }
//!
//! async fn hold_open(door: usize) {
//!     let _spring = Spring(door);
//!     open(door).await;
//!     wait_seconds(60).await;
//! }
//!
//! let mut world = World::default();
//! let mut executor = Executor::new();
//! let held = executor.spawn(hold_open(0));
//! for _ in 0..2 {
//!     executor.lend(&mut world, |executor| executor.run_frame(0.25));
//! }
//! assert_eq!(world.doors[0], 0.5);
//! held.stop(); // between two frames, where nothing is lent
//! executor.lend(&mut world, |executor| executor.run_frame(0.25));
//! assert_eq!(world.doors[0], 0.0);
//! assert!(held.take().unwrap().unwrap_err().is_stopped());
//! ```
//!
//! [`stop_on_drop`](Coroutine::stop_on_drop) ties a script to its handle, and so
//! to whatever holds that; dropping the executor stops all of them.
//!
//! # Anything else that is a future
//!
//! Channels, sockets, timers of other crates: scripts await them as they are.
//! A coroutine that is woken goes on in the phase in which it was last polled: in the
//! next run of it, or in the one under way if another script has woken it from
//! there. Wakers may be called on any thread, at any time.
//!
//! ```
//! # use framestep::prelude::*;
//! # #[derive(Default)]
//! # struct World {
//! #     doors: [f32; 2],
//! # }
//! # async fn open(door: usize) {
//! #     while with_ref(|world: &World| world.doors[door] < 1.0) {
//! #         next_frame().await;
//! #         let step = 2.0 * delta_seconds();
//! #         with(|world: &mut World| world.doors[door] = (world.doors[door] + step).min(1.0));
//! #     }
//! # }
//! use futures::channel::oneshot;
//!
//! /// Opens if the lever is pulled within three seconds.
//! async fn gate(door: usize, lever: oneshot::Receiver<()>) {
//!     select! {
//!         Ok(()) = lever => open(door).await,
//!         _ = wait_seconds(3) => println!("the gate stays shut"),
//!     }
//! }
//!
//! let mut world = World::default();
//! let (pull, lever) = oneshot::channel();
//! let mut executor = Executor::new();
//! let gate = executor.start(gate(0, lever));
//! std::thread::spawn(move || pull.send(())).join().unwrap().unwrap();
//! executor.lend(&mut world, |executor| executor.run_until(gate, 0.25)).unwrap();
//! assert_eq!(world.doors[0], 1.0);
//! assert_eq!(executor.time().frame, 3); // woken in 1, open in 3
//! ```
//!
//! [`select!`] waits for the first of several futures. When two are ready in one
//! poll, the upper branch wins, so that a replay takes the same branch. The
//! macros of `futures` and tokio work as well, but their `select!` picks a branch
//! at random.
//!
//! # Whose it is, and what it may touch
//!
//! An [`Owner`] is a field of whatever its scripts belong to, and they end with
//! it; it can also [pause](Owner::pause) them. What it is a part of, the host
//! [lends](Executor::lend) to the scripts that it runs:
//!
//! ```
//! use framestep::prelude::*;
//!
//! struct World {
//!     damage: u32,
//! }
//!
//! struct Enemy {
//!     scripts: Owner,
//! }
//!
//! async fn bite() {
//!     loop {
//!         wait_seconds(0.5).await;
//!         with(|world: &mut World| world.damage += 3);
//!     }
//! }
//!
//! let mut world = World { damage: 0 };
//! let mut executor = Executor::new();
//! let enemy = Enemy { scripts: executor.owner() };
//! enemy.scripts.spawn(bite());
//! for _ in 0..5 {
//!     executor.lend(&mut world, |executor| executor.run_frame(0.25));
//! }
//! assert_eq!(world.damage, 6); // begun in frame 1: bites in 3 and 5
//! drop(enemy);
//! assert!(executor.is_empty());
//! ```
//!
//! An owner may be [bound](Executor::owner_on) to a [`Clock`] that goes slower
//! than the game's, or stands still: slow motion for the enemies, and not for
//! the player. An engine whose components go from thread to thread keeps a
//! [`SendOwner`], and lends its contexts by a key, see [`Lend`]. For those without
//! an engine, a [`Scene`] steps [`Behaviour`]s and their scripts in Unity's order.
//!
//! # The same again
//!
//! The order in which the scripts of a run are polled is total, and a part of
//! the contract: the same calls with the same values give the same polls, frame
//! by frame, in every build. See [`Executor::run_phase`] for the order. Times
//! are whole nanoseconds, so that they add up the same everywhere; [`Seconds`]
//! tells how floats become them.
//!
//! ```
//! # use std::{cell::RefCell, rc::Rc};
//! # use framestep::prelude::*;
//! let log = Rc::new(RefCell::new(Vec::new()));
//! let mut executor = Executor::new();
//! for (door, seconds) in [("slow", 0.5), ("quick", 0.25), ("as slow", 0.5)] {
//!     let log = log.clone();
//!     executor.start(async move {
//!         wait_seconds(seconds).await;
//!         log.borrow_mut().push(door);
//!     });
//! }
//! executor.run_frame(10); // cut to a third of a second, see `Builder::max_delta`
//! assert_eq!(*log.borrow(), ["quick"]);
//! executor.run_frame(10);
//! assert_eq!(*log.borrow(), ["quick", "slow", "as slow"]);
//! ```
//!
//! # From outside
//!
//! - A behaviour or a callback holds a [`Handle`], which is weak: `spawn`,
//!   `start` and `stop` work from there. The free functions of this crate work
//!   in scripts, and inside [`Executor::enter`].
//! - Another thread holds a [`Remote`], and spawns with that.
//! - A host that sleeps while nothing moves asks
//!   [`has_ready`](Executor::has_ready) and
//!   [`next_deadline`](Executor::next_deadline), and is woken through
//!   [`on_wake`](Executor::on_wake).
//! - What an executor survives but its host should know, such as a dt of NaN, it
//!   [reports](Executor::on_report).
//! - Who waits for what is told by [`snapshot`](Executor::snapshot), who ran by
//!   [`on_trace`](Executor::on_trace), who held the frame up by
//!   [`slow_poll`](Builder::slow_poll).
//!
//! The page `docs/guide/compiler.md` lists the compiler errors that new users meet in
//! scripts, and the code that works.

mod budget;
mod combine;
mod core;
mod coroutine;
mod executor;
mod inspect;
mod lend;
mod owner;
pub mod prelude;
#[cfg(test)]
mod random;
mod scene;
mod script;
mod signal;
mod time;
mod wait;
mod waiters;
mod watch;

pub use budget::{Budget, Checkpoint};
#[doc(hidden)]
pub use combine::expansion as __expansion;
pub use combine::{JoinAll, Race, join_all, race};
pub use coroutine::{Coroutine, CoroutineId, Finished, JoinError, Outcome, join};
pub use executor::{Builder, Executor, Handle, Remote};
pub use inspect::{
    CoroutineInfo, Moment, Report, Snapshot, State, TimerClock, TraceEvent, Traced, Wait,
};
pub use lend::{
    Lend, WithError, try_with, try_with_as, try_with_ref, with, with_as, with_ref, with_soon,
    with_soon_as,
};
pub use owner::{Owner, OwnerHandle, SendOwner};
pub use scene::{Behaviour, Scene, SceneContext, SceneHandle, This};
pub use script::{
    clock, current, delta_seconds, handle, owner, owner_on, realtime, spawn, spawn_in, start, stop,
    time,
};
pub use signal::{Signal, Subscription, WaitSignal, WaitSignalFor};
pub use time::{Clock, Phase, Seconds, Time};
pub use wait::{
    Animate, Elapsed, Frames, InPhase, Interval, MissedTicks, NextFrame, Tick, Timeout, WaitFrames,
    WaitSeconds, WaitSecondsRealtime, WaitSteps, WaitUntil, WaitWhile, animate, end_of_frame,
    fixed_update, frames, in_phase, interval, next_frame, timeout, wait_frames, wait_seconds,
    wait_seconds_realtime, wait_steps, wait_until, wait_while,
};
pub use watch::{Changed, Changes, WaitWatch, Watch};
