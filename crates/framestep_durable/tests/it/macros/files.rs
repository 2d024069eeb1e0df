//! Files: those of hand-written scripts load, and the other way round.

use framestep_durable::prelude::*;

type Log = Vec<String>;

fn note(text: String) {
    with(move |log: &mut Log| log.push(text));
}

/// As they were before the attribute.
mod by_hand {
    use framestep_durable::prelude::*;

    use super::{Log, note};

    #[derive(Serialize, Deserialize)]
    pub(super) struct Coin {
        pub(super) number: u32,
        pub(super) name: String,
    }

    impl DurableScript for Coin {
        const NAME: &'static str = "coin";
        type Output = u32;

        async fn run(self) -> Chapter<Self> {
            let Coin { number, name } = self;
            note(format!("{name} appears"));
            wait_seconds(0.3).await;
            note(format!("{name} is gone"));
            match number {
                0 => Chapter::Done(7),
                _ => Chapter::Next(Coin {
                    number: number - 1,
                    name,
                }),
            }
        }
    }

    #[derive(Serialize, Deserialize)]
    pub(super) struct Mint;

    impl DurableScript for Mint {
        const NAME: &'static str = "the mint";
        type Output = ();

        async fn run(self) -> Chapter<Self> {
            let coin = Coin {
                number: 1,
                name: "penny".into(),
            };
            let output = start(coin).await;
            with(move |log: &mut Log| log.push(format!("{output:?}")));
            Chapter::Done(())
        }
    }

    #[derive(Serialize, Deserialize)]
    pub(super) enum Door {
        Closed,
        Moves { share: f32, opens: bool },
    }

    impl DurableScript for Door {
        const NAME: &'static str = "door";
        type Output = ();

        async fn run(self) -> Chapter<Self> {
            match self {
                Door::Closed => {
                    wait_frames(2).await;
                    note("the door opens".into());
                    Chapter::Next(Door::Moves {
                        share: 0.5,
                        opens: true,
                    })
                }
                Door::Moves { share, opens } => {
                    wait_seconds(share).await;
                    note(format!("the door is open: {opens}"));
                    Chapter::Done(())
                }
            }
        }
    }
}

/// The same with the attribute.
mod by_macro {
    use framestep_durable::prelude::*;

    use super::{Log, note};

    #[durable]
    pub(super) async fn coin(number: u32, name: String) -> Chapter<u32> {
        note(format!("{name} appears"));
        wait_seconds(0.3).await;
        note(format!("{name} is gone"));
        match number {
            0 => Chapter::Done(7),
            _ => Chapter::Next(coin(number - 1, name)),
        }
    }

    #[durable(name = "the mint")]
    pub(super) async fn mint() {
        let output = coin(1, "penny".into()).await;
        with(move |log: &mut Log| log.push(format!("{output:?}")));
    }

    #[durable(state = Door)]
    pub(super) mod door {
        use framestep_durable::prelude::*;

        use super::super::note;

        #[chapter]
        pub(crate) async fn closed() -> Chapter {
            wait_frames(2).await;
            note("the door opens".into());
            Chapter::Next(moves(0.5, true))
        }

        #[chapter]
        async fn moves(share: f32, opens: bool) {
            wait_seconds(share).await;
            note(format!("the door is open: {opens}"));
        }
    }
}

const FRAMES: usize = 10;

fn hand_written() -> Runtime {
    let registry = Registry::new()
        .with::<by_hand::Coin>()
        .with::<by_hand::Mint>()
        .with::<by_hand::Door>();
    Runtime::new(registry)
}

fn with_the_attribute() -> Runtime {
    let registry = Registry::new()
        .script(by_macro::coin)
        .script(by_macro::mint)
        .script(by_macro::door::closed);
    Runtime::new(registry)
}

/// Plays to the end. Returns the file before each frame and after the last, with the log.
fn play(mut runtime: Runtime) -> Vec<(Vec<u8>, Log)> {
    let mut log = Log::new();
    (0..=FRAMES)
        .map(|frame| {
            if frame > 0 {
                runtime.run_frame_with(&mut log, 0.1);
            }
            (runtime.save().unwrap().to_bytes(), log.clone())
        })
        .collect()
}

fn both() -> [Vec<(Vec<u8>, Log)>; 2] {
    let runtime = hand_written();
    runtime.spawn(by_hand::Mint).detach();
    runtime.spawn(by_hand::Door::Closed).detach();
    let by_hand = play(runtime);
    let runtime = with_the_attribute();
    runtime.spawn(by_macro::mint()).detach();
    runtime.spawn(by_macro::door::closed()).detach();
    [by_hand, play(runtime)]
}

#[test]
fn hand_written_scripts_play_and_end_the_same_way() {
    let [by_hand, by_macro] = both();
    let last = |game: &[(Vec<u8>, Log)]| game.last().unwrap().1.clone();
    assert_eq!(last(&by_hand), last(&by_macro));
    assert_eq!(
        last(&by_hand),
        [
            "penny appears",
            "the door opens",
            "penny is gone",
            "penny appears",
            "penny is gone",
            "Ok(7)",
            "the door is open: true",
        ]
    );
}

#[test]
fn each_loads_the_files_of_the_other() {
    let games = both();
    for (game, blank) in [
        (&games[0], with_the_attribute as fn() -> Runtime),
        (&games[1], hand_written),
    ] {
        for (moment, (file, log)) in game.iter().enumerate() {
            let mut twin = blank();
            let save = SaveState::from_bytes(file).unwrap();
            twin.restore(&save, Policy::Fail).unwrap();
            let mut log = log.clone();
            for later in &game[moment + 1..] {
                twin.run_frame_with(&mut log, 0.1);
                assert_eq!(log, later.1, "loaded at {moment}");
            }
        }
    }
}

#[test]
fn states_are_the_same_in_every_format() {
    fn json(state: &impl DurableScript) -> String {
        serde_json::to_string(state).unwrap()
    }
    let coin = by_hand::Coin {
        number: 3,
        name: "a".into(),
    };
    assert_eq!(json(&coin), json(&by_macro::coin(3, "a".into())));
    assert_eq!(json(&by_hand::Mint), json(&by_macro::mint()));
    assert_eq!(
        json(&by_hand::Door::Closed),
        json(&by_macro::door::closed())
    );
    let moves = by_hand::Door::Moves {
        share: 0.5,
        opens: true,
    };
    let text = r#"{"Moves":{"share":0.5,"opens":true}}"#;
    assert_eq!(json(&moves), text);
    let read: by_macro::door::Door = serde_json::from_str(text).unwrap();
    assert_eq!(json(&read), text);
}

#[test]
fn attributes_of_serde_stand_on_the_field() {
    #[durable(state = Guard)]
    async fn guard(place: u8, #[serde(default, rename = "mood")] feeling: Option<u8>) {
        wait_frames(u64::from(place) + u64::from(feeling.is_some())).await;
    }
    let Guard { place, feeling } = serde_json::from_str(r#"{"place":3}"#).unwrap();
    assert_eq!((place, feeling), (3, None));
    let json = serde_json::to_string(&guard(1, Some(2))).unwrap();
    assert_eq!(json, r#"{"place":1,"mood":2}"#);
}
