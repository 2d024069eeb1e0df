//! The room that `cost` and the count of instructions measure.

use framestep_durable::prelude::*;
use framestep_rooms::{Player, Room};

/// Scripts in each room.
pub(crate) const SCRIPTS: u8 = 20;

#[derive(Serialize, Deserialize)]
pub(crate) struct Arena {
    units: Vec<(i64, u32)>,
}

/// Walks, stops, and looks around.
#[durable]
async fn patrol(unit: usize, step: u64) -> Chapter {
    let pause = (unit as u64 * 7 + step * 13) % 90;
    wait_frames(10 + pause).await;
    with(move |arena: &mut Arena| arena.units[unit].0 += 1);
    for _ in 0..3 {
        next_frame().await;
    }
    with(move |arena: &mut Arena| arena.units[unit].1 += 1);
    Chapter::Next(patrol(unit, step + 1))
}

impl Room for Arena {
    const NAME: &'static str = "arena";
    type Args = ();
    type Input = u32;
    type View = (i64, u32);

    fn registry() -> Registry {
        Registry::new().script(patrol)
    }

    fn open(runtime: &Runtime, (): ()) -> Self {
        for unit in 0..SCRIPTS {
            runtime.spawn(patrol(unit.into(), 0)).detach();
        }
        Arena {
            units: vec![(0, 0); SCRIPTS.into()],
        }
    }

    fn input(&mut self, _: &Runtime, _: Player, unit: u32) {
        let unit = unit as usize % self.units.len();
        self.units[unit].1 += 1;
    }

    fn view(&self) -> (i64, u32) {
        self.units[0]
    }
}
