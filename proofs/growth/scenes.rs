//! Thousands of behaviours.

use framestep::scene::{Behaviour, BehaviourHandle, Scene, SceneContext};

use super::{Subject, run_large, subject};

/// Destroys the one before it.
struct Segment(Option<BehaviourHandle<Segment>>);

impl Behaviour for Segment {
    fn on_destroy(&mut self, _: &SceneContext<'_, Self>) {
        if let Some(before) = &self.0 {
            before.destroy();
        }
    }
}

pub(super) const SUBJECTS: &[Subject] = &[subject(
    "a line of n behaviours, each destroyed by the next",
    50_000,
    |n| {
        let mut scene = Scene::new();
        let mut last = None;
        for _ in 0..n {
            last = Some(scene.add(Segment(last)));
        }
        last.expect("there are some").destroy();
        scene.run_frame(0.25);
        assert!(scene.is_empty());
    },
)];

#[test]
fn scenes_of_very_many_take_no_time() {
    run_large(SUBJECTS);
}
