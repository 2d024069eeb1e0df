//! A host that sleeps while random things happen: it never misses anything due.

use std::rc::Rc;

use futures::channel::mpsc;
use futures::{FutureExt, StreamExt};

use framestep::Executor;
use framestep::prelude::*;
use framestep::task::CoroutineId;

use framestep_testkit::{Random, forever};

use super::Host;

struct Scene {
    host: Host,
    random: Random,
    ids: Vec<CoroutineId>,
    owners: Vec<Owner>,
    clocks: Vec<Clock>,
    senders: Vec<mpsc::UnboundedSender<()>>,
    signal: Rc<Signal<()>>,
}

impl Scene {
    fn new(seed: u64) -> Self {
        let executor = Executor::new();
        let mut clocks = vec![executor.clock(), executor.clock().child()];
        clocks.push(clocks[1].child());
        clocks.push(executor.realtime().child());
        let mut owners = vec![executor.owner(), executor.owner_on(&clocks[2])];
        owners.push(owners[0].child());
        Scene {
            host: Host::new(executor),
            random: Random(seed),
            ids: Vec::new(),
            owners,
            clocks,
            senders: Vec::new(),
            signal: Rc::default(),
        }
    }

    fn pick(&mut self, n: usize) -> usize {
        usize::try_from(self.random.below(n as u64)).unwrap()
    }

    fn seconds(&mut self) -> f64 {
        [0.0, 0.25, 0.5, 1.0, 3.0, 1e6][self.pick(6)]
    }

    fn any_id(&mut self) -> Option<CoroutineId> {
        if self.ids.is_empty() {
            return None;
        }
        let index = self.pick(self.ids.len());
        Some(self.ids[index])
    }

    fn script(&mut self) -> futures::future::LocalBoxFuture<'static, ()> {
        let seconds = self.seconds();
        match self.pick(12) {
            0 => next_frame().boxed_local(),
            1 => wait_seconds(seconds).boxed_local(),
            2 => wait_seconds(seconds)
                .in_phase(Phase::FixedUpdate)
                .boxed_local(),
            3 => {
                let clock = self.pick(4);
                self.clocks[clock].wait_seconds(seconds).boxed_local()
            }
            4 => wait_frames(3).boxed_local(),
            5 => {
                let (sender, mut receiver) = mpsc::unbounded();
                self.senders.push(sender);
                async move { while receiver.next().await.is_some() {} }.boxed_local()
            }
            6 => {
                let signal = self.signal.clone();
                async move { signal.wait().await }.boxed_local()
            }
            7 => async move {
                select! { () = forever() => {}, () = wait_seconds(seconds) => {} }
            }
            .boxed_local(),
            8 => {
                let inner = self.host.executor.start(forever());
                self.ids.push(inner.id());
                inner.map(drop).boxed_local()
            }
            9 => async move {
                start(wait_seconds(seconds)).await.unwrap();
            }
            .boxed_local(),
            10 => wait_seconds_realtime(seconds).boxed_local(),
            _ => forever().boxed_local(),
        }
    }

    fn act(&mut self) {
        match self.pick(16) {
            0 | 1 => {
                let script = self.script();
                self.ids.push(self.host.executor.start(script).id());
            }
            2 => {
                let script = self.script();
                self.ids.push(self.host.executor.spawn(script).id());
            }
            3 => {
                let (script, owner) = (self.script(), self.pick(3));
                self.ids.push(self.owners[owner].start(script).id());
            }
            4 => {
                if let Some(id) = self.any_id() {
                    self.host.executor.stop(id);
                }
            }
            5 => {
                if let Some(id) = self.any_id() {
                    self.host.executor.pause(id);
                }
            }
            6 | 7 => {
                if let Some(id) = self.any_id() {
                    self.host.executor.resume(id);
                }
            }
            8 => {
                let owner = self.pick(3);
                self.owners[owner].pause();
            }
            9 => {
                let owner = self.pick(3);
                self.owners[owner].resume();
            }
            10 => {
                let clock = self.pick(4);
                self.clocks[clock].pause();
            }
            11 => {
                let clock = self.pick(4);
                self.clocks[clock].resume();
            }
            12 => {
                let (clock, scale) = (self.pick(4), self.pick(4));
                self.clocks[clock].set_scale([0.0, 0.5, 1.0, 3.0][scale]);
            }
            13 => {
                let n = self.senders.len();
                if n > 0 {
                    let sender = self.pick(n);
                    let _ = self.senders[sender].unbounded_send(());
                }
            }
            14 => self.signal.emit(()),
            _ => {
                let owner = self.pick(3);
                self.owners[owner].stop_all();
            }
        }
    }
}

#[test]
fn a_host_that_sleeps_until_it_is_called_misses_nothing() {
    let mut news = 0;
    for seed in 0..60 {
        let mut scene = Scene::new(seed);
        let mut seen = scene.host.look();
        for _ in 0..300 {
            if scene.random.below(12) == 0 {
                let dt = scene.seconds().min(1.0);
                scene.host.executor.run_frame(dt);
                seen = scene.host.look();
                scene.host.take_calls();
            }
            // Several acts before one check.
            for _ in 0..=scene.random.below(3) {
                scene.act();
            }
            let called = scene.host.take_calls() > 0;
            let now = scene.host.look();
            if now.is_sooner_than(seen) {
                assert!(called, "seed {seed}: {seen:?}, then {now:?}");
                news += 1;
            }
            seen = now;
            if scene.host.executor.len() > 60 {
                scene.owners.iter().for_each(Owner::stop_all);
                for id in scene.ids.drain(..) {
                    scene.host.executor.stop(id);
                }
                seen = scene.host.look();
                scene.host.take_calls();
            }
        }
    }
    assert!(news > 1_000, "{news}");
}
