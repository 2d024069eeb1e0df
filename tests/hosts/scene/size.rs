//! Many behaviours, and no allocation.

use super::*;

/// Counts up in each callback, and once a frame in a coroutine.
struct Ant {
    steps: u64,
    all: Rc<Cell<u64>>,
}

impl Behaviour for Ant {
    fn start(&mut self, context: &SceneContext<'_, Self>) {
        let this = context.this();
        context.start(async move {
            loop {
                next_frame().await;
                this.with(|ant| ant.steps += 1);
            }
        });
    }

    fn update(&mut self, _: &SceneContext<'_, Self>) {
        self.steps += 1;
    }

    fn on_destroy(&mut self, _: &SceneContext<'_, Self>) {
        self.all.set(self.all.get() + self.steps);
    }
}

#[test]
fn ten_thousand_behaviours_come_act_and_go() {
    let mut scene = stage();
    let all = Rc::new(Cell::new(0));
    let ant = || Ant {
        steps: 0,
        all: all.clone(),
    };
    let ants: Vec<_> = (0..10_000).map(|_| scene.add(ant())).collect();
    frames(&mut scene, 3);
    assert_eq!(ants[9_999].with(|ant| ant.steps), 5); // the coroutine from frame 2 on
    for ant in ants.iter().step_by(2) {
        ant.destroy();
    }
    assert_eq!(scene.len(), 5_000);
    frames(&mut scene, 1);
    assert_eq!(all.get(), 5_000 * 7);
    assert_eq!(scene.executor().len(), 5_000);
    frames(&mut scene, 1);
    assert_eq!(ants[9_999].with(|ant| ant.steps), 9);
    drop(scene);
    assert_eq!(all.get(), 5_000 * 7 + 5_000 * 9);
}

#[test]
fn a_frame_allocates_nothing_in_the_steady_state() {
    let mut scene = stage();
    let all = Rc::new(Cell::new(0));
    for _ in 0..100 {
        scene.add(Ant {
            steps: 0,
            all: all.clone(),
        });
    }
    frames(&mut scene, 100);
    assert_eq!(allocations_of(|| frames(&mut scene, 100)), 0);
}

/// Starts a coroutine in every frame and is found by others.
struct Busy(Option<BehaviourHandle<Busy>>);

impl Behaviour for Busy {
    fn update(&mut self, context: &SceneContext<'_, Self>) {
        let this = context.this();
        context.start(async move {
            end_of_frame().await;
            this.with(|busy| busy.0 = None);
        });
        let first = context.scene().find::<Busy>();
        self.0 = first.filter(BehaviourHandle::is_alive);
    }
}

#[test]
fn coroutines_handles_and_searches_allocate_nothing_in_the_steady_state() {
    let mut scene = stage();
    for _ in 0..100 {
        scene.add(Busy(None));
    }
    frames(&mut scene, 100);
    assert_eq!(allocations_of(|| frames(&mut scene, 100)), 0);
}
