//! Coroutines for games: plain `async fn`s that run over many frames.
//!
//! A script is an `async fn` that lists what happens in order, with waits in between. The host,
//! a game loop or an engine, steps an [`Executor`] once a frame. A script that an executor runs
//! is a *coroutine*. The executor polls only the scripts that are due, in a fixed order. It
//! reads no clock: the host says how much time has passed. (The exceptions are [`Budget::new`](task::Budget::new),
//! [`Builder::slow_poll`] and [`Builder::profile`].)
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
//! let door = executor.start(open_door()); // prints "the door creaks"
//! executor.run_frame(0.25);
//! assert!(!door.is_finished());
//! executor.run_frame(0.25); // prints "the door is open"
//! assert!(door.is_finished());
//! ```
//!
//! The rest of this page is a tour with the same door.
//!
//! # A frame
//!
//! [`Executor::run_frame`] begins a frame and runs its phases, in this order:
//!
//! ```text
//! begin_frame(dt)             counts the frame and advances the clocks by dt
//!   EarlyUpdate
//!   FixedUpdate    0..n times, once for each fixed step that is due
//!   Update                    home: waits resume here, unless another phase is named
//!   LateUpdate
//!   EndOfFrame
//! ```
//!
//! A *run* of a [`Phase`] polls the coroutines that are due in it, and no others. An engine
//! with its own phases calls the parts itself: [`begin_frame`](Executor::begin_frame),
//! [`begin_fixed_step`](Executor::begin_fixed_step) and [`run_phase`](Executor::run_phase). In
//! each phase, it calls its own callbacks before the run. It can add [custom
//! phases](Phase::Custom). Frame 0 is the time before the first `begin_frame`.
//!
//! # Waiting
//!
//! The next door moves a little in every frame. It is part of a world that the host
//! [lends](Executor::lend) to the scripts for the length of a frame. A script borrows
//! the world inside a closure, [`with`] write access or [`with_ref`](lend::with_ref) read access. It
//! cannot hold the borrow across an `.await`.
//!
//! ```
//! use framestep::prelude::*;
//!
//! #[derive(Default)]
//! struct World {
//!     /// How far each door is open, from 0 to 1.
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
//! executor.lend(&mut world, |executor| executor.run_frame(0.25)); // the script begins
//! executor.lend(&mut world, |executor| executor.run_frame(0.25));
//! assert_eq!(world.doors, [0.5, 0.0]);
//! executor.lend(&mut world, |executor| executor.run_frame(0.25));
//! assert_eq!(world.doors, [1.0, 0.0]);
//! assert!(executor.is_empty());
//! ```
//!
//! Each coroutine has a *home phase*: Update, or the phase passed to
//! [`in_phase`](task::ScriptBuilder::in_phase). The children of a coroutine inherit it. Three rules
//! say when a wait is due that is awaited in frame N:
//!
//! - A wait for frames, seconds or a condition is due in the first run of the home phase with
//!   frame > N in which its frame has come, its clock has reached the deadline, or its condition
//!   holds. So it is never ready when it is first polled, and a loop around it cannot block a frame.
//! - A wait for a phase or a fixed step, such as [`end_of_frame()`], is due in the first run of that
//!   phase that begins after the await.
//! - A join, the await of a [`Coroutine`], is due in the run in which that coroutine ends. It is
//!   ready at once if it has ended.
//!
//! A wait of the first kind resumes in another phase if the script calls
//! [`in_phase`](wait::WaitSeconds::in_phase) on it. In [`Phase::FixedUpdate`], it counts fixed steps
//! instead of frames. A length of time is a number of [`Seconds`](time::Seconds) or a `Duration`.
//!
//! The page of each function says when it resumes, what it returns, and what happens when it is
//! dropped. The functions are in the modules [`wait`] (time, frames, conditions, streams over time),
//! [`combine`] (several futures at once), [`task`] (scripts, owners, groups, budgets) and [`sync`]
//! (events, values, permits, answers). The table of all waits is `docs/guide/waits.md` in the
//! repository.
//!
//! # Scripts within scripts
//!
//! There are three ways to run one `async fn` inside another:
//!
//! - A plain `.await` makes it a part of the caller.
//! - [`start`] makes it a separate coroutine, which runs side by side with the caller. It runs
//!   at once, up to its first wait.
//! - [`spawn`] does the same, but the coroutine first runs later in the current run.
//!
//! Both return a [`Coroutine`], which is a handle. Dropping the handle detaches the
//! coroutine, which keeps running. Awaiting the handle joins the coroutine: it waits for
//! the end, and resumes in the same frame and phase.
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
//! /// Opens a door and shuts it a second later. Returns the frame in which it shuts.
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
//!     assert_eq!(gate.await?, 6); // 2 frames to open, 4 frames for the second
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
//! [`Coroutine::stop`] drops a script at the wait where it is suspended. So does [`stop`] with
//! the [`CoroutineId`](task::CoroutineId) that [`Coroutine::id`] returns. The destructors of the script run before
//! `stop` returns. A script that is being polled, such as one that stops itself, first
//! continues to its next wait.
//!
//! A coroutine that joins the stopped script resumes with a [`JoinError`]: in the same run, or
//! in the next run of its phase if the host stops the script between two runs. A join of a
//! script that panicked also returns a `JoinError`. A panic ends one script and nothing else.
//! If no coroutine joins it, the executor [reports](inspect::Report) the panic.
//! [`on_error`](combine::on_error) handles the error that a script returns,
//! [`on_unobserved`](Executor::on_unobserved) the errors of all scripts. [`defer`](lend::defer) borrows the lent
//! state when a script ends, for whatever reason.
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
//! async fn hold_open(door: usize) {
//!     // Shuts the door when the script ends, for whatever reason.
//!     let _shut = defer(move |world: &mut World| world.doors[door] = 0.0);
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
//! held.stop(); // between two frames, when nothing is lent
//! executor.lend(&mut world, |executor| executor.run_frame(0.25));
//! assert_eq!(world.doors[0], 0.0);
//! assert!(held.take_output().unwrap().unwrap_err().is_stopped());
//! ```
//!
//! [`stop_on_drop`](Coroutine::stop_on_drop) stops a script when its handle is dropped.
//! Dropping the executor stops all scripts.
//!
//! # Any other future
//!
//! A script can await any future: a channel, a socket, a timer of another crate. Its waker may
//! be called on any thread, at any time. The coroutine resumes in its home phase: in the next
//! run of that phase, or later in the current run if another script of that run wakes it. The
//! home phase is Update, unless its builder names another one with [`in_phase`](task::ScriptBuilder::in_phase).
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
//! assert_eq!(executor.time().frame, 3); // woken in frame 1, open in frame 3
//! ```
//!
//! [`select!`] waits for the first of several futures. If two are ready in one poll, the
//! upper branch wins, so a replay takes the same branch. The macros of `futures` and
//! tokio also work, but their `select!` picks a branch at random.
//!
//! # Owners and clocks
//!
//! An [`Owner`] is a field of the object that its scripts belong to. Dropping it stops
//! the scripts; [`Owner::pause`] pauses them, with their timers. Inside a script,
//! [`owner()`](task::owner()) makes an owner for a local variable.
//!
//! An owner can be bound to a [`Clock`](time::Clock). Then the waits of its scripts count on that
//! clock, and [`time()`] and [`delta_seconds()`](time::delta_seconds()) read it. Here a room is in slow motion,
//! and the rest of the game is not:
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
//! struct Room {
//!     scripts: Owner,
//! }
//!
//! /// Opens a door and shuts it, again and again.
//! async fn haunt(door: usize) {
//!     loop {
//!         open(door).await;
//!         wait_seconds(0.5).await;
//!         with(|world: &mut World| world.doors[door] = 0.0);
//!     }
//! }
//!
//! let mut world = World::default();
//! let mut executor = Executor::new();
//! let slow = executor.clock().child();
//! slow.set_scale(0.5);
//! let (hall, cellar) = (executor.owner(), executor.owner_on(&slow));
//! let rooms = [Room { scripts: hall }, Room { scripts: cellar }];
//! for (door, room) in rooms.iter().enumerate() {
//!     room.scripts.spawn(haunt(door));
//! }
//! for _ in 0..3 {
//!     executor.lend(&mut world, |executor| executor.run_frame(0.25));
//! }
//! assert_eq!(world.doors, [1.0, 0.5]);
//! drop(rooms);
//! assert!(executor.is_empty());
//! ```
//!
//! A host finds the clocks at [`Executor::clock`] and [`Executor::realtime`], and a
//! script finds them with [`clock()`](time::clock()) and [`realtime()`](time::realtime()). An owner on `realtime()`, made
//! with [`owner_on`](task::owner_on), keeps its scripts running while the game clock is paused: a menu,
//! for example.
//!
//! An engine that moves components between threads stores a [`SendOwner`](task::SendOwner), and lends its
//! contexts, which have lifetimes, with [`Lend`](lend::Lend). Without an engine, a [`Scene`](scene::Scene) steps
//! [`Behaviour`](scene::Behaviour)s and their scripts in Unity's order.
//!
//! # Determinism
//!
//! The same calls with the same values make the same polls, frame by frame, in every build. The
//! order of the polls in a run is total and part of the contract; see [`Executor::run_phase`].
//! The file `docs/contract.md` has all rules, with examples. Times are whole nanoseconds, so
//! sums are the same everywhere; [`Seconds`](time::Seconds) says how floats are rounded.
//!
//! ```
//! # use framestep::prelude::*;
//! /// The doors in the order in which they opened.
//! #[derive(Default)]
//! struct Opened(Vec<&'static str>);
//!
//! async fn open_after(seconds: f32, door: &'static str) {
//!     wait_seconds(seconds).await;
//!     with(|opened: &mut Opened| opened.0.push(door));
//! }
//!
//! let (mut executor, mut opened) = (Executor::new(), Opened::default());
//! executor.start(open_after(0.5, "slow"));
//! executor.start(open_after(0.25, "quick"));
//! executor.start(open_after(0.5, "as slow"));
//! // The game clock advances by at most a third of a second: see `Builder::max_delta`.
//! executor.lend(&mut opened, |executor| executor.run_frame(10));
//! assert_eq!(opened.0, ["quick"]);
//! executor.lend(&mut opened, |executor| executor.run_frame(10));
//! assert_eq!(opened.0, ["quick", "slow", "as slow"]);
//! ```
//!
//! # From outside
//!
//! - The free functions of this crate work in scripts, and in host code inside
//!   [`Executor::enter`].
//! - A callback keeps a [`Handle`], which is weak. It can `spawn`, `start` and `stop`
//!   anywhere on the executor's thread.
//! - Another thread keeps a [`RemoteHandle`](task::RemoteHandle), which can spawn, stop and call, and
//!   await what a call returns.
//! - A host that sleeps when nothing is due checks
//!   [`idle_until`](Executor::idle_until), and is woken through
//!   [`on_wake`](Executor::on_wake).
//! - The executor [reports](Executor::on_report) problems that it survives, such as a dt
//!   of NaN.
//! - To debug: [`snapshot`](Executor::snapshot) shows what each coroutine waits for,
//!   [`on_trace`](Executor::on_trace) shows which coroutines run, and
//!   [`slow_poll`](Builder::slow_poll) reports the ones that block a frame.
//!
//! # The guide
//!
//! The repository has a guide, in `docs/guide`: a first game in `docs/guide/first-game.md`, chapters,
//! recipes in `docs/guide/recipes.md`, and pages for users of Unity, `UniTask`, `UE5Coro`, Godot and
//! tokio. `docs/guide/compiler.md` lists common compiler errors, with the code that works.

#![deny(unsafe_code)]

pub mod combine;
mod core;
#[doc(hidden)]
pub mod durable;
mod executor;
mod image;
pub mod inspect;
pub mod lend;
pub mod prelude;
#[cfg(test)]
mod random;
pub mod scene;
pub mod sync;
pub mod task;
pub mod testing;
pub mod time;
pub mod wait;

#[doc(hidden)]
pub use combine::expansion as __expansion;
pub use executor::{Builder, Executor, Handle};
pub use lend::with;
pub use task::{Coroutine, JoinError, Owner, join, spawn, start, stop};
pub use time::{Phase, Time, time};
pub use wait::{
    end_of_frame, fixed_update, interval, next_frame, timeout, wait_frames, wait_seconds,
    wait_until, wait_while,
};
