//! A scene that prints the same bytes on every target, and what holds where there is
//! no clock.

use std::cell::{Cell, RefCell};
use std::fmt::{Display, Write as _};
use std::rc::Rc;
use std::time::Duration;

use framestep::inspect::Report;
use framestep::prelude::*;
use framestep::sync::Signal;
use framestep::task::Budget;
use framestep::{Executor, Owner, Phase, timeout};

/// What scripts say, with the frame and phase in which they do.
#[derive(Clone, Default)]
struct Log(Rc<RefCell<String>>);

impl Log {
    fn say(&self, text: impl Display) {
        let now = time();
        let phase = now
            .phase
            .map_or_else(|| "host".to_owned(), |phase| phase.to_string());
        let nanos = now.elapsed.as_nanos();
        self.note(format_args!("{:4} {phase:12} {nanos:12} {text}", now.frame));
    }

    fn note(&self, text: impl Display) {
        let _ = writeln!(self.0.borrow_mut(), "{text}");
    }
}

struct World {
    gold: u32,
}

async fn dig(log: Log) {
    for _ in 0..4 {
        wait_seconds(0.3).await;
        let gold = with(|world: &mut World| {
            world.gold += 10;
            world.gold
        });
        log.say(format_args!("{gold} gold"));
    }
}

async fn patrol(name: u32, log: Log) {
    let mut step = 0;
    loop {
        wait_seconds(0.1 + 0.01 * f64::from(name)).await;
        step += 1;
        log.say(format_args!("enemy {name} at {step}"));
    }
}

async fn physics(log: Log) {
    for step in 1.. {
        wait_steps(7).await;
        log.say(format_args!("step {step}: {} s", delta_seconds()));
    }
}

async fn search(budget: Budget, work: Rc<Cell<Duration>>, log: Log) {
    for node in 0..12 {
        work.set(work.get() + Duration::from_millis(1));
        budget.checkpoint().await;
        log.say(format_args!("node {node}"));
    }
}

async fn menu(log: Log, opened: Signal<u32>) {
    let which = opened.wait().await;
    animate(0.25, |t| log.say(format_args!("menu {which} at {t}"))).await;
    let answer = timeout(0.2, std::future::pending::<()>()).await;
    log.say(format_args!("{}", answer.unwrap_err()));
}

struct Scene {
    executor: Executor,
    enemies: Owner,
    ui: Owner,
    opened: Signal<u32>,
    log: Log,
}

fn scene() -> Scene {
    // Time that passes when a script works, since there may be no clock.
    let work = Rc::new(Cell::new(Duration::ZERO));
    let stopwatch = work.clone();
    let executor = Executor::builder()
        .stopwatch(move || stopwatch.get())
        .slow_poll(0.003)
        .build();
    let log = Log::default();
    let hear = log.clone();
    executor.on_report(move |report| hear.note(report));
    let slow = executor.clock().child();
    slow.set_scale(0.7);
    let enemies = executor.owner_on(&slow);
    for name in 0..3 {
        enemies.start(patrol(name, log.clone()));
    }
    executor.spawn(dig(log.clone())).named("miner");
    executor
        .script("")
        .in_phase(Phase::FixedUpdate)
        .spawn(physics(log.clone()))
        .named("physics");
    let budget = Budget::new(0.004);
    executor
        .spawn(search(budget.clone(), work.clone(), log.clone()))
        .named("path");
    executor
        .spawn(search(budget, work.clone(), log.clone()))
        .named("other path");
    let late = log.clone();
    executor
        .start(async move {
            wait_seconds(0.5).await;
            // Too much for one poll.
            work.set(work.get() + Duration::from_millis(9));
            select! {
                () = wait_seconds(0.4) => late.say("the first branch"),
                () = wait_seconds(0.3) => late.say("the second branch"),
            }
        })
        .named("late");
    let opened = Signal::new();
    let ui = executor.owner_on(&executor.realtime());
    ui.start(menu(log.clone(), opened.clone())).named("menu");
    executor.on_wake(|| ());
    executor
        .remote()
        .spawn_in(Phase::LateUpdate, || async { wait_frames(3).await });
    executor.remote().call(|| drop(spawn(wait_seconds(2))));
    Scene {
        executor,
        enemies,
        ui,
        opened,
        log,
    }
}

/// Ninety frames of the scene, of lengths that are no round numbers.
pub fn trace() -> String {
    let Scene {
        mut executor,
        enemies,
        ui,
        opened,
        log,
    } = scene();
    let mut world = World { gold: 0 };
    let mut random: u32 = 0x2545_f491;
    for frame in 1..=90 {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        match frame {
            20 => opened.emit(7),
            22 => drop(executor.clock().pause()),
            35 => drop(executor.clock().resume()),
            50 => drop(enemies.pause()),
            60 => drop(enemies.resume()),
            70 => executor.clock().set_scale(1.5),
            80 => enemies.stop_all(),
            85 => ui.stop_all(),
            _ => {}
        }
        let dt = if frame == 65 {
            f32::NAN
        } else {
            f32::from(u16::try_from(random % 400).unwrap_or(0)) / 9_973.0
        };
        executor.lend(&mut world, |executor| executor.run_frame(dt));
    }
    log.note(executor.snapshot());
    let time = executor.time();
    log.note(format_args!("{time:?}, {} gold", world.gold));
    log.0.take()
}

/// What a target without a clock and without a standard error does: nothing panics,
/// jobs with a budget of time make one step a frame, and no poll is slow.
pub fn works_without_clock() -> bool {
    let mut executor = Executor::builder().slow_poll(0).build();
    let (frames, slow) = (Rc::new(RefCell::new(Vec::new())), Rc::new(Cell::new(false)));
    // Printed, if there is anything to print to.
    executor.run_frame(f32::NAN);
    let hear = slow.clone();
    executor.on_report(move |report| hear.set(matches!(report, Report::SlowPoll { .. })));
    let log = frames.clone();
    executor.start(async move {
        let budget = Budget::new(1);
        for _ in 0..3 {
            budget.checkpoint().await;
            log.borrow_mut().push(time().frame);
        }
    });
    for _ in 0..5 {
        executor.run_frame(0.25);
    }
    *frames.borrow() == [2, 3, 4] && !slow.get() && executor.is_empty()
}
