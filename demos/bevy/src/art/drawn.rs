//! Entities that show a picture: a smaller `Sprite`.
//!
//! The shader of Bevy's `Sprite` has branches for slices, tiles and flips, by uniforms. Mesa's
//! software renderer compiles that shader again for most draws and keeps the results, so memory
//! grows by 25 MB a frame. This shader has no branches.

use std::collections::HashMap;

use bevy::asset::embedded_asset;
use bevy::mesh::MeshTag;
use bevy::prelude::*;
use bevy::render::render_resource::AsBindGroup;
use bevy::shader::ShaderRef;
use bevy::sprite_render::{AlphaMode2d, Material2d, Material2dPlugin};

use super::Picture;

#[derive(Component, Clone, Copy)]
#[require(Mesh2d, MeshMaterial2d::<Paint>, MeshTag, Transform, Visibility)]
pub(crate) struct Drawn {
    pub(super) picture: Picture,
    pub(super) size: Vec2,
    /// The part of the picture that is shown, as shares of it from the upper left.
    pub(super) part: Rect,
    /// Multiplies the picture; each component can be up to twice white.
    pub(crate) color: Color,
    pub(crate) flip_x: bool,
}

impl Drawn {
    /// A rectangle of one colour.
    pub(crate) fn plain(color: Color, size: Vec2) -> Self {
        Drawn {
            size,
            color,
            ..Picture::Plain.drawn()
        }
    }

    /// Shows another pose of the picture.
    pub(crate) fn set_pose(&mut self, pose: u16) {
        self.part = self.picture.pose(pose);
    }

    /// Whether it shows this pose.
    pub(crate) fn has_pose(&self, pose: u16) -> bool {
        self.part == self.picture.pose(pose)
    }

    fn tint(&self) -> u32 {
        let Srgba {
            red,
            green,
            blue,
            alpha,
        } = self.color.to_srgba();
        let tint = Srgba::new(red / 2.0, green / 2.0, blue / 2.0, alpha);
        u32::from_le_bytes(tint.to_u8_array())
    }

    fn mesh(&self) -> Mesh {
        let Rect { min, max } = self.part;
        let (left, right) = if self.flip_x {
            (max.x, min.x)
        } else {
            (min.x, max.x)
        };
        // In the order of the corners of a rectangle.
        let corners = [[right, min.y], [left, min.y], [left, max.y], [right, max.y]];
        let mesh = Mesh::from(Rectangle::from_size(self.size));
        mesh.with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, corners.to_vec())
    }

    /// The same for entities that share a mesh.
    fn key(&self) -> [u32; 7] {
        let (Vec2 { x, y }, Rect { min, max }) = (self.size, self.part);
        let flip = f32::from(u8::from(self.flip_x));
        [x, y, min.x, min.y, max.x, max.y, flip].map(f32::to_bits)
    }
}

#[derive(Asset, AsBindGroup, TypePath, Clone)]
struct Paint {
    #[texture(0)]
    #[sampler(1)]
    picture: Handle<Image>,
}

impl Material2d for Paint {
    fn fragment_shader() -> ShaderRef {
        "embedded://framestep_bevy/art/drawn.wesl".into()
    }

    fn alpha_mode(&self) -> AlphaMode2d {
        AlphaMode2d::Blend
    }
}

pub(super) fn plugin(app: &mut App) {
    embedded_asset!(app, "drawn.wesl");
    app.add_plugins(Material2dPlugin::<Paint>::default())
        .add_systems(PostUpdate, show);
}

/// What all drawn entities share.
#[derive(Default)]
struct Shared {
    meshes: HashMap<[u32; 7], Handle<Mesh>>,
    paints: HashMap<Picture, Handle<Paint>>,
}

type Shown = (
    &'static Drawn,
    &'static mut Mesh2d,
    &'static mut MeshMaterial2d<Paint>,
    &'static mut MeshTag,
);

fn show(
    mut changed: Query<Shown, Changed<Drawn>>,
    mut shared: Local<Shared>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut paints: ResMut<Assets<Paint>>,
) {
    for (drawn, mut mesh, mut material, mut tag) in &mut changed {
        let known = shared.meshes.entry(drawn.key());
        let known = known.or_insert_with(|| meshes.add(drawn.mesh()));
        mesh.set_if_neq(Mesh2d(known.clone()));
        let paint = shared.paints.entry(drawn.picture).or_insert_with(|| {
            let picture = drawn.picture.image();
            paints.add(Paint { picture })
        });
        if material.0 != *paint {
            material.0 = paint.clone();
        }
        tag.value = drawn.tint();
    }
}
