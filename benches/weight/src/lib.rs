//! A hundred plain scripts, as a game has them: a condition, an animation, a `select!`, a
//! started child, and lent state in each.
//!
//! Each script has closures and futures of its own. So the compiler makes a copy of each
//! generic function of framestep for each script. `weigh.sh` counts what that costs.

#![allow(
    missing_docs,
    missing_debug_implementations,
    reason = "nobody calls it"
)]

use framestep::prelude::*;

/// The state that the host lends.
#[derive(Debug, Default)]
pub struct World {
    pub score: u32,
    pub door: f32,
    pub log: Vec<u32>,
}

macro_rules! script {
    ($number:expr) => {
        use framestep::prelude::*;

        use crate::World;

        const NUMBER: u32 = $number;

        async fn script(hits: Signal<u32>) -> u32 {
            wait_until(|| with_ref(|world: &World| world.score >= NUMBER)).await;
            let child = start(child());
            animate(0.5, |share| {
                with(|world: &mut World| world.door = share);
            })
            .await;
            select! {
                () = wait_seconds(2) => with(|world: &mut World| world.score += 1),
                hit = hits.wait() => with(|world: &mut World| world.score += hit),
            }
            let found = child.await.unwrap_or(0);
            with(|world: &mut World| world.log.push(found));
            found
        }

        async fn child() -> u32 {
            for _ in 0..3 {
                next_frame().await;
                with(|world: &mut World| world.score += NUMBER);
            }
            NUMBER
        }

        pub(crate) fn spawn_on(executor: &Executor, hits: &Signal<u32>) {
            executor.spawn(script(hits.clone()));
        }
    };
}

macro_rules! ten_scripts {
    ($tens:expr) => {
        ten_scripts! {
            $tens,
            zero 0, one 1, two 2, three 3, four 4, five 5, six 6, seven 7, eight 8, nine 9
        }
    };
    ($tens:expr, $($name:ident $units:expr),+) => {
        $( mod $name {
            script!($tens * 10 + $units);
        } )+

        use framestep::prelude::*;

        pub(crate) fn spawn_on(executor: &Executor, hits: &Signal<u32>) {
            $( $name::spawn_on(executor, hits); )+
        }
    };
}

macro_rules! hundred_scripts {
    ($($name:ident $tens:expr),+) => {
        $( mod $name {
            ten_scripts!($tens);
        } )+

        /// Spawns all of the scripts.
        pub fn spawn_on(executor: &Executor, hits: &Signal<u32>) {
            $( $name::spawn_on(executor, hits); )+
        }
    };
}

hundred_scripts! {
    zero 0, ten 1, twenty 2, thirty 3, forty 4, fifty 5, sixty 6, seventy 7, eighty 8, ninety 9
}
