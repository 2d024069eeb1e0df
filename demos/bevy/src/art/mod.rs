//! All pictures. They are painted when the game starts: there are no files.

mod brush;
mod drawn;
mod dungeon;
mod effects;
mod people;
mod things;

use bevy::asset::RenderAssetUsages;
use bevy::asset::uuid::Uuid;
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};

use brush::Dot;
pub(crate) use drawn::Drawn;

use crate::level;

/// A picture. It has a fixed number, so no handles must be passed around.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Picture {
    Alarm,
    Bolt,
    Chest,
    Coin,
    Door,
    Dungeon,
    Flame,
    Gargoyle,
    Gem,
    Glow,
    Guard,
    Handle,
    Heart,
    Hero,
    Hourglass,
    Imp,
    Keeper,
    King,
    Lid,
    Plain,
    Portcullis,
    Shadow,
    Sight,
    Slash,
    Socket,
    Spark,
    Torch,
}

impl Picture {
    const ALL: [Self; 27] = [
        Self::Alarm,
        Self::Bolt,
        Self::Chest,
        Self::Coin,
        Self::Door,
        Self::Dungeon,
        Self::Flame,
        Self::Gargoyle,
        Self::Gem,
        Self::Glow,
        Self::Guard,
        Self::Handle,
        Self::Heart,
        Self::Hero,
        Self::Hourglass,
        Self::Imp,
        Self::Keeper,
        Self::King,
        Self::Lid,
        Self::Plain,
        Self::Portcullis,
        Self::Shadow,
        Self::Sight,
        Self::Slash,
        Self::Socket,
        Self::Spark,
        Self::Torch,
    ];

    fn image(self) -> Handle<Image> {
        let number = Uuid::from_u128(self as u128 + 1);
        Handle::Uuid(number, std::marker::PhantomData)
    }

    /// As it was painted. Of those with several poses, the first.
    pub(crate) fn drawn(self) -> Drawn {
        Drawn {
            picture: self,
            size: self.extent() / vec2(f32::from(self.poses()), 1.0),
            part: self.pose(0),
            color: Color::WHITE,
            flip_x: false,
        }
    }

    /// How many poses are painted, side by side: standing, and those of a walk.
    fn poses(self) -> u16 {
        match self {
            Self::Hero => people::HERO_POSES,
            Self::Guard => people::GUARD_POSES,
            Self::Imp => people::IMP_POSES,
            _ => 1,
        }
    }

    /// The part of the picture with this pose.
    pub(crate) fn pose(self, pose: u16) -> Rect {
        let width = 1.0 / f32::from(self.poses());
        let left = f32::from(pose) * width;
        Rect::new(left, 0.0, left + width, 1.0)
    }

    /// In a colour, and in another size.
    pub(crate) fn tinted(self, size: f32, color: Color) -> Drawn {
        Drawn {
            size: Vec2::splat(size),
            color,
            ..self.drawn()
        }
    }

    /// A piece of it, from the lower left to the upper right.
    pub(crate) fn piece(self, from: Vec2, to: Vec2) -> Drawn {
        let extent = self.extent();
        // Shares count from the top.
        let share = |at: Vec2| Vec2::Y + at / extent * vec2(1.0, -1.0);
        Drawn {
            size: to - from,
            part: Rect::from_corners(share(from), share(to)),
            ..self.drawn()
        }
    }

    fn extent(self) -> Vec2 {
        let [width, height] = self.size();
        vec2(f32::from(width), f32::from(height))
    }

    fn size(self) -> [u16; 2] {
        match self {
            Self::Dungeon => level::SIZE,
            Self::Door | Self::Portcullis => level::OPENING,
            Self::King => [112, 112],
            Self::Spark => [12, 12],
            Self::Plain => [1, 1],
            _ => [64 * self.poses(), 64],
        }
    }

    fn brush(self) -> fn(Vec2) -> Dot {
        match self {
            Self::Alarm => effects::alarm,
            Self::Bolt => effects::bolt,
            Self::Chest => things::chest,
            Self::Coin => things::coin,
            Self::Door => things::door,
            Self::Dungeon => |at| dungeon::paint(level::from_middle(at)),
            Self::Flame => things::flame,
            Self::Gargoyle => things::gargoyle,
            Self::Gem => things::gem,
            Self::Glow => effects::glow,
            Self::Guard => |at| posed(at, people::GUARD_POSES, people::guard),
            Self::Handle => things::handle,
            Self::Heart => things::heart,
            Self::Hero => |at| posed(at, people::HERO_POSES, people::hero),
            Self::Hourglass => things::hourglass,
            Self::Imp => |at| posed(at, people::IMP_POSES, people::imp),
            Self::Keeper => people::keeper,
            Self::King => people::king,
            Self::Lid => things::lid,
            Self::Plain => effects::plain,
            Self::Portcullis => things::portcullis,
            Self::Shadow => effects::shadow,
            Self::Sight => effects::sight,
            Self::Slash => effects::slash,
            Self::Socket => things::socket,
            Self::Spark => effects::spark,
            Self::Torch => things::torch,
        }
    }

    fn paint(self) -> Image {
        let ([width, height], brush) = (self.size(), self.brush());
        let middle = self.extent() / 2.0;
        let rows = (0..height).rev();
        let dots = rows.flat_map(|y| (0..width).map(move |x| vec2(f32::from(x), f32::from(y))));
        let bytes = dots.flat_map(|dot| brush(dot + 0.5 - middle).to_bytes());
        let size = Extent3d {
            width: width.into(),
            height: height.into(),
            depth_or_array_layers: 1,
        };
        Image::new(
            size,
            TextureDimension::D2,
            bytes.collect(),
            TextureFormat::Rgba8UnormSrgb,
            RenderAssetUsages::RENDER_WORLD,
        )
    }
}

/// The point of one of several poses that are painted side by side.
fn posed(at: Vec2, poses: u16, brush: fn(Vec2, u16) -> Dot) -> Dot {
    const WIDTH: f32 = 64.0;
    let from_left = at.x + f32::from(poses) * WIDTH / 2.0;
    let pose = (0..poses).find(|pose| from_left < f32::from(pose + 1) * WIDTH);
    let pose = pose.unwrap_or(poses - 1);
    let middle = (f32::from(pose) + 0.5) * WIDTH;
    brush(vec2(from_left - middle, at.y), pose)
}

pub(crate) fn plugin(app: &mut App) {
    app.add_plugins(drawn::plugin)
        .add_systems(PreStartup, paint_all);
}

fn paint_all(mut images: ResMut<Assets<Image>>) {
    for picture in Picture::ALL {
        let kept = images.insert(&picture.image(), picture.paint());
        kept.expect("a picture has a number of its own");
    }
}
