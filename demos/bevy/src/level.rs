//! Where everything is. The dungeon is three rooms, one above the other.

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::art::Picture;
use crate::body::Barrier;
use crate::{boss, chest, door, firefly, gem, guard, hero, hourglass, keeper, layer, lever};
use crate::{portcullis, story, torch, turret};

/// The size of the dungeon; it begins at the left end of its lower side.
pub(crate) const SIZE: [u16; 2] = [736, 1_672];
pub(crate) const WIDTH: f32 = 736.0;
pub(crate) const HEIGHT: f32 = 1_672.0;

/// The walls at the sides begin this far from the middle.
pub(crate) const INSIDE: f32 = 336.0;

/// How wide the doorways are, how high they are, and both.
pub(crate) const DOORWAY: f32 = 80.0;
pub(crate) const LINTEL: f32 = 72.0;
pub(crate) const OPENING: [u16; 2] = [80, 72];

/// The middle of the last room.
pub(crate) const ARENA: Vec2 = Vec2::new(0.0, 1_330.0);

/// A wall from left to right.
pub(crate) struct Wall {
    pub(crate) foot: f32,
    /// How high its face is. Behind it is its top.
    pub(crate) face: f32,
    pub(crate) has_doorway: bool,
}

pub(crate) const WALLS: [Wall; 4] = [
    Wall::new(0.0, 0.0, false),
    Wall::new(DOOR, 88.0, true),
    Wall::new(GATE, 88.0, true),
    Wall::new(1_552.0, 88.0, false),
];

const DOOR: f32 = 400.0;
const GATE: f32 = 960.0;
const TOP: f32 = 32.0;

impl Wall {
    const fn new(foot: f32, face: f32, has_doorway: bool) -> Self {
        Wall {
            foot,
            face,
            has_doorway,
        }
    }

    pub(crate) const fn depth(&self) -> f32 {
        self.face + TOP
    }

    pub(crate) fn contains(&self, y: f32) -> bool {
        (self.foot..self.foot + self.depth()).contains(&y)
    }

    /// The walls that block everyone.
    fn barriers(&self) -> Vec<Rect> {
        let (low, high) = (self.foot, self.foot + self.depth());
        if !self.has_doorway {
            return vec![Rect::new(-INSIDE, low, INSIDE, high)];
        }
        let side = DOORWAY / 2.0;
        vec![
            Rect::new(-INSIDE, low, -side, high),
            Rect::new(side, low, INSIDE, high),
        ]
    }
}

/// The point of the dungeon that is `at` from the middle of its picture.
pub(crate) fn from_middle(at: Vec2) -> Vec2 {
    at + Vec2::Y * HEIGHT / 2.0
}

/// Despawned when the game starts over.
#[derive(Component)]
pub(crate) struct Prop;

/// Despawns everything, which ends the scripts, and spawns it again.
pub(crate) fn start_over(world: &mut World) {
    clear(world);
    furnish(world);
}

/// Despawns everything.
pub(crate) fn clear(world: &mut World) {
    let mut props = world.query_filtered::<Entity, With<Prop>>();
    let props: Vec<Entity> = props.iter(world).collect();
    for prop in props {
        // Children are despawned with their parents.
        _ = world.try_despawn(prop);
    }
}

/// A system that spawns everything.
pub(crate) fn furnish(world: &mut World) {
    hero::spawn(world);
    let (keeper, chest) = furnish_rooms(world);
    guard::spawn(world, vec2(-230.0, 610.0), vec2(230.0, 610.0));
    guard::spawn(world, vec2(220.0, 800.0), vec2(-130.0, 800.0));
    let king = boss::spawn(world, ARENA);
    let story = Scripts::of(move |_| story::tell(keeper, king, chest));
    world.spawn((Prop, story));
}

/// Everything that is not saved, around a hero. There are no guards in the hall: in a save, he
/// is past them. Returns the keeper and the chest.
pub(crate) fn furnish_rooms(world: &mut World) -> (Entity, Entity) {
    walls(world);
    for at in TORCHES {
        torch::spawn(world, at);
    }
    for at in FIREFLIES {
        firefly::spawn(world, at);
    }
    for at in GEMS {
        gem::spawn(world, at);
    }
    door::spawn(world, vec2(0.0, DOOR));
    turret::spawn(world, vec2(-250.0, GATE + 44.0), 0.0);
    turret::spawn(world, vec2(250.0, GATE + 44.0), 0.9);
    hourglass::spawn(world, vec2(0.0, 720.0));
    let lever = lever::spawn(world, vec2(-270.0, 880.0));
    portcullis::spawn(world, vec2(0.0, GATE), lever);
    let chest = chest::spawn(world, ARENA + Vec2::Y * 150.0);
    let keeper = keeper::spawn(world, vec2(100.0, 250.0));
    (keeper, chest)
}

const TORCHES: [Vec2; 8] = [
    vec2(-190.0, DOOR + 50.0),
    vec2(190.0, DOOR + 50.0),
    vec2(-150.0, GATE + 50.0),
    vec2(150.0, GATE + 50.0),
    vec2(-230.0, 1_602.0),
    vec2(-90.0, 1_602.0),
    vec2(90.0, 1_602.0),
    vec2(230.0, 1_602.0),
];

const FIREFLIES: [Vec2; 7] = [
    vec2(-250.0, 110.0),
    vec2(-180.0, 300.0),
    vec2(-290.0, 230.0),
    vec2(230.0, 130.0),
    vec2(290.0, 330.0),
    vec2(290.0, 700.0),
    vec2(-290.0, 560.0),
];

const GEMS: [Vec2; 6] = [
    vec2(-220.0, 190.0),
    vec2(235.0, 560.0),
    vec2(-235.0, 690.0),
    vec2(120.0, 900.0),
    vec2(-270.0, 1_150.0),
    vec2(270.0, 1_480.0),
];

fn walls(world: &mut World) {
    let middle = vec3(0.0, HEIGHT / 2.0, layer::FLOOR);
    let dungeon = Picture::Dungeon.drawn();
    world.spawn((Prop, dungeon, Transform::from_translation(middle)));
    for side in [-1.0, 1.0] {
        let middle = vec2(side * (INSIDE + WIDTH) / 2.0, HEIGHT / 2.0);
        let size = vec2(WIDTH - INSIDE, HEIGHT);
        world.spawn((Prop, Barrier(Rect::from_center_size(middle, size))));
    }
    for wall in &WALLS {
        for barrier in wall.barriers() {
            world.spawn((Prop, Barrier(barrier)));
        }
        if wall.has_doorway {
            lintel(world, wall);
        }
    }
}

/// The piece of the wall above a doorway. It hides everyone who walks below it.
fn lintel(world: &mut World, wall: &Wall) {
    let half = DOORWAY / 2.0 + 2.0;
    let low = wall.foot + LINTEL;
    let high = wall.foot + wall.depth();
    let from_corner = Vec2::X * WIDTH / 2.0;
    let (from, to) = (vec2(-half, low), vec2(half, high));
    let piece = Picture::Dungeon.piece(from + from_corner, to + from_corner);
    let middle = f32::midpoint(low, high);
    world.spawn((Prop, piece, Transform::from_xyz(0.0, middle, layer::LINTEL)));
}
