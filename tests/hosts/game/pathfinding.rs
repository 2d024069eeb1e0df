//! A search for a path that takes several frames and delays none of them.

use std::collections::{BTreeSet, VecDeque};

use framestep::prelude::*;

use super::{Game, show};

type Place = (usize, usize);

struct World {
    /// Rows of fields: `#` is a wall.
    map: Vec<&'static str>,
}

impl World {
    fn neighbours(&self, (x, y): Place) -> Vec<Place> {
        let around = [
            (x + 1, y),
            (x, y + 1),
            (x.wrapping_sub(1), y),
            (x, y.wrapping_sub(1)),
        ];
        let is_free = |&(x, y): &Place| {
            let row = self.map.get(y);
            row.is_some_and(|row| row.as_bytes().get(x) == Some(&b'.'))
        };
        around.into_iter().filter(is_free).collect()
    }
}

/// The number of steps between two places. Searches with clones of one budget share it.
async fn distance(from: Place, to: Place, budget: Budget) -> Option<u32> {
    let mut seen = BTreeSet::from([from]);
    let mut open = VecDeque::from([(from, 0)]);
    while let Some((place, steps)) = open.pop_front() {
        if place == to {
            return Some(steps);
        }
        for next in with_ref(|world: &World| world.neighbours(place)) {
            if seen.insert(next) {
                open.push_back((next, steps + 1));
            }
        }
        budget.checkpoint().await;
    }
    None
}

fn game(map: &[&'static str]) -> Game<World> {
    Game::new(World { map: map.to_vec() })
}

#[test]
fn a_search_looks_at_as_many_fields_a_frame_as_the_budget_has() {
    let mut game = game(&["............"]);
    let search = distance((0, 0), (11, 0), Budget::of_units(4));
    let search = game.executor.spawn(search);
    game.run(2);
    assert!(!search.is_finished());
    game.run(1);
    assert_eq!(search.take_output().unwrap().unwrap(), Some(11));
}

#[test]
fn two_searches_share_the_frame() {
    let mut game = game(&["............"]);
    let budget = Budget::of_units(4);
    for (name, from, to) in [("first", 0, 11), ("second", 11, 0)] {
        let search = distance((from, 0), (to, 0), budget.clone());
        game.executor.spawn(async move {
            search.await;
            show(name);
        });
    }
    game.run(6);
    // The first search takes frame 1, except for one step of the second. Then each takes
    // half of a frame, until the first has ended.
    game.check(&["F5: first", "F6: second"]);
}

#[test]
fn a_search_goes_round_walls_and_gives_up_behind_them() {
    let mut game = game(&[
        "..#..", //
        ".##.#", //
        "....#", //
    ]);
    let budget = Budget::of_units(100);
    let there = game
        .executor
        .spawn(distance((0, 0), (4, 0), budget.clone()));
    game.run(1);
    assert_eq!(there.take_output().unwrap().unwrap(), Some(8));
    game.world.map[2] = ".#..#";
    let shut = game.executor.spawn(distance((0, 0), (4, 0), budget));
    game.run(1);
    assert_eq!(shut.take_output().unwrap().unwrap(), None);
}
