//! The prelude beside that of an engine. That this compiles is part of the test.

/// Names of `bevy::prelude` and `macroquad::prelude` that the crate has, too.
mod engine {
    pub(crate) struct Time(pub(crate) f32);
    pub(crate) struct Handle<A>(pub(crate) A);
    pub(crate) struct State<S>(pub(crate) S);
    pub(crate) struct Interval(pub(crate) f32, pub(crate) f32);
    pub(crate) struct Changed<T>(pub(crate) T);
    pub(crate) struct Scene;

    pub(crate) fn interval(start: f32, end: f32) -> Interval {
        Interval(start, end)
    }

    pub(crate) fn next_frame() -> u32 {
        60
    }
}

mod game {
    use framestep::prelude::*;
    use framestep::{interval, next_frame};

    use super::engine;
    use super::engine::*;

    #[test]
    fn explicit_imports_win_over_the_engines_names_and_all_other_names_are_the_engines() {
        let mut executor = Executor::new();
        let ticks = executor.start(async {
            next_frame().await;
            interval(0.5).tick().await;
        });
        executor.run_until(ticks, 0.25).unwrap();
        assert_eq!(executor.time().frame, 3);

        let (Interval(start, end), 60) = (engine::interval(0.0, 1.0), engine::next_frame()) else {
            unreachable!()
        };
        let (Time(delta), Handle(asset), State(menu)) = (Time(0.25), Handle("door"), State(true));
        let (Changed(height), Scene) = (Changed(2.0), Scene);
        assert_eq!((start, end, delta), (0.0, 1.0, 0.25));
        assert_eq!((asset, menu, height), ("door", true, 2.0));
    }
}
