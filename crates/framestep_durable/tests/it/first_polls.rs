//! What a script does to itself in its first poll, before the call that starts it returns.

use framestep_durable::{RuntimeHandle, prelude::*};

const KNOCK: Signal<u32> = signal("knock");

#[derive(Serialize, Deserialize)]
struct Knocks;

impl DurableScript for Knocks {
    const NAME: &'static str = "knocks";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        KNOCK.emit(7);
        Chapter::Done(())
    }
}

/// Hears a knock of its own, or of its child.
#[derive(Serialize, Deserialize)]
struct Hears {
    has_child: bool,
}

impl DurableScript for Hears {
    const NAME: &'static str = "hears";
    type Output = u32;

    async fn run(self) -> Chapter<Self> {
        let has_child = self.has_child;
        let knock = async {
            if has_child {
                start(Knocks).detach();
            } else {
                KNOCK.emit(7);
            }
        };
        let (heard, ()) = join!(KNOCK.wait(), knock);
        Chapter::Done(heard)
    }
}

#[test]
fn an_event_in_the_first_poll_of_a_script_wakes_it() {
    for has_child in [false, true] {
        let mut runtime = Runtime::new(Registry::new().with::<Hears>().with::<Knocks>());
        let spawned = runtime.spawn(Hears { has_child });
        runtime.run_frame(0.1);
        let started = runtime.start(Hears { has_child });
        runtime.run_frame(0.1);
        assert_eq!(runtime.take(spawned), Some(Ok(7)));
        assert_eq!(runtime.take(started), Some(Ok(7)));
    }
}

/// Stops itself, through the host and by its number.
#[derive(Serialize, Deserialize)]
struct Stops {
    me: ScriptId,
}

impl DurableScript for Stops {
    const NAME: &'static str = "stops";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let me = self.me;
        assert!(with(move |host: &mut RuntimeHandle| host
            .executor()
            .enter(|| stop(me))
            .unwrap()));
        next_frame().await;
        Chapter::Done(())
    }
}

#[test]
fn a_script_can_be_stopped_in_its_first_poll() {
    let mut runtime = Runtime::new(Registry::new().with::<Stops>());
    let mut host = runtime.host().clone();
    let stops = runtime.lend(&mut host, |runtime| {
        runtime.start(Stops {
            me: ScriptId::from_raw(1),
        })
    });
    assert!(!runtime.is_alive(stops.id()));
    runtime.run_frame_with(&mut host, 0.1);
    assert!(matches!(
        runtime.take(stops),
        Some(Err(JoinError::Stopped { .. }))
    ));
}
