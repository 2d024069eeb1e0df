//! What another thread sees of the script that runs, and what is told about scripts that have panicked: for
//! `framestep_live`.

use std::thread;

use framestep_durable::__private::{Running, Watched, watch_this_thread};
use framestep_durable::prelude::*;

/// What another thread sees now.
fn seen(watched: &'static Watched) -> Option<Running> {
    thread::spawn(|| watched.running()).join().unwrap()
}

#[durable]
async fn miner(_depth: u32) {
    with(look);
    wait_seconds(1).await;
    for _ in 0..2 {
        with(look);
    }
    panic!("the lamp is out");
}

/// The world: what another thread has seen in each `with`.
type Seen = Vec<Option<Running>>;

fn look(world: &mut Seen) {
    world.push(seen(watch_this_thread()));
}

/// Only builds with debug assertions tell.
#[cfg(debug_assertions)]
#[test]
fn another_thread_sees_which_statement_of_which_script_runs() {
    let watched = watch_this_thread();
    assert_eq!(seen(watched), None);
    let mut runtime = Runtime::new(Registry::new().script(miner));
    runtime.executor().on_report(|_| ());
    runtime.spawn(miner(3)).detach();
    let mut world = Seen::new();
    for _ in 0..6 {
        runtime.run_frame_with(&mut world, 0.25);
    }
    let lines: Vec<_> = world
        .iter()
        .flatten()
        .map(|it| {
            let place = it.place.as_deref().unwrap();
            (
                &*it.script,
                place.rsplit_once(':').unwrap().1.parse::<u32>().unwrap(),
            )
        })
        .collect();
    let first = lines[0].1;
    assert_eq!(
        lines,
        [
            ("`miner` (#1)", first),
            ("`miner` (#1)", first + 3),
            ("`miner` (#1)", first + 3),
        ]
    );
    let polls: Vec<_> = world.iter().flatten().map(|it| it.entered).collect();
    assert!(polls[0] < polls[1] && polls[1] == polls[2], "{polls:?}");
    assert_eq!(seen(watched), None, "between two frames");
}

#[test]
fn a_script_that_has_panicked_is_told_with_its_frame_and_statement() {
    let mut runtime = Runtime::new(Registry::new().script(miner));
    runtime.executor().on_report(|_| ());
    let kept = runtime.spawn(miner(3));
    assert_eq!(runtime.valid_handles(), 1);
    for _ in 0..6 {
        runtime.run_frame_with(&mut Seen::new(), 0.25);
    }
    let told = runtime.panicked_since(0);
    let [panicked] = &*told else {
        panic!("{told:?}");
    };
    assert_eq!(
        (panicked.name, panicked.frame, panicked.count),
        ("miner", 5, 1)
    );
    assert_eq!(panicked.text, "the lamp is out");
    let statement = panicked.statement.as_deref().unwrap();
    assert!(
        statement.starts_with(&file!().replace('\\', "/")),
        "{statement}"
    );
    assert!(runtime.panicked_since(1).is_empty());
    drop(kept);
    assert_eq!(runtime.valid_handles(), 0);
}

#[test]
fn parameters_that_the_new_code_does_not_have_are_told() {
    #[allow(dead_code, reason = "its code is replayed, and not started")]
    mod newer {
        use framestep_durable::prelude::*;

        #[derive(Serialize, Deserialize)]
        pub(super) struct Lamp {
            pub(super) oil: u32,
        }

        #[durable]
        pub(super) async fn guard(#[serde(alias = "_post")] _place: u32, _lamp: Option<Lamp>) {
            wait_seconds(1).await;
        }
    }
    #[derive(Serialize, Deserialize)]
    struct Lamp {
        oil: u32,
        is_lit: bool,
    }
    #[durable]
    async fn guard(_name: String, _post: u32, _lamp: Lamp) {
        wait_seconds(1).await;
    }
    let registry = Registry::new().script(guard);
    let runtime = Runtime::new(registry.clone());
    let lamp = Lamp {
        oil: 3,
        is_lit: true,
    };
    runtime.start(guard("Ann".to_owned(), 7, lamp)).detach();
    let save = runtime.save().unwrap().described(&registry).unwrap();
    assert_eq!(registry.parameters_lost_of(&save), []);
    let lost = Registry::new()
        .script(newer::guard)
        .parameters_lost_of(&save);
    let [(_, name, lost)] = &*lost else {
        panic!("{lost:?}");
    };
    assert_eq!(
        (&**name, &**lost),
        ("guard", &["_name".to_owned(), "is_lit".to_owned()][..])
    );
}
