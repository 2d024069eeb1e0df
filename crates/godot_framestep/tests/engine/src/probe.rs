//! A node with scripts of many kinds.

use std::future::pending;
use std::thread;
use std::time::Duration;

use godot::classes::{Engine, INode};
use godot::prelude::*;
use godot_framestep::framestep::sync::promise;
use godot_framestep::prelude::*;

use crate::log::{Dropped, note};

/// Its methods start scripts.
#[derive(GodotClass)]
#[class(base = Node, init)]
struct Probe {
    base: Base<Node>,
}

#[godot_api]
impl Probe {
    #[signal]
    fn hit(points: i64, by: GString, with: Gd<Node>);

    #[signal]
    fn done();

    /// Notes `name` in each run of a phase.
    #[func]
    fn each(&self, phase: GString, name: GString) -> Gd<FramestepScript> {
        let phase = match phase.to_string().as_str() {
            "fixed" => Phase::FixedUpdate,
            "early" => Phase::EarlyUpdate,
            "update" => Phase::Update,
            "late" => Phase::LateUpdate,
            "end" => Phase::EndOfFrame,
            other => panic!("no phase {other}"),
        };
        self.to_gd().spawn_script(each(phase, name)).for_godot()
    }

    /// Waits, and returns the sum.
    #[func]
    fn add(&self, a: i64, b: i64, seconds: f64) -> Gd<FramestepScript> {
        let script = async move {
            let _dropped = Dropped("dropped");
            if seconds > 0.0 {
                wait_seconds(seconds).await;
            }
            a + b
        };
        let script = self.to_gd().start_script(script);
        script.named("add").for_godot()
    }

    /// Notes the frame after each wait of so many seconds.
    #[func]
    fn tick(&self, name: GString, seconds: f64) -> Gd<FramestepScript> {
        self.to_gd().spawn_script(tick(name, seconds)).for_godot()
    }

    /// The same without a node.
    #[func]
    fn tick_without_node(name: GString) -> Gd<FramestepScript> {
        scripts().spawn(tick(name, 0.05)).for_godot()
    }

    #[func]
    fn panics(&self) -> Gd<FramestepScript> {
        self.to_gd().spawn_script(lamp()).for_godot()
    }

    /// The same, and nobody has its handle.
    #[func]
    fn panics_alone(&self) {
        let script = async {
            next_frame().await;
            panic!("the bell is cracked");
        };
        drop(self.to_gd().spawn_script(script).named("bell"));
    }

    /// Frees its node in the middle of a poll.
    #[func]
    fn frees_itself(&self) {
        let mut probe = self.to_gd();
        let script = async move {
            let _dropped = Dropped("dropped");
            next_frame().await;
            note("frees");
            probe.clone().free();
            note("is still polled");
            next_frame().await;
            note("must not come here");
            probe.set_name("never");
        };
        drop(self.to_gd().spawn_script(script));
    }

    /// Starts a script when it leaves the tree, after its other scripts have ended.
    #[func]
    fn starts_one_in_its_end(&self) {
        drop(self.to_gd().spawn_script(pending::<()>()));
        let probe = self.to_gd();
        let exiting = Callable::from_fn("exiting", move |_| {
            let script = async {
                let _dropped = Dropped("dropped");
                note("begins");
                pending::<()>().await;
            };
            drop(probe.start_script(script));
        });
        self.to_gd().connect("tree_exiting", &exiting);
    }

    /// Waits without end, and notes when it is dropped.
    #[func]
    fn waits(&self) -> Gd<FramestepScript> {
        let script = async {
            let _dropped = Dropped("dropped");
            pending::<()>().await;
        };
        self.to_gd().spawn_script(script).for_godot()
    }

    /// Waits without end. Notes when it is dropped, and when it cleans up with the tree.
    #[func]
    fn cleans_up(&self) -> Gd<FramestepScript> {
        self.to_gd().spawn_script(cleans_up()).for_godot()
    }

    /// The same without a node.
    #[func]
    fn cleans_up_without_node() -> Gd<FramestepScript> {
        scripts().spawn(cleans_up()).for_godot()
    }

    /// Ends by itself, or by a panic, in the next frame.
    #[func]
    fn cleans_up_soon(&self, panics: bool) -> Gd<FramestepScript> {
        let script = async move {
            let (_clean, _dropped) = guards();
            next_frame().await;
            assert!(!panics, "the hinge is broken");
            note("ends");
        };
        self.to_gd().spawn_script(script).for_godot()
    }

    /// Waits without end, in one of the kinds of waits, and notes when it is dropped.
    #[func]
    fn waits_in(&self, kind: GString, other: Gd<Node>) -> Gd<FramestepScript> {
        let node = self.to_gd();
        let done = Signal::from_object_signal(&node, "done");
        let left = Signal::from_object_signal(&other, "tree_exited");
        let script = async move {
            let _dropped = Dropped("dropped");
            match kind.to_string().as_str() {
                "next_frame" => each(Phase::Update, GString::new()).await,
                "fixed_update" => each(Phase::FixedUpdate, GString::new()).await,
                "end_of_frame" => each(Phase::EndOfFrame, GString::new()).await,
                "wait_frames" => wait_frames(100_000).await,
                "wait_steps" => wait_steps(100_000).await,
                "wait_seconds" => wait_seconds(1_000).await,
                "wait_seconds_realtime" => wait_seconds_realtime(1_000).await,
                "wait_until" => wait_until(|| false).await,
                "interval" => drop(interval(1_000).tick().await),
                "animate" => animate(1_000, |_| ()).await,
                "its own signal" => drop(done.emitted().await),
                "another's signal" => drop(left.emitted().await),
                "emissions" => while done.emissions().next().await.is_some() {},
                "typed" => drop(node.signals().hit().emitted().await),
                "of the crate godot" => {
                    drop(node.signals().hit().to_fallible_future().await);
                }
                "called" => drop(called(&other.callable("never"), &[]).await),
                "promise" => drop(promise::<()>().1.await),
                "timeout" => drop(timeout(1_000, done.emitted()).await),
                "race" => drop(race([1_000, 2_000].map(|seconds| wait_seconds(seconds))).await),
                "join" => drop(start(pending::<()>()).await),
                "child" => drop(node.spawn_script(pending::<()>()).await),
                other => panic!("no wait {other}"),
            }
            note("must not come here");
        };
        self.to_gd().start_script(script).for_godot()
    }

    /// Keeps its node bound across an `.await`, which it should not.
    #[func]
    fn stays_bound(&self) {
        let mut probe = self.to_gd();
        let script = async move {
            let _dropped = Dropped("unbound");
            let guard = probe.bind_mut();
            wait_seconds(1).await;
            drop(guard);
        };
        drop(self.to_gd().spawn_script(script));
    }

    /// A loop around a signal of an object that may be gone.
    #[func]
    fn hears_again(&self, signal: Signal, function: Callable) {
        let script = async move {
            loop {
                let heard = signal.emitted().await.is_some();
                let ended = called(&function, &[]).await.is_some();
                note(format!("{heard} {ended}"));
            }
        };
        drop(self.to_gd().spawn_script(script));
    }

    /// Notes the arguments of the next emission.
    #[func]
    fn hears(&self, signal: Signal) -> Gd<FramestepScript> {
        let script = async move {
            match signal.emitted().await {
                Some(arguments) => note(VarArray::from(&*arguments).to_string()),
                None => note("freed"),
            }
        };
        self.to_gd().start_script(script).for_godot()
    }

    /// Notes all emissions, a frame apart.
    #[func]
    fn reads(&self, signal: Signal) -> Gd<FramestepScript> {
        let mut emissions = signal.emissions();
        let script = async move {
            while let Some(arguments) = emissions.next().await {
                note(VarArray::from(&*arguments).to_string());
                next_frame().await;
            }
            note("freed");
        };
        self.to_gd().spawn_script(script).for_godot()
    }

    /// Waits for its own signal, with types. The object is that of `with`, which may be freed
    /// before this script runs.
    #[func]
    fn hears_with_types(&self) -> Gd<FramestepScript> {
        let hit = self.to_gd().signals().hit().emitted();
        let script = async move {
            match hit.await {
                Some((points, by, with)) => {
                    note(format!("{points} {by} {}", with.is_instance_valid()));
                }
                None => note("freed"),
            }
        };
        self.to_gd().start_script(script).for_godot()
    }

    /// Waits for its own signal with the futures of the crate godot.
    #[func]
    fn hears_typed(&self) -> Gd<FramestepScript> {
        let probe = self.to_gd();
        let script = async move {
            let hit = probe.signals().hit().to_fallible_future();
            match hit.await {
                Ok((points, by, _)) => note(format!("{points} {by}")),
                Err(_) => note("freed"),
            }
        };
        self.to_gd().start_script(script).for_godot()
    }

    /// Notes what a function of `GDScript` returns.
    #[func]
    fn calls(&self, function: Callable, arguments: VarArray) -> Gd<FramestepScript> {
        let script = async move {
            let arguments: Vec<_> = arguments.iter_shared().collect();
            let returned = called(&function, &arguments).await;
            match &returned {
                Some(value) => note(format!("returned {value}")),
                None => note("cannot end"),
            }
            returned.unwrap_or_default()
        };
        self.to_gd().start_script(script).for_godot()
    }

    /// Notes whether realtime is as long as Godot's.
    #[func]
    fn waits_realtime(&self, seconds: f64) -> Gd<FramestepScript> {
        let script = async move {
            let now = || godot::classes::Time::singleton().get_ticks_usec();
            // Realtime is that of the frame.
            let began = now();
            next_frame().await;
            wait_seconds_realtime(seconds).await;
            Duration::from_micros(now() - began).as_secs_f64()
        };
        self.to_gd().spawn_script(script).for_godot()
    }

    /// The tree, in a script and lent.
    #[func]
    fn sees_tree(&self) -> Gd<FramestepScript> {
        let script = async {
            let lent = with(|lent: &mut Gd<SceneTree>| lent.clone());
            lent == tree()
        };
        self.to_gd().start_script(script).for_godot()
    }

    /// Scripts that sleep and wake like the functions in `cost.gd`.
    #[func]
    fn patrol(&self) {
        let mut probe = self.to_gd();
        let mut turns = 0;
        drop(self.to_gd().spawn_script(async move {
            loop {
                next_frame().await;
                turns += 1;
                probe.set_meta("turns", &turns.to_variant());
            }
        }));
    }

    #[func]
    fn sleep(&self, seconds: f64) {
        drop(self.to_gd().spawn_script(async move {
            loop {
                wait_seconds(seconds).await;
            }
        }));
    }

    /// A thread answers a script.
    #[func]
    fn asks_a_thread(&self) -> Gd<FramestepScript> {
        let script = async {
            let (answer, answered) = promise();
            let thread = thread::spawn(move || answer.send(7_i64));
            let answer = answered.await.unwrap_or_default();
            drop(thread.join());
            answer
        };
        self.to_gd().spawn_script(script).for_godot()
    }

    /// Removes the host that runs it.
    #[func]
    fn removes_host(&self) {
        let script = async {
            let _dropped = Dropped("dropped");
            next_frame().await;
            let mut root = tree().get_root().expect("the tree has a root");
            let host = root.get_node_as::<Node>("Framestep");
            root.remove_child(&host);
            note("removed");
            next_frame().await;
            note("must not come here");
        };
        drop(self.to_gd().spawn_script(script));
    }

    #[func]
    fn stop_all(&self) {
        self.to_gd().stop_scripts();
    }
}

/// It runs in the editor as well, and starts a script there, which it should not.
#[derive(GodotClass)]
#[class(base = Node, init, tool)]
struct Tool {
    base: Base<Node>,
}

#[godot_api]
impl INode for Tool {
    fn ready(&mut self) {
        drop(self.to_gd().spawn_script(lamp()));
    }
}

async fn each(phase: Phase, name: GString) {
    loop {
        in_phase(phase).await;
        note(name.to_string());
    }
}

async fn tick(name: GString, seconds: f64) {
    let began = Engine::singleton().get_process_frames();
    loop {
        wait_seconds(seconds).await;
        let frame = Engine::singleton().get_process_frames() - began;
        note(format!("{name}@{frame}"));
    }
}

async fn lamp() {
    let _dropped = Dropped("dropped");
    next_frame().await;
    panic!("the lamp is out of oil");
}

fn guards() -> (impl Sized, Dropped) {
    let clean = defer(|tree: &mut Gd<SceneTree>| {
        note(if tree.get_root().is_some() {
            "cleaned"
        } else {
            "no root"
        });
    });
    (clean, Dropped("dropped"))
}

async fn cleans_up() {
    let (_clean, _dropped) = guards();
    pending::<()>().await;
}
