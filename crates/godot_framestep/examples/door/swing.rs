//! The script of a door, without an engine.

use std::future::Future;

use godot_framestep::prelude::*;

const SECONDS: f64 = 0.5;

/// Who came through the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    Somebody,
    Nobody,
}

/// Opens a door, waits until a body is `through`, for at most `patience` seconds, and
/// closes it. `turn` is called with how far the door is open, from 0 to 1.
pub(crate) async fn swing(
    mut turn: impl FnMut(f32),
    opened: impl FnOnce(),
    through: impl Future<Output = bool>,
    patience: f64,
) -> Passed {
    animate(SECONDS, &mut turn).await;
    opened();
    let passed = match timeout(patience, through).await {
        Ok(true) => Passed::Somebody,
        Ok(false) | Err(_) => Passed::Nobody,
    };
    animate(SECONDS, |part| turn(1.0 - part)).await;
    passed
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::future::pending;
    use std::rc::Rc;

    use super::*;

    /// How far the door is open, frame by frame, each a quarter of a second.
    fn angles(through: impl Future<Output = bool> + 'static) -> (Passed, Vec<f32>) {
        let (angle, said) = (Rc::new(RefCell::new(0.0)), Rc::new(RefCell::new(false)));
        let (hinge, is_open) = (angle.clone(), said.clone());
        let door = swing(
            move |part| *hinge.borrow_mut() = part,
            move || *is_open.borrow_mut() = true,
            through,
            1.0,
        );
        let mut executor = Executor::new();
        let door = executor.start(door);
        let mut angles = Vec::new();
        while !door.is_finished() {
            executor.run_frame(0.25);
            angles.push(*angle.borrow());
        }
        assert!(*said.borrow());
        let Some(Ok(passed)) = door.take_output() else {
            panic!("nothing stops it");
        };
        (passed, angles)
    }

    #[test]
    fn it_closes_when_somebody_is_through() {
        let through = async {
            wait_seconds(0.5).await;
            true
        };
        let (passed, angles) = angles(through);
        assert_eq!(passed, Passed::Somebody);
        assert_eq!(angles, [0.5, 1.0, 1.0, 1.0, 0.5, 0.0]);
    }

    #[test]
    fn it_closes_when_nobody_comes() {
        let (passed, angles) = angles(pending());
        assert_eq!(passed, Passed::Nobody);
        assert_eq!(angles, [0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.0]);
    }

    #[test]
    fn it_closes_at_once_if_the_doorway_is_gone() {
        let (passed, angles) = angles(async { false });
        assert_eq!(passed, Passed::Nobody);
        assert_eq!(angles, [0.5, 1.0, 0.5, 0.0]);
    }
}
