//! The next versions of the game.

use super::*;

/// The next version, whose author has forgotten `#[serde(default)]`.
#[derive(Serialize, Deserialize)]
struct LotWithMore {
    bids: u32,
    more: u32,
}

impl Room for LotWithMore {
    const NAME: &'static str = "lot";
    type Args = u32;
    type Input = Act;
    type View = u32;

    fn registry() -> Registry {
        Registry::new().script(later::clock)
    }

    fn open(_: &Runtime, bids: u32) -> Self {
        LotWithMore { bids, more: 0 }
    }

    fn input(&mut self, _: &Runtime, _: Player, _: Act) {}

    fn view(&self) -> u32 {
        self.bids + self.more
    }
}

/// The next version: a field before all others, one fewer, another order.
mod later {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub(super) struct LaterLot {
        #[serde(default = "seven")]
        pub(super) sellers: Vec<u32>,
        pub(super) ticks: u32,
        pub(super) bids: u32,
        is_over: bool,
    }

    fn seven() -> Vec<u32> {
        vec![7]
    }

    #[durable]
    pub(super) async fn clock() -> Chapter {
        wait_frames(1).await;
        with(|lot: &mut LaterLot| lot.ticks += 1);
        Chapter::Next(clock())
    }

    impl Room for LaterLot {
        const NAME: &'static str = "lot";
        type Args = u32;
        type Input = Act;
        type View = LaterLot;

        fn registry() -> Registry {
            Registry::new().script(clock)
        }

        fn open(runtime: &Runtime, bids: u32) -> Self {
            runtime.spawn(clock()).detach();
            LaterLot {
                bids,
                ..LaterLot::default()
            }
        }

        fn input(&mut self, _: &Runtime, _: Player, act: Act) {
            self.bids += u32::from(matches!(act, Act::Bid));
        }

        fn view(&self) -> LaterLot {
            self.clone()
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replay_of_a_new_build_fails_where_its_upgrade_would() {
    let log = MemoryLog::new();
    let node = start(log.clone(), "a");
    let room = client(&log).await.open::<Lot>("lot-1", &0).await.unwrap();
    room.view().await.unwrap();
    node.stop().await;
    let old = Server::on(log.clone()).room::<Lot>();
    old.replay(0, u64::MAX).await.unwrap();
    let later = Server::on(log.clone()).room::<later::LaterLot>();
    later.replay(0, u64::MAX).await.unwrap();
    let new = Server::on(log).room::<LotWithMore>();
    let error = new.replay(0, u64::MAX).await.unwrap_err().to_string();
    assert!(
        error.contains("room lot-1: ") && error.contains("missing field `more`"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_build_whose_state_has_other_fields_goes_on_with_live_rooms() {
    let log = MemoryLog::new();
    let old = start(log.clone(), "old");
    let alice = client(&log).await;
    let room = alice.open::<Lot>("lot", &5).await.unwrap();
    room.send(&Act::Bid).await.unwrap();
    let before = until(&room, |lot| lot.bids == 6 && lot.ticks > 9).await;
    let new = start_build::<later::LaterLot>(log.clone(), "new", "later");
    old.says("old: node new has joined").await;
    old.stop().await;
    let room = alice.room::<later::LaterLot>("lot").unwrap();
    room.send(&Act::Bid).await.unwrap();
    let lot = until(&room, |lot| lot.bids == 7).await;
    assert_eq!(lot.sellers, [7]);
    assert!(lot.ticks > before.ticks);
    until(&room, |now| now.ticks > lot.ticks + 3).await;
    new.stop().await;
}
