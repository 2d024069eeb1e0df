//! Reactors of `bevy_flurx`.

use std::time::Duration;

use bevy::prelude::*;
use bevy_flurx::prelude::*;

use crate::workload::{
    ENDED, FRAME, FRAMES_PER_SECOND, LONG, Level, News, Open, Position, RESUMED, Workload,
    despawn_all,
};

pub(super) fn add(app: &mut App, workload: Workload, scripts: u64) {
    app.add_plugins(FlurxPlugin);
    if workload == Workload::Empty {
        return;
    }
    if workload == Workload::Live {
        app.add_systems(PreUpdate, move |world: &mut World| {
            despawn_all(world);
            for _ in 0..scripts {
                world.spawn((Position::default(), Reactor::schedule(idle)));
            }
        });
        return;
    }
    // Reactors use schedules that the plugin records before the first frame.
    app.add_systems(Startup, move |mut commands: Commands| {
        for number in 0..scripts {
            match workload {
                Workload::Move => step(&mut commands),
                Workload::Frame => count_frames(&mut commands),
                Workload::Sleep => sleep(&mut commands),
                Workload::Fire => {
                    let first = FRAME * (number % FRAMES_PER_SECOND) as u32;
                    count_seconds(&mut commands, first);
                }
                Workload::Ask | Workload::Watch => ask(&mut commands),
                Workload::Change => await_change(&mut commands),
                Workload::Await => await_news(&mut commands),
                Workload::Hear | Workload::Poke | Workload::Live | Workload::Empty => {
                    unreachable!("it has no such reactors, or none yet")
                }
            }
        }
    });
}

/// The action runs in each frame, which is the fastest way. The row of [`count_frames`] has a
/// reactor that resumes in each frame.
fn step(commands: &mut Commands) {
    let entity = commands.spawn(Position::default()).id();
    commands.spawn(Reactor::schedule(move |task| async move {
        task.will(
            Update,
            wait::until(move |mut positions: Query<&mut Position>| {
                let mut position = positions.get_mut(entity).expect("it is never despawned");
                position.0 += 1;
                false
            }),
        )
        .await;
    }));
}

async fn idle(task: ReactorTask) {
    loop {
        task.will(Update, delay::frames().with(1)).await;
    }
}

fn count_frames(commands: &mut Commands) {
    commands.spawn(Reactor::schedule(|task| async move {
        loop {
            task.will(Update, delay::frames().with(1)).await;
            RESUMED.bump();
        }
    }));
}

fn sleep(commands: &mut Commands) {
    commands.spawn(Reactor::schedule(|task| async move {
        task.will(Update, delay::time().with(LONG)).await;
        ENDED.bump();
    }));
}

fn count_seconds(commands: &mut Commands, first: Duration) {
    commands.spawn(Reactor::schedule(move |task| async move {
        task.will(Update, delay::time().with(first)).await;
        loop {
            // It counts the frame in which the wait begins.
            task.will(Update, delay::time().with(Duration::from_secs(1) + FRAME))
                .await;
            RESUMED.bump();
        }
    }));
}

fn ask(commands: &mut Commands) {
    commands.spawn(Reactor::schedule(|task| async move {
        task.will(
            Update,
            wait::until(|open: Res<Open>| {
                RESUMED.bump();
                open.0
            }),
        )
        .await;
        ENDED.bump();
    }));
}

/// By hand: it has no wait for this.
fn await_change(commands: &mut Commands) {
    let entity = commands.spawn(Level::default()).id();
    commands.spawn(Reactor::schedule(move |task| async move {
        task.will(
            Update,
            wait::until(
                move |levels: Query<(), Changed<Level>>, mut has_run: Local<bool>| {
                    // For a system that runs for the first time, everything has changed.
                    let has_run = std::mem::replace(&mut *has_run, true);
                    levels.contains(entity) && has_run
                },
            ),
        )
        .await;
        ENDED.bump();
    }));
}

fn await_news(commands: &mut Commands) {
    commands.spawn(Reactor::schedule(|task| async move {
        task.will(Update, wait::message::comes::<News>()).await;
        ENDED.bump();
    }));
}
