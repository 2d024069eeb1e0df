//! The rows that `instructions.sh` counts under valgrind: what 60 rooms of 20 scripts cost, without
//! network and clock. Without arguments, it does each of them once, uncounted.
//!
//! `instructions ROW` prints how many items it did, and for what unit a figure is. Only what happens
//! inside of `counted` counts.

use std::hint::black_box;

use framestep_rooms::simulate::cost::{Node, Rooms};

#[path = "../examples/measured/mod.rs"]
mod measured;
use measured::{Arena, SCRIPTS};

const ROOMS: u16 = 60;
const FRAMES: u32 = 150;

/// Valgrind counts while this runs.
#[inline(never)]
fn counted(work: &mut dyn FnMut()) {
    work();
    black_box(());
}

/// Rooms whose scripts are anywhere in their chapters.
fn rooms() -> Rooms {
    let mut rooms = Rooms::open::<Arena>(ROOMS.into(), &());
    for _ in 0..150 {
        rooms.frame();
        rooms.hash();
    }
    rooms
}

/// Counts one part of each frame.
fn parts(mut before: impl FnMut(&mut Rooms), mut part: impl FnMut(&mut Rooms)) -> u32 {
    let mut rooms = rooms();
    for _ in 0..FRAMES {
        before(&mut rooms);
        counted(&mut || part(&mut rooms));
    }
    FRAMES * u32::from(ROOMS)
}

fn views(rooms: &mut Rooms) {
    for room in 0..ROOMS {
        black_box(rooms.view(room.into()));
    }
}

/// A node: a frame and a hash in each tick, saves, three inputs a frame.
fn node(frames: u32) -> u32 {
    let mut node = Node::open::<Arena>(ROOMS.into(), &());
    let mut frame = |number: u32| {
        for input in 0..3 {
            node.input((number as usize * 3 + input) % usize::from(ROOMS), &number);
        }
        node.frame();
    };
    (0..150).for_each(&mut frame);
    counted(&mut || (0..frames).for_each(&mut frame));
    assert!(node.frames() >= u64::from(150 + frames) && node.saved > 0);
    frames * u32::from(ROOMS)
}

fn loads() -> u32 {
    let save = rooms().save();
    counted(&mut || drop(black_box(Rooms::load::<Arena>(&save))));
    u32::from(ROOMS) * u32::from(SCRIPTS)
}

type Row = (&'static str, &'static str, fn() -> u32);

const ROWS: [Row; 6] = [
    ("frame", "room", || parts(|_| (), Rooms::frame)),
    ("hash", "room", || {
        parts(Rooms::frame, |rooms| {
            black_box(rooms.hash());
        })
    }),
    ("save", "room", || {
        parts(Rooms::frame, |rooms| {
            black_box(rooms.save());
        })
    }),
    ("view", "room", || parts(Rooms::frame, views)),
    ("node", "room and frame", || node(FRAMES)),
    ("load", "script", loads),
];

fn main() {
    // cargo adds `--bench`.
    let mut args = std::env::args()
        .skip(1)
        .filter(|name| !name.starts_with('-'));
    let name = args.next();
    // To measure times, more frames of a node.
    if let Some(frames) = args.next() {
        let frames = frames.parse().expect("a number of frames");
        println!("{} room and frame", node(frames));
        return;
    }
    for (row, unit, work) in ROWS {
        match &name {
            Some(name) if name == row => println!("{} {unit}", work()),
            Some(_) => {}
            None => {
                println!("{row}");
                work();
            }
        }
    }
}
