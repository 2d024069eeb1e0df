//! The arena as a room: its inputs, and what is seen of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use framestep_durable::prelude::*;
use framestep_rooms::{Effects, Player, Room};

use crate::scripts::{self, BUY, HIT, Purchase};
use crate::state::{Arena, Foe, Hero, Kind};

/// What a player does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Act {
    /// Runs in a direction, each part -1, 0 or 1.
    Go(i8, i8),
    /// Strikes at the nearest foe.
    Hit,
    /// Wants a better blade.
    Buy,
    /// A bug in the code of the room.
    Bug(Bug),
}

/// What code with a bug does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Bug {
    /// Breaks its room.
    Panic,
    /// Ends its process.
    Abort,
    /// Hangs its process.
    Hang,
}

/// An input: what, and a number that this player never uses again. The room needs no number; the
/// oracle counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Input {
    pub(crate) id: u64,
    pub(crate) act: Act,
}

/// A hero in a view: an array in JSON.
type SeenHero = (Player, i32, i32, i32, u32, i32, bool, u64);

/// What watchers see, small enough to be sent in each frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct View {
    /// Name, place, health, gold, blade, whether it strikes, inputs applied.
    pub(crate) heroes: Vec<SeenHero>,
    /// Number, kind, place, health, whether it warns.
    pub(crate) foes: Vec<(u32, Kind, i32, i32, i32, bool)>,
    pub(crate) guards: Vec<(i32, i32)>,
    pub(crate) coins: Vec<(i32, i32)>,
    pub(crate) wave: u32,
    pub(crate) fallen: u32,
    pub(crate) shop: bool,
    pub(crate) said: String,
}

/// What differs between the two builds of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) guard_damage: i32,
    pub(crate) boss_damage: i32,
}

/// The number of this build: of the game as it is, or, with the feature `next`, as it will be.
pub(crate) const BUILD: u8 = if cfg!(feature = "next") { 2 } else { 1 };

/// The rules of this build.
pub(crate) const RULES: Rules = if cfg!(feature = "next") {
    Rules {
        guard_damage: 7,
        boss_damage: 15,
    }
} else {
    Rules {
        guard_damage: 5,
        boss_damage: 12,
    }
};

static IS_DEFUSED: AtomicBool = AtomicBool::new(false);

/// Makes [`Bug::Abort`] and [`Bug::Hang`] panic, in a process that only looks.
pub(crate) fn defuse() {
    IS_DEFUSED.store(true, Ordering::Relaxed);
}

fn bug(bug: Bug) {
    let is_defused = IS_DEFUSED.load(Ordering::Relaxed);
    match bug {
        Bug::Abort if !is_defused => std::process::abort(),
        #[expect(clippy::empty_loop, reason = "that is the bug")]
        Bug::Hang if !is_defused => loop {},
        bug => panic!("a bug of the game: {bug:?}"),
    }
}

impl Room for Arena {
    const NAME: &'static str = "arena";
    /// The seed.
    type Args = u64;
    type Input = Input;
    type View = View;

    fn registry() -> Registry {
        scripts::registry()
    }

    fn effects() -> Effects {
        Effects::new().with(|_, purchase: Purchase| async move {
            // A bank on the outside takes its time. It would be given the key.
            tokio::time::sleep(Duration::from_millis(20)).await;
            purchase.price > 0
        })
    }

    fn open(runtime: &Runtime, seed: u64) -> Self {
        scripts::open(runtime);
        Arena::new(seed)
    }

    fn input(&mut self, runtime: &Runtime, player: Player, input: Input) {
        self.hero(&player).inputs += 1;
        match input.act {
            Act::Go(dx, dy) => self.go(&player, dx.into(), dy.into()),
            Act::Hit => {
                if let Some((foe, damage)) = self.strike(&player) {
                    runtime.named(&HIT.keyed(foe)).emit(damage);
                }
            }
            Act::Buy => runtime.named(&BUY).emit(player),
            Act::Bug(which) => bug(which),
        }
    }

    fn view(&self) -> View {
        let hero = |(name, it): (&Player, &Hero)| {
            (
                name.clone(),
                it.body.x,
                it.body.y,
                it.health,
                it.gold,
                it.blade,
                it.strikes > 0,
                it.inputs,
            )
        };
        let foe =
            |(id, it): (&u32, &Foe)| (*id, it.kind, it.body.x, it.body.y, it.health, it.warns);
        View {
            heroes: self.heroes.iter().map(hero).collect(),
            foes: self.foes.iter().map(foe).collect(),
            guards: self.guards.iter().map(|body| (body.x, body.y)).collect(),
            coins: self.coins.clone(),
            wave: self.wave,
            fallen: self.fallen,
            shop: self.is_shop_open,
            said: self.said.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Duration = Duration::from_nanos(1_000_000_000 / 30);

    struct Live {
        runtime: Runtime,
        arena: Arena,
    }

    impl Live {
        fn open(seed: u64) -> Self {
            let runtime = Runtime::new(Arena::registry());
            let arena = Arena::open(&runtime, seed);
            Live { runtime, arena }
        }

        /// Frame `frame`, with inputs that depend on nothing but it.
        fn frame(&mut self, frame: u64) {
            let player = Player::new("alice").unwrap();
            let dx = i8::try_from(frame / 40 % 3).unwrap() - 1;
            let act = match frame % 5 {
                0 => Act::Go(dx, if frame.is_multiple_of(2) { 1 } else { -1 }),
                1 | 3 => Act::Hit,
                2 => Act::Buy,
                _ => return self.run(),
            };
            self.arena
                .input(&self.runtime, player, Input { id: frame, act });
            self.run();
        }

        fn run(&mut self) {
            self.runtime.run_frame_with(&mut self.arena, STEP);
            for (id, _) in self.runtime.requests::<Purchase>() {
                self.runtime.answer(id, &true);
            }
        }

        fn sum(&self) -> u64 {
            self.runtime
                .save_state()
                .unwrap()
                .checksum_with(&self.arena)
        }
    }

    #[test]
    fn a_room_does_the_same_again() {
        let [mut a, mut b] = [Live::open(7), Live::open(7)];
        for frame in 0..1_500 {
            a.frame(frame);
            b.frame(frame);
            assert_eq!(a.sum(), b.sum(), "frame {frame}");
        }
        assert!(Live::open(8).sum() != Live::open(7).sum());
    }

    #[test]
    fn a_room_goes_on_from_a_save_of_any_frame() {
        let mut room = Live::open(3);
        for frame in 0..2_000 {
            if frame % 37 == 0 {
                let bytes = room
                    .runtime
                    .save_state()
                    .unwrap()
                    .to_bytes_with(&room.arena);
                let (save, arena) = SaveState::from_bytes_with::<Arena>(&bytes).unwrap();
                let mut runtime = Runtime::new(Arena::registry());
                runtime.restore(&save, Policy::Fail).unwrap();
                let mut restored = Live { runtime, arena };
                for next in frame..frame + 40 {
                    restored.frame(next);
                }
                let mut original = Live::open(3);
                (0..frame + 40).for_each(|frame| original.frame(frame));
                assert_eq!(restored.sum(), original.sum(), "from frame {frame}");
                if frame > 400 {
                    return;
                }
            }
            room.frame(frame);
        }
    }

    #[test]
    fn there_are_waves_bosses_sales_and_about_twenty_scripts() {
        let mut room = Live::open(1);
        let (mut most, mut bosses) = (0, false);
        for frame in 0..6_000 {
            room.frame(frame);
            most = most.max(room.runtime.scripts().len());
            bosses |= room.arena.foes.values().any(|foe| foe.kind == Kind::Boss);
        }
        let arena = &room.arena;
        assert!((16..=26).contains(&most), "{most} scripts");
        assert!(
            bosses && arena.wave >= 3 && arena.fallen > 5 && arena.sold > 0,
            "{arena:?}"
        );
        assert_eq!(arena.heroes.values().next().unwrap().inputs, 4_800);
    }

    #[test]
    fn a_view_is_small() {
        let mut room = Live::open(1);
        let largest = (0..2_000).map(|frame| {
            room.frame(frame);
            serde_json::to_vec(&room.arena.view()).unwrap().len()
        });
        let largest = largest.max().unwrap();
        assert!(largest < 1_200, "{largest} bytes");
    }

    #[test]
    fn inputs_are_short_json() {
        let text = |act| serde_json::to_string(&Input { id: 7, act }).unwrap();
        assert_eq!(text(Act::Go(-1, 0)), r#"{"id":7,"act":{"go":[-1,0]}}"#);
        assert_eq!(text(Act::Hit), r#"{"id":7,"act":"hit"}"#);
        assert_eq!(
            text(Act::Bug(Bug::Hang)),
            r#"{"id":7,"act":{"bug":"hang"}}"#
        );
    }
}
