//! Light: the night is a sheet in front of the camera, which multiplies the picture behind it
//! with the light of all lamps.

use bevy::asset::embedded_asset;
use bevy::camera::visibility::NoFrustumCulling;
use bevy::mesh::MeshVertexBufferLayoutRef;
use bevy::prelude::*;
use bevy::render::render_resource::{
    AsBindGroup, BlendComponent, BlendFactor, BlendOperation, BlendState, RenderPipelineDescriptor,
    ShaderType, SpecializedMeshPipelineError,
};
use bevy::shader::ShaderRef;
use bevy::sprite_render::{
    AlphaMode2d, Material2d, Material2dKey, Material2dPipeline, Material2dPlugin,
};

use crate::{layer, stage};

/// Shines where its entity is.
#[derive(Component, Clone, Copy)]
pub(crate) struct Lamp {
    /// How far it reaches. At 0, it is off.
    pub(crate) reach: f32,
    pub(crate) colour: Vec3,
}

/// The light that is everywhere.
#[derive(Resource)]
pub(crate) struct Ambient(pub(crate) Vec3);

pub(crate) const NIGHT: Vec3 = Vec3::new(0.13, 0.15, 0.27);
pub(crate) const DAWN: Vec3 = Vec3::new(0.95, 0.78, 0.72);

const SHADER: &str = "embedded://framestep_bevy/light.wgsl";

/// The most lamps that the shader takes.
const MOST: usize = 24;

#[derive(Asset, AsBindGroup, TypePath, Clone)]
struct Darkness {
    #[uniform(0)]
    night: Night,
}

#[derive(ShaderType, Clone, Copy, Default)]
struct Night {
    ambient: Vec4,
    view: Vec4,
    lamps: [Shining; MOST],
}

#[derive(ShaderType, Clone, Copy)]
struct Shining {
    place: Vec4,
    colour: Vec4,
}

impl Default for Shining {
    /// A lamp that is off.
    fn default() -> Self {
        Shining {
            place: Vec4::ONE,
            colour: Vec4::ZERO,
        }
    }
}

impl Material2d for Darkness {
    fn vertex_shader() -> ShaderRef {
        SHADER.into()
    }

    fn fragment_shader() -> ShaderRef {
        SHADER.into()
    }

    fn alpha_mode(&self) -> AlphaMode2d {
        AlphaMode2d::Blend
    }

    fn specialize(
        _: &Material2dPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        _: &MeshVertexBufferLayoutRef,
        _: Material2dKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        // Twice the product of both.
        let color = BlendComponent {
            src_factor: BlendFactor::Dst,
            dst_factor: BlendFactor::Src,
            operation: BlendOperation::Add,
        };
        let alpha = BlendComponent::OVER;
        let targets = descriptor.fragment.iter_mut();
        for target in targets.flat_map(|fragment| fragment.targets.iter_mut().flatten()) {
            target.blend = Some(BlendState { color, alpha });
        }
        Ok(())
    }
}

pub(crate) fn plugin(app: &mut App) {
    embedded_asset!(app, "light.wgsl");
    app.add_plugins(Material2dPlugin::<Darkness>::default())
        .insert_resource(Ambient(NIGHT))
        .add_systems(Startup, spread)
        .add_systems(Last, shine);
}

fn spread(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<Darkness>>,
) {
    let night = Night::default();
    commands.spawn((
        Mesh2d(meshes.add(Rectangle::new(2.0, 2.0))),
        MeshMaterial2d(materials.add(Darkness { night })),
        Transform::from_xyz(0.0, 0.0, layer::NIGHT),
        NoFrustumCulling,
    ));
}

/// Tells the shader about the lamps that are on, nearest to the camera first.
fn shine(
    ambient: Res<Ambient>,
    lamps: Query<(&GlobalTransform, &Lamp)>,
    camera: Single<&GlobalTransform, With<Camera>>,
    mut materials: ResMut<Assets<Darkness>>,
) {
    let middle = camera.translation().truncate();
    let away = |place: &GlobalTransform| (place.translation().y - middle.y).abs();
    let mut on: Vec<_> = lamps.iter().filter(|(_, lamp)| lamp.reach > 0.0).collect();
    on.sort_by(|(one, _), (other, _)| away(one).total_cmp(&away(other)));
    let mut night = Night {
        ambient: ambient.0.extend(1.0),
        view: Vec4::from((middle, stage::HALF)),
        ..Night::default()
    };
    for ((place, lamp), shining) in on.into_iter().zip(&mut night.lamps) {
        shining.place = place
            .translation()
            .truncate()
            .extend(lamp.reach)
            .extend(0.0);
        shining.colour = lamp.colour.extend(1.0);
    }
    for (_, material) in materials.iter_mut() {
        material.night = night;
    }
}
