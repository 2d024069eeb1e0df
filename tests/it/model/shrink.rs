//! Makes a program smaller that shows something.

use super::program::{Op, Program};

/// The smallest program found that `shows` what the given one does.
pub(super) fn minimised(program: Program, shows: impl Fn(&Program) -> bool) -> Program {
    let mut best = program;
    loop {
        let before = size(&best);
        shorten(&mut best, &shows, |program| &mut program.steps);
        for at in 0..best.scripts.len() {
            attempt(&mut best, &shows, |program| program.scripts[at].turns = 1);
            shorten(&mut best, &shows, move |p| &mut p.scripts[at].body);
            shorten(&mut best, &shows, move |p| &mut p.scripts[at].on_drop);
            for op in 0..best.scripts[at].body.len() {
                attempt(&mut best, &shows, |p| simplify(&mut p.scripts[at].body[op]));
                for wait in (0..3).rev() {
                    attempt(&mut best, &shows, |p| {
                        drop_wait(&mut p.scripts[at].body[op], wait);
                    });
                }
            }
        }
        if size(&best) == before {
            return best;
        }
    }
}

fn size(program: &Program) -> usize {
    format!("{program:?}").len()
}

fn attempt(
    best: &mut Program,
    shows: &impl Fn(&Program) -> bool,
    change: impl FnOnce(&mut Program),
) {
    let mut candidate = best.clone();
    change(&mut candidate);
    if size(&candidate) < size(best) && shows(&candidate) {
        *best = candidate;
    }
}

/// Leaves parts of a list out: first halves, at last single ones.
fn shorten<T>(
    best: &mut Program,
    shows: &impl Fn(&Program) -> bool,
    list: impl Fn(&mut Program) -> &mut Vec<T>,
) {
    let mut chunk = list(best).len().div_ceil(2);
    while chunk > 0 {
        let mut at = 0;
        while at < list(best).len() {
            let before = list(best).len();
            attempt(best, shows, |program| {
                let end = (at + chunk).min(before);
                list(program).drain(at..end);
            });
            if list(best).len() == before {
                at += chunk;
            }
        }
        chunk = if chunk == 1 { 0 } else { chunk.div_ceil(2) };
    }
}

/// One wait instead of a group of one.
fn simplify(op: &mut Op) {
    if let Op::All(waits) | Op::First(waits) | Op::Muffled(waits) = op {
        if let [wait] = waits[..] {
            *op = Op::Await(wait);
        }
    }
}

fn drop_wait(op: &mut Op, at: usize) {
    if let Op::All(waits) | Op::First(waits) | Op::Muffled(waits) = op {
        if at < waits.len() && waits.len() > 1 {
            waits.remove(at);
        }
    }
}
