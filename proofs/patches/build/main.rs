//! Writes the scripts: each as it was, and with a change.
//!
//! `FRAMESTEP_PATCHES_SEED` begins elsewhere, `FRAMESTEP_PATCHES_SCRIPTS` says how many scripts there are.

mod lists;
mod write;

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::lists::List;

/// How many changes each script has.
const CHANGES: u32 = 6;

/// Random numbers: splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ mixed >> 31) % end
    }

    fn index(&mut self, end: usize) -> usize {
        usize::try_from(self.below(end as u64)).expect("an index")
    }
}

#[derive(Clone)]
enum Statement {
    /// A number that says which one it is, and which text it has.
    Tell(u32, u32),
    Line(u32, u32, u64),
    Wait(u64),
    Key,
    If(u64, Block),
    Repeat(u64, Block),
    Join([Block; 2]),
    Select([(u64, Block); 2]),
    /// A loop over a list.
    Each(List, Block),
    /// Only for some items of the innermost list around it.
    Some(u32, Block),
}

type Block = Vec<Statement>;

struct Writer {
    random: Random,
    next: u32,
}

impl Writer {
    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn block(&mut self, depth: u32) -> Block {
        let most = if depth == 0 { 6 } else { 2 };
        let count = 1 + self.random.below(most);
        (0..count).map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: u32) -> Statement {
        let frames = 1 + self.random.below(6);
        match self.random.below(if depth < 2 { 16 } else { 8 }) {
            0..3 => Statement::Tell(self.number(), 0),
            3..6 => Statement::Line(self.number(), 0, frames),
            6 => Statement::Wait(frames),
            7 => Statement::Key,
            8 => Statement::If(self.random.below(10), self.block(depth + 1)),
            9 => Statement::Repeat(1 + self.random.below(3), self.block(depth + 1)),
            10 => Statement::Join([self.block(depth + 1), self.block(depth + 1)]),
            11 => {
                let other = 1 + self.random.below(6);
                let blocks = [self.block(depth + 1), self.block(depth + 1)];
                let [one, two] = blocks;
                Statement::Select([(frames, one), (other, two)])
            }
            12..15 => Statement::Each(List::new(self), self.block(depth + 1)),
            _ => Statement::Some(self.number() % 2, self.block(depth + 1)),
        }
    }

    /// One or two changes, and what they are.
    fn change(&mut self, script: &Block) -> (Block, String) {
        let (mut changed, mut said) = (script.clone(), Vec::new());
        for _ in 0..=self.random.below(2) {
            let lists = lists::count(&changed);
            said.push(if lists > 0 && self.random.below(2) == 0 {
                let mut at = self.random.index(lists);
                lists::change(&mut changed, &mut at, self)
            } else {
                self.change_once(&mut changed)
            });
        }
        (changed, said.join(", "))
    }

    fn change_once(&mut self, script: &mut Block) -> &'static str {
        let mut at = self.random.index(places(script));
        let new = self.statement(1);
        let which = self.random.below(8);
        let random = &mut self.random;
        let mut said = "nothing";
        in_block(script, &mut at, &mut |block, at| {
            if which == 0 || at >= block.len() {
                block.insert(at, new.clone());
                said = "inserted";
                return;
            }
            match which {
                1 | 2 => {
                    block.remove(at);
                    said = "removed";
                }
                3 => {
                    let other = random.index(block.len());
                    block.swap(at, other);
                    said = "swapped";
                }
                4 => {
                    let inner = block.remove(at);
                    block.insert(at, Statement::Repeat(1, vec![inner]));
                    said = "wrapped";
                }
                5 => {
                    block[at] = new.clone();
                    said = "replaced";
                }
                _ => said = reworded(&mut block[at], random),
            }
        });
        said
    }
}

fn reworded(statement: &mut Statement, random: &mut Random) -> &'static str {
    match statement {
        Statement::Tell(_, text) => *text += 1,
        Statement::Line(_, text, frames) => {
            *text += 1;
            *frames = 1 + random.below(6);
        }
        Statement::Wait(frames) => *frames = 1 + random.below(6),
        Statement::Key => *statement = Statement::Wait(2),
        Statement::If(limit, _) => *limit = random.below(10),
        Statement::Repeat(count, _) => *count = 1 + random.below(4),
        Statement::Join(blocks) => blocks.swap(0, 1),
        Statement::Select(branches) => branches.swap(0, 1),
        Statement::Each(list, _) => list.reword(random),
        Statement::Some(rest, _) => *rest = 1 - *rest,
    }
    "reworded"
}

/// How many places there are in all blocks, with those at their ends.
fn places(block: &Block) -> usize {
    let inner = |statement: &Statement| match statement {
        Statement::If(_, block)
        | Statement::Repeat(_, block)
        | Statement::Each(_, block)
        | Statement::Some(_, block) => places(block),
        Statement::Join([one, two]) | Statement::Select([(_, one), (_, two)]) => {
            places(one) + places(two)
        }
        _ => 0,
    };
    1 + block.len() + block.iter().map(inner).sum::<usize>()
}

/// Calls `f` with a place, counted through all blocks. Whether it was in this one.
fn in_block(block: &mut Block, at: &mut usize, f: &mut dyn FnMut(&mut Block, usize)) -> bool {
    if *at <= block.len() {
        f(block, *at);
        return true;
    }
    *at -= block.len() + 1;
    block.iter_mut().any(|statement| match statement {
        Statement::If(_, block)
        | Statement::Repeat(_, block)
        | Statement::Each(_, block)
        | Statement::Some(_, block) => in_block(block, at, f),
        Statement::Join(blocks) => blocks.iter_mut().any(|block| in_block(block, at, f)),
        Statement::Select(branches) => branches.iter_mut().any(|(_, block)| in_block(block, at, f)),
        _ => false,
    })
}

fn main() {
    let number = |name: &str, default: u64| {
        println!("cargo::rerun-if-env-changed={name}");
        env::var(name).map_or(default, |value| value.parse().expect("a number"))
    };
    let seed = number("FRAMESTEP_PATCHES_SEED", 1);
    let scripts = number("FRAMESTEP_PATCHES_SCRIPTS", 24);
    println!("cargo::rerun-if-changed=build");
    let (mut out, mut cases) = (String::new(), String::new());
    for at in seed..seed + scripts {
        let random = Random(at.wrapping_mul(0xD134_2543_DE82_EF95));
        let mut writer = Writer { random, next: 0 };
        let before = writer.block(0);
        writeln!(out, "pub(crate) mod script_{at} {{").expect("text");
        write::script("before", &before, &mut out);
        for change in 0..CHANGES {
            let (after, said) = writer.change(&before);
            write::script(&format!("change_{change}"), &after, &mut out);
            writeln!(
                cases,
                "case!(script_{at}, change_{change}, \"script {at}, change {change}: {said}\"),"
            )
            .expect("text");
        }
        out.push_str("}\n");
    }
    writeln!(out, "pub(crate) const CASES: &[Case] = &[\n{cases}];").expect("text");
    let folder = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&folder).join("generated.rs"), out).expect("the scripts are written");
}
