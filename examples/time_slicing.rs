//! `Budget`: three jobs that generate caves share a budget of units for each frame.

use std::collections::VecDeque;

use framestep::prelude::*;

const SIZE: usize = 24;
const MOVES: [(isize, isize); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];

type Cave = [[bool; SIZE]; SIZE];

fn beside(at: (usize, usize), by: (isize, isize)) -> Option<(usize, usize)> {
    let (x, y) = (
        at.0.checked_add_signed(by.0)?,
        at.1.checked_add_signed(by.1)?,
    );
    (x < SIZE && y < SIZE).then_some((x, y))
}

/// Digs at random. A step costs one unit.
async fn dig(mut seed: u32, cells: u32, budget: &Budget) -> Cave {
    let mut cave = [[false; SIZE]; SIZE];
    let (mut at, mut left) = ((0, 0), cells);
    while left > 0 {
        if !std::mem::replace(&mut cave[at.1][at.0], true) {
            left -= 1;
        }
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        at = beside(at, MOVES[(seed >> 28) as usize % 4]).unwrap_or(at);
        budget.checkpoint().await;
    }
    cave
}

/// The number of steps to the farthest cell. Each visited cell costs four units.
async fn depth(cave: &Cave, budget: &Budget) -> usize {
    let mut seen = [[None; SIZE]; SIZE];
    seen[0][0] = Some(0);
    let (mut queue, mut farthest) = (VecDeque::from([((0, 0), 0)]), 0);
    while let Some((at, steps)) = queue.pop_front() {
        farthest = steps;
        for (x, y) in MOVES.iter().filter_map(|&by| beside(at, by)) {
            if cave[y][x] && seen[y][x].is_none() {
                seen[y][x] = Some(steps + 1);
                queue.push_back(((x, y), steps + 1));
            }
        }
        budget.checkpoint_cost(4).await;
    }
    farthest
}

async fn make(name: &'static str, seed: u32, cells: u32, budget: Budget) {
    let cave = dig(seed, cells, &budget).await;
    println!("frame {:3}: {name} has dug {cells} cells", time().frame);
    let depth = depth(&cave, &budget).await;
    println!("frame {:3}: {name} is {depth} steps deep", time().frame);
}

fn main() {
    let mut executor = Executor::new();
    let budget = Budget::of_units(60);
    for (name, seed, cells) in [
        ("the den", 1, 20),
        ("the cave", 2, 80),
        ("the deep", 3, 160),
    ] {
        executor.spawn(make(name, seed, cells, budget.clone()));
    }
    while !executor.is_empty() {
        executor.run_frame(0.016);
    }
    println!("frame {:3}: all are done", executor.time().frame);
}
