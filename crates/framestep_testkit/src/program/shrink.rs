//! Shrinks a program that shows something.

use super::language::{Act, Op, Program, Wait};

/// The smallest program found for which `shows` holds, as for the given one.
pub fn minimised(program: Program, shows: impl Fn(&Program) -> bool) -> Program {
    let mut best = program;
    loop {
        let before = size(&best);
        shorten(&mut best, &shows, |program| &mut program.steps);
        for at in 0..best.scripts.len() {
            attempt(&mut best, &shows, |program| program.scripts[at].turns = 1);
            shorten(&mut best, &shows, |program| &mut program.scripts[at].body);
            shorten(&mut best, &shows, |program| {
                &mut program.scripts[at].on_drop
            });
            for op in 0..best.scripts[at].body.len() {
                simplify(&mut best, &shows, |program| {
                    &mut program.scripts[at].body[op]
                });
            }
        }
        shorten(&mut best, &shows, |program| &mut program.scripts);
        attempt(&mut best, &shows, |program| program.settings.executors = 1);
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
) -> bool {
    let mut candidate = best.clone();
    change(&mut candidate);
    let better = size(&candidate) < size(best) && shows(&candidate);
    if better {
        *best = candidate;
    }
    better
}

/// Leaves out parts of a list: first halves, finally single items.
fn shorten<T>(
    best: &mut Program,
    shows: &impl Fn(&Program) -> bool,
    list: impl Fn(&mut Program) -> &mut Vec<T>,
) {
    let mut chunk = list(best).len().div_ceil(2);
    while chunk > 0 {
        let mut at = 0;
        while at < list(best).len() {
            let end = (at + chunk).min(list(best).len());
            if !attempt(best, shows, |program| drop(list(program).drain(at..end))) {
                at += chunk;
            }
        }
        chunk = if chunk == 1 { 0 } else { chunk.div_ceil(2) };
    }
}

/// Makes the parts of one operation smaller, as long as that helps.
fn simplify(
    best: &mut Program,
    shows: &impl Fn(&Program) -> bool,
    op: impl Fn(&mut Program) -> &mut Op,
) {
    loop {
        let smaller: Vec<Op> = match op(best) {
            Op::Await(wait) => parts(wait).into_iter().map(Op::Await).collect(),
            Op::Leave(wait) => parts(wait).into_iter().map(Op::Leave).collect(),
            Op::Act(Act::With(acts)) => acts.iter().cloned().map(Op::Act).collect(),
            _ => Vec::new(),
        };
        let mut smaller = smaller.into_iter();
        if !smaller.any(|it| attempt(best, shows, |program| *op(program) = it)) {
            return;
        }
    }
}

/// The waits that are one step smaller.
fn parts(wait: &Wait) -> Vec<Wait> {
    let mut all = wait.inner().to_vec();
    for (at, inner) in wait.inner().iter().enumerate() {
        if let Wait::Group(mode, waits) = wait {
            let mut fewer = waits.clone();
            fewer.remove(at);
            all.push(Wait::Group(*mode, fewer));
        }
        let simpler = parts(inner).into_iter();
        all.extend(simpler.map(|part| wait.around(at, part)));
    }
    all
}
