//! The clocks of the scripts against Bevy's, to the nanosecond.

use std::time::Duration;

use bevy_app::{App, FixedMain, FixedUpdate, Last, PreUpdate, Startup, Update};
use bevy_ecs::prelude::*;
use bevy_framestep::prelude::*;
use bevy_framestep::{Framestep, run_scripts};
use bevy_time::{Fixed, Real, Time, TimeUpdateStrategy, Virtual};

use super::{app, every_update_takes, log, take_log};

const NANOSECOND: Duration = Duration::from_nanos(1);

/// Relative speeds, with some that are not exact in binary.
const SPEEDS: [f64; 7] = [0.0, 0.1, 0.3, 1.0, 1.0 / 3.0, 2.5, 7.77];

/// A small generator, the same on every machine: xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u32) -> u32 {
        u32::try_from(self.next() % u64::from(limit)).unwrap()
    }

    /// A length of less than this many nanoseconds.
    fn length(&mut self, limit: u32) -> Duration {
        Duration::from_nanos(self.below(limit).into())
    }
}

/// How often the clocks were compared, by place.
#[derive(Resource, Default)]
struct Compared {
    frames: u32,
    steps: u32,
    scripts_in_frames: u32,
    scripts_in_steps: u32,
}

fn in_frame(
    scripts: NonSend<Framestep>,
    real: Res<Time<Real>>,
    game: Res<Time<Virtual>>,
    mut compared: ResMut<Compared>,
) {
    let time = scripts.handle().time().unwrap();
    assert_eq!(time.unscaled_elapsed.as_nanos(), real.elapsed().as_nanos());
    assert_eq!(time.unscaled_delta.as_nanos(), real.delta().as_nanos());
    assert_eq!(time.elapsed.as_nanos(), game.elapsed().as_nanos());
    assert_eq!(time.delta.as_nanos(), game.delta().as_nanos());
    compared.frames += 1;
}

fn in_step(scripts: NonSend<Framestep>, fixed: Res<Time<Fixed>>, mut compared: ResMut<Compared>) {
    let time = scripts.handle().time().unwrap();
    assert_eq!(time.fixed_elapsed.as_nanos(), fixed.elapsed().as_nanos());
    assert_eq!(time.elapsed.as_nanos(), fixed.elapsed().as_nanos());
    assert_eq!(time.delta.as_nanos(), fixed.delta().as_nanos());
    assert_eq!(time.fixed_delta.as_nanos(), fixed.delta().as_nanos());
    compared.steps += 1;
}

async fn compare_frames() {
    loop {
        next_frame().await;
        let time = time();
        resource(|now: &Time| {
            assert_eq!(time.elapsed.as_nanos(), now.elapsed().as_nanos());
            assert_eq!(time.delta.as_nanos(), now.delta().as_nanos());
        });
        resource_mut(|compared: &mut Compared| compared.scripts_in_frames += 1);
    }
}

async fn compare_steps() {
    loop {
        fixed_update().await;
        let time = time();
        resource(|now: &Time| {
            assert_eq!(time.elapsed.as_nanos(), now.elapsed().as_nanos());
            assert_eq!(time.delta.as_nanos(), now.delta().as_nanos());
        });
        resource_mut(|compared: &mut Compared| compared.scripts_in_steps += 1);
    }
}

/// Waits for random lengths in nanoseconds, and checks that each wait ends in the first frame
/// (step) at or past its deadline on Bevy's clock.
async fn wait_exactly(phase: Phase, mut random: Random) {
    loop {
        let length = NANOSECOND + random.length(400_000_000);
        let deadline = resource(|now: &Time| now.elapsed()) + length;
        wait_seconds(length).in_phase(phase).await;
        let (now, delta) = resource(|now: &Time| (now.elapsed(), now.delta()));
        assert!(now >= deadline, "{now:?} is before {deadline:?}");
        let before = now.saturating_sub(delta);
        assert!(before < deadline, "{before:?} was at {deadline:?} already");
        resource_mut(|compared: &mut Waited| compared.0 += 1);
    }
}

#[derive(Resource, Default)]
struct Waited(u32);

fn change_something(app: &mut App, random: &mut Random) {
    let dt = match random.below(20) {
        0 => Duration::ZERO,
        1 => random.length(3_000_000_000),
        2 => NANOSECOND,
        _ => Duration::from_millis(1) + random.length(40_000_000),
    };
    every_update_takes(app, dt);
    let world = app.world_mut();
    match random.below(40) {
        0 => world.resource_mut::<Time<Virtual>>().pause(),
        1..=3 => world.resource_mut::<Time<Virtual>>().unpause(),
        4 => {
            let speed = SPEEDS[usize::try_from(random.below(7)).unwrap()];
            world
                .resource_mut::<Time<Virtual>>()
                .set_relative_speed_f64(speed);
        }
        5 => {
            let longest = NANOSECOND + random.length(600_000_000);
            world.resource_mut::<Time<Virtual>>().set_max_delta(longest);
        }
        6 => {
            let step = Duration::from_millis(5) + random.length(60_000_000);
            world.resource_mut::<Time<Fixed>>().set_timestep(step);
        }
        7 => {
            // Rollback, or a tool that steps: the clock, then the schedule.
            for _ in 0..random.below(4) {
                let mut fixed = world.resource_mut::<Time<Fixed>>();
                let step = fixed.timestep();
                fixed.advance_by(step);
                let now = world.resource::<Time<Fixed>>().as_generic();
                *world.resource_mut::<Time>() = now;
                world.run_schedule(FixedMain);
            }
            let now = world.resource::<Time<Virtual>>().as_generic();
            *world.resource_mut::<Time>() = now;
        }
        8 => {
            let discarded = random.length(20_000_000);
            world
                .resource_mut::<Time<Fixed>>()
                .discard_overstep(discarded);
        }
        9 => world.insert_resource(TimeUpdateStrategy::FixedTimesteps(1 + random.below(3))),
        _ => {}
    }
}

/// Twenty thousand frames in which everything about Bevy's clocks changes.
#[test]
fn the_clocks_are_bevys() {
    let mut app = app();
    app.init_resource::<Compared>().init_resource::<Waited>();
    app.add_systems(PreUpdate, in_frame)
        .add_systems(Update, in_frame)
        .add_systems(Last, in_frame)
        .add_systems(FixedUpdate, in_step);
    app.world_mut().start_script(compare_frames);
    app.world_mut().start_script(compare_steps);
    app.world_mut()
        .start_script(|| wait_exactly(Phase::Update, Random(77)));
    app.world_mut()
        .start_script(|| wait_exactly(Phase::FixedUpdate, Random(78)));

    let mut random = Random(0x5eed_f00d_1234_5678);
    for _ in 0..20_000 {
        change_something(&mut app, &mut random);
        app.update();
    }

    let compared = app.world().resource::<Compared>();
    assert_eq!(compared.frames, 60_000);
    assert_eq!(compared.scripts_in_frames, 20_000);
    assert!(compared.steps > 10_000, "{} steps", compared.steps);
    assert_eq!(compared.scripts_in_steps, compared.steps);
    let waited = app.world().resource::<Waited>().0;
    assert!(waited > 1_000, "{waited} waits");
    assert_eq!(super::alive(&app), 4, "a script has failed");
}

/// The pause of the game holds its scripts, but not its menus.
#[test]
fn pause_and_speed() {
    let mut app = app();
    app.world_mut().start_script(|| async {
        wait_seconds(1).await;
        log(format!("game in frame {}", time().frame));
    });
    app.world_mut().start_script(|| async {
        wait_seconds_realtime(1).await;
        log(format!("menu in frame {}", time().frame));
    });
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    for _ in 0..5 {
        app.update();
    }
    assert_eq!(take_log(&mut app), ["menu in frame 5"]);

    let mut game = app.world_mut().resource_mut::<Time<Virtual>>();
    game.unpause();
    game.set_relative_speed(0.5);
    for _ in 0..7 {
        app.update();
    }
    assert_eq!(take_log(&mut app), [""; 0]);
    app.update();
    assert_eq!(take_log(&mut app), ["game in frame 13"]);
}

/// Bevy clamps after scaling: a frame of 2 s at double speed takes 250 ms of game time.
#[test]
fn clamp_at_run_time() {
    let mut app = app();
    every_update_takes(&mut app, Duration::from_secs(2));
    app.world_mut()
        .resource_mut::<Time<Virtual>>()
        .set_relative_speed(2.0);
    let elapsed = |app: &App| {
        let time = app.world().non_send::<Framestep>().handle().time().unwrap();
        (time.elapsed.as_millis(), time.unscaled_elapsed.as_millis())
    };
    app.update();
    app.update();
    assert_eq!(elapsed(&app), (250, 2000));
    let longest = Duration::from_secs(3);
    app.world_mut()
        .resource_mut::<Time<Virtual>>()
        .set_max_delta(longest);
    app.update();
    assert_eq!(elapsed(&app), (3250, 4000));
}

/// A script in `Startup` begins before the first frame, which takes no time in Bevy. A second
/// from then on is that frame and four frames of a quarter second.
#[test]
fn startup_is_before_the_first_frame() {
    fn begin(mut commands: Commands) {
        commands.start_script(|| async {
            log(format!("begun in frame {}", time().frame));
            next_frame().await;
            log(format!("next frame is {}", time().frame));
        });
        commands.start_script(|| async {
            wait_seconds(1).await;
            log(format!("a second later in frame {}", time().frame));
        });
    }
    let mut app = app();
    app.add_systems(Startup, begin);
    app.update();
    assert_eq!(take_log(&mut app), ["begun in frame 0", "next frame is 1"]);
    for _ in 0..3 {
        app.update();
    }
    assert_eq!(take_log(&mut app), [""; 0]);
    app.update();
    assert_eq!(take_log(&mut app), ["a second later in frame 5"]);
}

/// Fixed steps that are run by hand, outside of a frame, advance what waits for steps.
#[test]
fn fixed_steps_by_hand() {
    let mut app = app();
    let script = app.world_mut().start_script(|| async {
        wait_steps(3).await;
        assert_eq!(time().fixed_elapsed.as_millis(), 375);
    });
    let timed = app
        .world_mut()
        .start_script(|| wait_seconds(0.375).in_phase(Phase::FixedUpdate));
    for _ in 0..3 {
        assert!(!script.is_finished() && !timed.is_finished());
        let step = Duration::from_millis(125);
        app.world_mut()
            .resource_mut::<Time<Fixed>>()
            .advance_by(step);
        app.world_mut().run_schedule(FixedMain);
    }
    assert!(script.is_finished() && timed.is_finished());
    let time = app.world().non_send::<Framestep>().handle().time().unwrap();
    assert_eq!(time.frame, 0);
    assert!(time.elapsed.is_zero(), "the frame's time is read again");
}

/// When a clock is set back, as in a rollback, only its latest step counts.
#[test]
fn a_clock_that_is_set_back() {
    let mut app = app();
    for _ in 0..5 {
        app.update();
    }
    let fixed = |app: &App| {
        let time = app.world().non_send::<Framestep>().handle().time().unwrap();
        time.fixed_elapsed.as_millis()
    };
    assert_eq!(fixed(&app), 1000);
    let mut restored = Time::<Fixed>::from_seconds(0.125);
    restored.advance_by(Duration::from_millis(500));
    app.insert_resource(restored);
    for expected in [1125, 1250] {
        let step = Duration::from_millis(125);
        app.world_mut()
            .resource_mut::<Time<Fixed>>()
            .advance_by(step);
        app.world_mut().run_schedule(FixedMain);
        assert_eq!(fixed(&app), expected);
    }
}

/// The plugin can be added late: earlier readings of the clocks do not count.
#[test]
fn a_plugin_that_comes_late() {
    let mut app = App::new();
    app.add_plugins(bevy_time::TimePlugin);
    every_update_takes(&mut app, Duration::from_millis(250));
    app.update();
    app.add_plugins(FramestepPlugin::default());
    app.update();
    let time = app.world().non_send::<Framestep>().handle().time().unwrap();
    assert_eq!(time.elapsed.as_millis(), 250);
    assert_eq!(time.frame, 1);
    run_scripts(app.world_mut(), Phase::Update);
}

/// A tool, or a load from a file, moves a clock forward: the scripts follow, even where the
/// clock's latest delta does not show it.
#[test]
fn a_clock_that_is_moved_forward() {
    let mut app = app();
    app.update();
    let loaded = app
        .world_mut()
        .start_script(|| async { wait_seconds(10).await });
    let moved = Duration::from_millis(9_750);
    app.world_mut()
        .resource_mut::<Time<Virtual>>()
        .advance_by(moved);
    assert!(!loaded.is_finished());
    app.update();
    assert!(loaded.is_finished());
    let game = app.world().resource::<Time<Virtual>>().elapsed();
    let time = app.world().non_send::<Framestep>().handle().time().unwrap();
    assert_eq!(game, Duration::from_secs(10));
    assert_eq!(time.elapsed, game);
}
