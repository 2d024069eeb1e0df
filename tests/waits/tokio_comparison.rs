//! The same program on tokio and on framestep: the same order of events,
//! wherever both define it.
//!
//! tokio runs on one thread with a paused clock, framestep in frames of a
//! quarter second. The programs use neither directly: they sleep and spawn
//! through [`Runtime`] and write into a list.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use tokio::sync::{Barrier, Mutex, Notify, Semaphore, mpsc, oneshot, watch};

use framestep::Executor;

use framestep_testkit::{panic_text, result_of};

/// Seconds in a frame of framestep; tokio's programs sleep in multiples.
const QUARTER: f64 = 0.25;

/// How a task that did not finish has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Ended {
    Stopped,
    Panicked(String),
}

/// A spawned task: its end, and a way to stop it.
struct Task<T> {
    end: LocalBoxFuture<'static, Result<T, Ended>>,
    stop: Box<dyn Fn()>,
}

impl<T> Task<T> {
    async fn join(self) -> Result<T, Ended> {
        self.end.await
    }
}

/// The common interface of the two executors.
trait Runtime: Copy + 'static {
    fn sleep(self, quarters: u32) -> LocalBoxFuture<'static, ()>;
    fn spawn<T: 'static>(self, future: impl Future<Output = T> + 'static) -> Task<T>;
}

#[derive(Clone, Copy)]
struct Tokio;

impl Runtime for Tokio {
    fn sleep(self, quarters: u32) -> LocalBoxFuture<'static, ()> {
        let length = Duration::from_secs_f64(QUARTER) * quarters;
        tokio::time::sleep(length).boxed_local()
    }

    fn spawn<T: 'static>(self, future: impl Future<Output = T> + 'static) -> Task<T> {
        let handle = tokio::task::spawn_local(future);
        let abort = handle.abort_handle();
        let end = handle.map(|result| {
            result.map_err(|error| match error.try_into_panic() {
                Ok(payload) => Ended::Panicked(panic_text(&*payload)),
                Err(_) => Ended::Stopped,
            })
        });
        Task {
            end: end.boxed_local(),
            stop: Box::new(move || abort.abort()),
        }
    }
}

#[derive(Clone, Copy)]
struct Framestep;

impl Runtime for Framestep {
    fn sleep(self, quarters: u32) -> LocalBoxFuture<'static, ()> {
        let length = QUARTER * f64::from(quarters);
        framestep::wait_seconds(length).map(drop).boxed_local()
    }

    fn spawn<T: 'static>(self, future: impl Future<Output = T> + 'static) -> Task<T> {
        let handle = framestep::spawn(future);
        let id = handle.id();
        let end = handle.map(|result| {
            result.map_err(|error| {
                if error.is_stopped() {
                    return Ended::Stopped;
                }
                Ended::Panicked(panic_text(&*error.into_panic()))
            })
        });
        Task {
            end: end.boxed_local(),
            stop: Box::new(move || {
                framestep::stop(id);
            }),
        }
    }
}

#[derive(Clone, Default)]
struct Events(Rc<RefCell<Vec<String>>>);

impl Events {
    fn add(&self, event: impl Display) {
        self.0.borrow_mut().push(event.to_string());
    }
}

fn under_tokio<F: Future<Output = ()>>(program: impl FnOnce(Tokio, Events) -> F) -> Vec<String> {
    let events = Events::default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, program(Tokio, events.clone()));
    events.0.take()
}

fn under_framestep<F: Future<Output = ()> + 'static>(
    program: impl FnOnce(Framestep, Events) -> F,
) -> Vec<String> {
    let events = Events::default();
    let mut executor = Executor::new();
    // Spawned, so that it begins in a run, like the coroutines that it spawns.
    let main = executor.spawn(program(Framestep, events.clone()));
    while !main.is_finished() {
        executor.run_frame(QUARTER);
    }
    result_of(&executor, main).unwrap();
    events.0.take()
}

/// Runs `$program` on both and compares with the expected events of each.
macro_rules! same {
    ($program:expr, $expected:expr) => {
        let expected: &[&str] = &$expected;
        assert_eq!(under_tokio($program), expected, "under tokio");
        assert_eq!(under_framestep($program), expected, "under framestep");
    };
}

#[test]
fn sleeps_end_by_deadline_whatever_the_order_in_which_they_began() {
    async fn program<R: Runtime>(runtime: R, events: Events) {
        let tasks = [7, 2, 5, 1, 8, 3, 6, 4].map(|quarters| {
            let events = events.clone();
            runtime.spawn(async move {
                runtime.sleep(quarters).await;
                events.add(quarters);
            })
        });
        for task in tasks {
            task.join().await.unwrap();
        }
        events.add("all");
    }
    same!(program, ["1", "2", "3", "4", "5", "6", "7", "8", "all"]);
}

#[test]
fn sleeps_of_one_deadline_end_in_the_order_in_which_they_began() {
    async fn program<R: Runtime>(runtime: R, events: Events) {
        let tasks = ["a", "b", "c", "d"].map(|name| {
            let events = events.clone();
            runtime.spawn(async move {
                runtime.sleep(2).await;
                events.add(name);
            })
        });
        for task in tasks {
            task.join().await.unwrap();
        }
    }
    same!(program, ["a", "b", "c", "d"]);
}

#[test]
fn sleeps_in_a_loop_interleave_in_the_same_way() {
    async fn program<R: Runtime>(runtime: R, events: Events) {
        let tasks = [("two", 2), ("three", 3), ("five", 5)].map(|(name, quarters)| {
            let events = events.clone();
            runtime.spawn(async move {
                for i in 1..=4 {
                    runtime.sleep(quarters).await;
                    events.add(format_args!("{name} {i}"));
                }
            })
        });
        for task in tasks {
            task.join().await.unwrap();
        }
    }
    // Multiples of 2, 3 and 5 quarters; at 6 and 10 the one that has slept for
    // longer goes first.
    same!(
        program,
        [
            "two 1", "three 1", "two 2", "five 1", "three 2", "two 3", "two 4", "three 3",
            "five 2", "three 4", "five 3", "five 4",
        ]
    );
}

#[test]
fn a_joiner_continues_after_what_it_joins() {
    async fn program<R: Runtime>(runtime: R, events: Events) {
        let say = events.clone();
        let child = runtime.spawn(async move {
            say.add("child begins");
            runtime.sleep(1).await;
            say.add("child ends");
            7
        });
        let say = events.clone();
        let parent = runtime.spawn(async move {
            say.add("parent joins");
            let result = child.join().await.unwrap();
            say.add(format_args!("parent has {result}"));
            runtime.sleep(1).await;
            result + 1
        });
        events.add(format_args!("main has {}", parent.join().await.unwrap()));
    }
    same!(
        program,
        [
            "child begins",
            "parent joins",
            "child ends",
            "parent has 7",
            "main has 8"
        ]
    );
}

#[test]
fn joining_what_has_ended_returns_its_result() {
    async fn program<R: Runtime>(runtime: R, events: Events) {
        let child = runtime.spawn(async { "result" });
        runtime.sleep(4).await;
        events.add(child.join().await.unwrap());
    }
    same!(program, ["result"]);
}

#[test]
fn messages_arrive_in_order_between_sleeps() {
    async fn program<R: Runtime>(runtime: R, events: Events) {
        let (sender, mut receiver) = mpsc::channel(2);
        let say = events.clone();
        let producer = runtime.spawn(async move {
            for i in 0..3 {
                runtime.sleep(1).await;
                say.add(format_args!("sends {i}"));
                sender.send(i).await.unwrap();
            }
            say.add("has sent all");
        });
        let say = events.clone();
        let consumer = runtime.spawn(async move {
            while let Some(i) = receiver.recv().await {
                say.add(format_args!("receives {i}"));
            }
            say.add("has received all");
        });
        producer.join().await.unwrap();
        consumer.join().await.unwrap();
    }
    same!(
        program,
        [
            "sends 0",
            "receives 0",
            "sends 1",
            "receives 1",
            "sends 2",
            "has sent all",
            "receives 2",
            "has received all",
        ]
    );
}

#[test]
fn a_full_channel_blocks_its_sender() {
    async fn program<R: Runtime>(runtime: R, events: Events) {
        let (sender, mut receiver) = mpsc::channel(1);
        let say = events.clone();
        let producer = runtime.spawn(async move {
            for i in 0..3 {
                sender.send(i).await.unwrap();
                say.add(format_args!("sent {i}"));
            }
        });
        for _ in 0..3 {
            runtime.sleep(2).await;
            events.add(format_args!("received {:?}", receiver.recv().await));
        }
        producer.join().await.unwrap();
    }
    same!(
        program,
        [
            "sent 0",
            "received Some(0)",
            "sent 1",
            "received Some(1)",
            "sent 2",
            "received Some(2)",
        ]
    );
}

#[test]
fn a_oneshot_is_answered_and_a_dropped_one_is_an_error() {
    async fn program<R: Runtime>(runtime: R, events: Events) {
        let (question, asked) = oneshot::channel::<oneshot::Sender<u32>>();
        let server = runtime.spawn(async move {
            let answer = asked.await.unwrap();
            runtime.sleep(2).await;
            answer.send(42).unwrap();
        });
        let (answer, answered) = oneshot::channel();
        question.send(answer).unwrap();
        events.add("asked");
        events.add(format_args!("answered {:?}", answered.await));
        server.join().await.unwrap();
        let (never, dropped) = oneshot::channel::<u32>();
        let dropper = runtime.spawn(async move {
            runtime.sleep(1).await;
            drop(never);
        });
        events.add(format_args!("dropped: {}", dropped.await.is_err()));
        dropper.join().await.unwrap();
    }
    same!(program, ["asked", "answered Ok(42)", "dropped: true"]);
}

#[test]
fn notify_wakes_one_or_all_in_the_order_in_which_they_wait() {
    async fn program<R: Runtime>(runtime: R, events: Events) {
        let notify = Rc::new(Notify::new());
        let tasks = ["a", "b", "c", "d"].map(|name| {
            let (events, notify) = (events.clone(), notify.clone());
            runtime.spawn(async move {
                notify.notified().await;
                events.add(name);
            })
        });
        runtime.sleep(1).await;
        events.add("one");
        notify.notify_one();
        runtime.sleep(1).await;
        events.add("all");
        notify.notify_waiters();
        for task in tasks {
            task.join().await.unwrap();
        }
    }
    same!(program, ["one", "a", "all", "b", "c", "d"]);
}

#[test]
fn a_mutex_goes_round_in_the_order_in_which_it_was_asked_for() {
    async fn program<R: Runtime>(runtime: R, events: Events) {
        let mutex = Rc::new(Mutex::new(0));
        let tasks = ["a", "b", "c"].map(|name| {
            let (events, mutex) = (events.clone(), mutex.clone());
            runtime.spawn(async move {
                for _ in 0..2 {
                    let mut count = mutex.lock().await;
                    *count += 1;
                    events.add(format_args!("{name} {count}"));
                    runtime.sleep(1).await;
                }
            })
        });
        for task in tasks {
            task.join().await.unwrap();
        }
    }
    same!(program, ["a 1", "b 2", "c 3", "a 4", "b 5", "c 6"]);
}

#[test]
fn permits_and_barriers_hold_back_the_same_tasks() {
    async fn program<R: Runtime>(runtime: R, events: Events) {
        let semaphore = Rc::new(Semaphore::new(2));
        let barrier = Arc::new(Barrier::new(5));
        let tasks = ["a", "b", "c", "d"].map(|name| {
            let (events, semaphore) = (events.clone(), semaphore.clone());
            let barrier = barrier.clone();
            runtime.spawn(async move {
                let permit = semaphore.acquire().await.unwrap();
                events.add(format_args!("{name} works"));
                runtime.sleep(2).await;
                drop(permit);
                barrier.wait().await;
            })
        });
        runtime.sleep(1).await;
        events.add("main waits");
        barrier.wait().await;
        events.add("all are there");
        for task in tasks {
            task.join().await.unwrap();
        }
    }
    same!(
        program,
        [
            "a works",
            "b works",
            "main waits",
            "c works",
            "d works",
            "all are there"
        ]
    );
}

#[test]
fn watchers_see_the_last_value() {
    async fn program<R: Runtime>(runtime: R, events: Events) {
        let (sender, mut receiver) = watch::channel(0);
        let say = events.clone();
        let watcher = runtime.spawn(async move {
            while receiver.changed().await.is_ok() {
                let now = *receiver.borrow_and_update();
                say.add(now);
            }
            say.add("closed");
        });
        for round in 1..=3 {
            runtime.sleep(1).await;
            sender.send(round * 10).unwrap();
            sender.send(round * 10 + 1).unwrap();
        }
        runtime.sleep(1).await;
        drop(sender);
        watcher.join().await.unwrap();
    }
    same!(program, ["11", "21", "31", "closed"]);
}

#[test]
fn select_takes_what_comes_first_and_drops_the_rest() {
    async fn program<R: Runtime>(runtime: R, events: Events) {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let producer = runtime.spawn(async move {
            for quarters in [1, 5, 1] {
                runtime.sleep(quarters).await;
                if sender.send(quarters).is_err() {
                    return;
                }
            }
        });
        loop {
            futures::select_biased! {
                message = std::pin::pin!(receiver.recv().fuse()) => match message {
                    Some(message) => events.add(format_args!("message after {message}")),
                    None => break,
                },
                () = runtime.sleep(2).fuse() => events.add("timeout"),
            }
        }
        producer.join().await.unwrap();
    }
    // At 1 a message; at 3 and 5 timeouts; at 6 and 7 messages.
    same!(
        program,
        [
            "message after 1",
            "timeout",
            "timeout",
            "message after 5",
            "message after 1"
        ]
    );
}

#[test]
fn select_of_two_sleeps_takes_the_shorter() {
    async fn program<R: Runtime>(runtime: R, events: Events) {
        for (a, b) in [(1, 2), (3, 2), (4, 8)] {
            tokio::select! {
                () = runtime.sleep(a) => events.add(format_args!("a after {a}")),
                () = runtime.sleep(b) => events.add(format_args!("b after {b}")),
            }
        }
    }
    same!(program, ["a after 1", "b after 2", "a after 4"]);
}

#[test]
fn joined_sleeps_take_as_long_as_the_longest() {
    async fn program<R: Runtime>(runtime: R, events: Events) {
        let say = events.clone();
        let clock = runtime.spawn(async move {
            for i in 1..=5 {
                runtime.sleep(2).await;
                say.add(i);
            }
        });
        tokio::join!(runtime.sleep(3), runtime.sleep(7), runtime.sleep(5));
        events.add("joined");
        clock.join().await.unwrap();
    }
    same!(program, ["1", "2", "3", "joined", "4", "5"]);
}

#[test]
fn a_stopped_task_gives_its_joiner_an_error_and_its_locals_are_dropped() {
    struct Local(Events);
    impl Drop for Local {
        fn drop(&mut self) {
            self.0.add("dropped");
        }
    }
    async fn program<R: Runtime>(runtime: R, events: Events) {
        let local = Local(events.clone());
        let say = events.clone();
        let task = runtime.spawn(async move {
            let _local = local;
            loop {
                runtime.sleep(2).await;
                say.add("ticks");
            }
        });
        runtime.sleep(5).await;
        (task.stop)();
        let result: Result<(), Ended> = task.join().await;
        events.add(format_args!("{result:?}"));
        runtime.sleep(4).await;
        events.add("no more ticks");
    }
    same!(
        program,
        ["ticks", "ticks", "dropped", "Err(Stopped)", "no more ticks"]
    );
}

#[test]
fn stopping_what_has_finished_changes_nothing() {
    async fn program<R: Runtime>(runtime: R, events: Events) {
        let task = runtime.spawn(async { 5 });
        runtime.sleep(1).await;
        (task.stop)();
        events.add(format_args!("{:?}", task.join().await));
    }
    same!(program, ["Ok(5)"]);
}

#[test]
fn a_panic_ends_one_task_and_is_its_joiners_error() {
    async fn program<R: Runtime>(runtime: R, events: Events) {
        let say = events.clone();
        let sibling = runtime.spawn(async move {
            for i in 0..3 {
                runtime.sleep(2).await;
                say.add(i);
            }
        });
        let task = runtime.spawn(async move {
            runtime.sleep(3).await;
            panic!("on purpose");
        });
        let result: Result<(), Ended> = task.join().await;
        events.add(format_args!("{result:?}"));
        sibling.join().await.unwrap();
    }
    same!(program, ["0", "Err(Panicked(\"on purpose\"))", "1", "2"]);
}

#[test]
fn dropping_a_handle_detaches_the_task() {
    async fn program<R: Runtime>(runtime: R, events: Events) {
        let done = Rc::new(Cell::new(false));
        let (say, set) = (events.clone(), done.clone());
        drop(runtime.spawn(async move {
            runtime.sleep(2).await;
            say.add("done");
            set.set(true);
        }));
        runtime.sleep(3).await;
        events.add(done.get());
    }
    same!(program, ["done", "true"]);
}

#[test]
fn spawned_tasks_begin_in_order_and_after_their_spawner_waits() {
    async fn program<R: Runtime>(runtime: R, events: Events) {
        let tasks = ["a", "b", "c"].map(|name| {
            let events = events.clone();
            runtime.spawn(async move { events.add(name) })
        });
        events.add("spawned");
        for task in tasks {
            task.join().await.unwrap();
        }
    }
    same!(program, ["spawned", "a", "b", "c"]);
}
