//! A hundred durable scripts with a child each: what the plain scripts of `weight` do, line for
//! line. `weigh.sh` counts their code.

#![allow(
    missing_docs,
    missing_debug_implementations,
    reason = "nobody calls it"
)]

use framestep_durable::prelude::*;

/// The state that the host lends.
#[derive(Debug, Default)]
pub struct World {
    pub score: u32,
    pub door: f32,
    pub log: Vec<u32>,
}

/// What the scripts wait for.
pub const HITS: Signal<u32> = signal("hits");

macro_rules! script {
    ($number:expr) => {
        use framestep_durable::prelude::*;

        use crate::{HITS, World};

        const NUMBER: u32 = $number;

        #[durable(name = concat!("script ", stringify!($number)))]
        pub(super) async fn script() -> u32 {
            wait_until(|| with_ref(|world: &World| world.score >= NUMBER)).await;
            let child = start(child(NUMBER));
            animate(0.5, |share| {
                with(|world: &mut World| world.door = share);
            })
            .await;
            select! {
                () = wait_seconds(2) => with(|world: &mut World| world.score += 1),
                hit = HITS.wait() => with(|world: &mut World| world.score += hit),
            }
            let found = child.await.unwrap_or(0);
            with(|world: &mut World| world.log.push(found));
            found
        }

        #[durable(name = concat!("child ", stringify!($number)))]
        pub(super) async fn child(number: u32) -> u32 {
            for _ in 0..3 {
                next_frame().await;
                with(|world: &mut World| world.score += number);
            }
            number
        }

        pub(crate) fn know(registry: Registry) -> Registry {
            registry.script(script).script(child)
        }

        pub(crate) fn spawn_on(runtime: &Runtime) {
            runtime.spawn(script()).detach();
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

        use framestep_durable::prelude::*;

        pub(crate) fn know(mut registry: Registry) -> Registry {
            $( registry = $name::know(registry); )+
            registry
        }

        pub(crate) fn spawn_on(runtime: &Runtime) {
            $( $name::spawn_on(runtime); )+
        }
    };
}

macro_rules! hundred_scripts {
    ($($name:ident $tens:expr),+) => {
        $( mod $name {
            ten_scripts!($tens);
        } )+

        /// Adds all of the scripts to a registry.
        #[must_use]
        pub fn know(mut registry: Registry) -> Registry {
            $( registry = $name::know(registry); )+
            registry
        }

        /// Spawns all of the scripts.
        pub fn spawn_on(runtime: &Runtime) {
            $( $name::spawn_on(runtime); )+
        }
    };
}

hundred_scripts! {
    zero 0, ten 1, twenty 2, thirty 3, forty 4, fifty 5, sixty 6, seventy 7, eighty 8, ninety 9
}
