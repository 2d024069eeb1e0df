//! The prelude beside those of engines. These modules contain the names that
//! clash. That a module compiles is part of its test.

use std::cell::Cell;
use std::rc::Rc;

/// Names of `macroquad::prelude`.
mod macroquad {
    pub(crate) mod window {
        /// Waits for the next frame of the engine's main loop, not of the
        /// executor.
        pub(crate) fn next_frame() -> std::future::Pending<()> {
            std::future::pending()
        }

        pub(crate) fn get_fps() -> i32 {
            60
        }
    }

    pub(crate) mod prelude {
        pub(crate) use super::window::*;
    }
}

/// Names of `bevy::prelude`.
mod bevy {
    pub(crate) mod prelude {
        pub(crate) struct Interval(pub(crate) f32, pub(crate) f32);

        pub(crate) fn interval(start: f32, end: f32) -> Interval {
            Interval(start, end)
        }

        pub(crate) struct Time(pub(crate) f32);

        pub(crate) struct Handle<A>(pub(crate) A);

        pub(crate) struct State<S>(pub(crate) S);

        pub(crate) struct Changed<T>(pub(crate) T);

        pub(crate) struct Scene;
    }
}

mod beside_macroquad {
    use framestep::next_frame;
    use framestep::prelude::*;

    use super::macroquad::prelude::*;
    use super::{Cell, Rc};

    #[test]
    fn an_explicit_import_of_next_frame_wins() {
        let mut executor = Executor::new();
        let script = executor.start(async {
            next_frame().await;
            time().frame
        });
        executor.run_frame(0.25);
        assert!(script.is_finished());
        assert_eq!(get_fps(), 60); // the glob import of the engine is in use
    }

    #[test]
    fn the_name_of_the_engine_is_written_with_its_path() {
        let mut executor = Executor::new();
        let begun = Rc::new(Cell::new(false));
        let script = executor.start({
            let begun = begun.clone();
            async move {
                begun.set(true);
                super::macroquad::window::next_frame().await;
            }
        });
        // As the documentation warns, nothing wakes this script.
        (0..8).for_each(|_| executor.run_frame(0.25));
        assert!(begun.get());
        assert!(!script.is_finished());
    }
}

mod engine_first {
    use super::macroquad::prelude::*;

    use framestep::next_frame;
    use framestep::prelude::*;

    #[test]
    fn an_explicit_import_wins_in_any_order() {
        let mut executor = Executor::new();
        let script = executor.start(async { next_frame().await });
        executor.run_frame(0.25);
        assert!(script.is_finished());
        assert_eq!(get_fps(), 60); // the glob import of the engine is in use
    }
}

mod beside_bevy {
    use framestep::interval;
    use framestep::prelude::*;

    use super::bevy::prelude::*;

    #[test]
    fn an_explicit_import_of_interval_wins() {
        let mut executor = Executor::new();
        let ticks = executor.start(async {
            let mut interval = interval(0.5);
            interval.tick().await;
            interval.tick().await;
        });
        executor.run_until(ticks, 0.25).unwrap();
        assert_eq!(executor.time().frame, 4);
    }

    #[test]
    fn the_names_of_other_things_are_those_of_the_engine() {
        let Time(delta) = Time(0.25);
        let Handle(asset) = Handle("door");
        let State(menu) = State(true);
        let Interval(start, end) = super::bevy::prelude::interval(0.0, 1.0);
        assert_eq!((start, end), (0.0, 1.0));
        let Changed(height) = Changed(2.0);
        let Scene = Scene;
        assert_eq!((delta, asset, menu, height), (0.25, "door", true, 2.0));
    }
}
