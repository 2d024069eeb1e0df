//! Groups and `when_each`: saved, rolled back and replayed in the middle.

use framestep_durable::prelude::*;
use futures::StreamExt;

use crate::twin::{Game, Log, MOMENTS, log, moment, quiet, what};

#[derive(Clone, Serialize, Deserialize)]
struct Goblin {
    frames: u64,
    fails: bool,
}

fn goblin(frames: u64) -> Goblin {
    let fails = false;
    Goblin { frames, fails }
}

impl DurableScript for Goblin {
    const NAME: &'static str = "goblin";
    type Output = Result<u64, String>;

    async fn run(self) -> Chapter<Self> {
        let frames = self.frames;
        let _guard = defer(move |log: &mut Log| log.push(format!("{frames} leaves")));
        wait_frames(frames).await;
        assert!(frames != 7, "seven");
        Chapter::Done(if self.fails {
            Err(format!("{frames} fails"))
        } else {
            Ok(frames)
        })
    }
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum Plays {
    All,
    Panics,
    Fails,
    Stopped,
    Dropped,
    Empty,
    Each,
    EachAtOnce,
    EachStops,
}

const ALL: [Plays; 9] = [
    Plays::All,
    Plays::Panics,
    Plays::Fails,
    Plays::Stopped,
    Plays::Dropped,
    Plays::Empty,
    Plays::Each,
    Plays::EachAtOnce,
    Plays::EachStops,
];

impl DurableScript for Plays {
    const NAME: &'static str = "plays";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let mut goblins = group();
        match self {
            Plays::All => {
                for frames in [3, 1, 2] {
                    goblins.start(goblin(frames));
                }
                log(format!("{} {:?}", goblins.len(), goblins.join().await));
            }
            Plays::Panics => {
                goblins.start(goblin(9));
                goblins.spawn(goblin(7));
                goblins.start(goblin(8));
                log(format!("{:?}", goblins.join().await));
            }
            Plays::Fails => {
                goblins.start(goblin(2));
                goblins.start(goblin(9));
                let fails = true;
                goblins.add(spawn_in(Phase::LateUpdate, Goblin { frames: 4, fails }));
                log(format!("{:?}", goblins.try_join().await));
            }
            Plays::Stopped => {
                let id = goblins.start(goblin(9)).id();
                goblins.start(goblin(8));
                let both = join!(goblins.join(), async {
                    wait_frames(3).await;
                    stop(id)
                });
                log(format!("{both:?}"));
            }
            Plays::Dropped => {
                goblins.start(goblin(9));
                goblins.start(goblin(8));
                log(format!("{:?}", timeout(0.3, goblins.join()).await.is_err()));
                next_frame().await;
            }
            Plays::Empty => log(format!(
                "{:?} {:?}",
                goblins.is_empty(),
                goblins.join().await
            )),
            Plays::Each => {
                let each = when_each([5, 2, 4, 7].map(|frames| start(goblin(frames))));
                let ends: Vec<_> = each.collect().await;
                log(format!("{ends:?}"));
            }
            Plays::EachAtOnce => {
                // All have begun; some end while the script waits for something else.
                let mut each = when_each([6, 4, 2, 5].map(|frames| start(goblin(frames))));
                log(format!("{:?}", each.next().await));
                wait_frames(9).await;
                while let Some(end) = each.next().await {
                    log(format!("{end:?}"));
                }
            }
            Plays::EachStops => {
                let goblins = [9, 8, 6].map(|frames| start(goblin(frames)).stop_on_drop());
                let ids = [0, 1, 2].map(|index| goblins[index].id());
                let mut each = when_each(goblins);
                let early = timeout(0.2, each.next()).await.is_err();
                log(format!("{early} {} {}", stop(ids[1]), stop(ids[0])));
                log(format!("{:?} {:?}", each.next().await, each.next().await));
                drop(each);
                next_frame().await;
            }
        }
        Chapter::Done(())
    }
}

fn blank() -> Runtime {
    quiet(Registry::new().with::<Goblin>().with::<Plays>())
}

#[test]
fn groups_are_joined_and_stopped_alike_after_each_save() {
    let game = Game {
        blank,
        begin: |runtime, log| {
            runtime.lend(log, |runtime| {
                for (plays, phase) in ALL
                    .into_iter()
                    .zip([Phase::Update, Phase::LateUpdate].into_iter().cycle())
                {
                    runtime.enter(|| start_in(phase, plays)).detach();
                }
            });
        },
        frame: moment,
        frames: 12 * MOMENTS,
    };
    let end = game.assert_like_its_twin();
    let lines = what(&end);
    for expected in [
        "3 Ok([Ok(3), Ok(1), Ok(2)])",
        "Err(Panicked(\"seven\"))",
        "Ok(Err(\"4 fails\"))",
        "true Ok([])",
        "[(1, Ok(Ok(2))), (2, Ok(Ok(4))), (0, Ok(Ok(5))), (3, Err(Panicked(\"seven\")))]",
        "Some((2, Ok(Ok(2))))",
    ] {
        assert!(lines.contains(&expected), "{expected}: {lines:#?}");
    }
    // In the order of the ends, not of the handles.
    let order = [
        "Some((2, Ok(Ok(2",
        "(1, Ok(Ok(4",
        "(3, Ok(Ok(5",
        "(0, Ok(Ok(6",
    ];
    let at = order.map(|end| lines.iter().position(|line| line.starts_with(end)).unwrap());
    assert!(at.is_sorted(), "{lines:#?}");
    assert!(lines.contains(&"true true true"), "{lines:#?}");
    assert!(game.play().0.scripts().is_empty());
}

#[test]
fn groups_and_each_end_work_in_plain_scripts() {
    async fn helper() -> (Vec<u64>, Vec<usize>) {
        let mut goblins = group();
        for frames in [2, 1] {
            goblins.start(goblin(frames));
        }
        let values = goblins.try_join().await.unwrap().unwrap();
        let mut each = when_each([3, 1, 2].map(|frames| start(goblin(frames))));
        let mut order = Vec::new();
        while let Some((index, _)) = each.next().await {
            order.push(index);
        }
        (values, order)
    }

    let mut executor = framestep::Executor::new();
    let mut log = Log::new();
    let helper = executor.start(helper());
    for _ in 0..6 {
        executor.run_frame_with(&mut log, 0.1);
    }
    let (values, order) = helper.take_output().unwrap().unwrap();
    assert_eq!((values, order), (vec![2, 1], vec![1, 2, 0]));
    assert!(executor.is_empty());
}
