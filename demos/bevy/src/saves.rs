//! The save key: the fight with the king is saved, in the middle of a volley, and loaded.

use bevy::ecs::message::Messages;
use bevy::prelude::*;
use bevy_framestep::ScriptSystems;
use bevy_framestep::durable::framestep_durable::{Policy, Registry};
use bevy_framestep::durable::{self, DurableScriptsPlugin, Save, SaveAppExt};
use bevy_framestep::prelude::*;
use serde::{Deserialize, Serialize};

use crate::body::{Foe, Health};
use crate::bolt::{self, Bolt};
use crate::boss::{self, King};
use crate::dice::KingsDice;
use crate::foes::DurableFoesClock;
use crate::hero::{self, Facing, Hero};
use crate::imp::{self, Imp};
use crate::level::{self, Prop};
use crate::light::{Ambient, NIGHT};
use crate::purse::Purse;
use crate::reign::{chase, fight};
use crate::stage::{Focus, HALF, MIDDLE, Stage};
use crate::text::line;
use crate::{layer, lines, story};

/// Where the save is, besides in memory. A page has no files.
const FILE: Option<&str> = if cfg!(target_arch = "wasm32") {
    None
} else {
    Some("last-lantern.save")
};

/// A key for saves that was pressed.
#[derive(Message, Clone, Copy, Debug)]
pub(crate) enum SaveKey {
    Save,
    Load,
}

/// Where the saves are.
#[derive(Resource, Default)]
pub(crate) struct Shelf {
    latest: Option<Vec<u8>>,
    /// The demo leaves no file.
    pub(crate) is_in_memory: bool,
}

/// A place, without Bevy's feature `serialize`.
#[derive(Serialize, Deserialize)]
struct Place {
    at: [f32; 3],
    turn: [f32; 4],
    size: [f32; 3],
}

pub(crate) fn plugin(app: &mut App) {
    let registry = Registry::new().script(fight::rings).script(chase);
    // The lines of awaits are noted only where they are shown.
    let scripts =
        DurableScriptsPlugin::new(registry).executor(|builder| builder.inspect(lines::are_shown()));
    app.add_plugins(scripts.on_report(|report| error!("{report}")));
    app.save_component::<Hero>("hero")
        .save_component::<King>("king")
        .save_component::<Imp>("imp")
        .save_component::<Bolt>("bolt")
        .save_component::<Foe>("foe")
        .save_component::<Health>("health")
        .save_component_as(
            "facing",
            |facing: &Facing, _| Some(facing.0.to_array()),
            |facing: [f32; 2], _| Some(Facing(facing.into())),
        )
        .save_component_as(
            "place",
            |place: &Transform, _| {
                Some(Place {
                    at: place.translation.into(),
                    turn: place.rotation.into(),
                    size: place.scale.into(),
                })
            },
            |place: Place, _| {
                Some(Transform {
                    translation: place.at.into(),
                    rotation: Quat::from_array(place.turn),
                    scale: place.size.into(),
                })
            },
        )
        .save_resource::<KingsDice>("king's dice")
        .save_resource::<DurableFoesClock>("clock of the foes")
        .save_resource::<Purse>("purse");
    app.add_message::<SaveKey>()
        .init_resource::<Shelf>()
        // When the scripts of the frame have run: those that begin again wait for the next
        // frame, as those of the save did.
        .add_systems(Last, obey.after(ScriptSystems::Run));
}

/// A system: does what the key says.
fn obey(world: &mut World) {
    let keys: Vec<_> = world.resource_mut::<Messages<SaveKey>>().drain().collect();
    for key in keys {
        let done = match key {
            SaveKey::Save => save(world).map(|()| "saved"),
            SaveKey::Load => load(world).map(|()| "loaded"),
        };
        match done {
            Ok(words) => tell(world, words),
            Err(problem) => tell(world, &problem),
        }
    }
}

fn save(world: &mut World) -> Result<(), String> {
    let mut kings = world.query_filtered::<(), With<King>>();
    if kings.iter(world).next().is_none() {
        return Err("wake the king first".to_string());
    }
    let save = durable::save(world).map_err(|error| error.to_string())?;
    let bytes = save.to_bytes();
    let mut shelf = world.resource_mut::<Shelf>();
    let is_in_memory = shelf.is_in_memory;
    shelf.latest = Some(bytes.clone());
    match FILE {
        Some(file) if !is_in_memory => {
            std::fs::write(file, bytes).map_err(|error| format!("{file}: {error}"))
        }
        _ => Ok(()),
    }
}

fn load(world: &mut World) -> Result<(), String> {
    let shelf = world.resource::<Shelf>();
    let file = FILE.filter(|_| !shelf.is_in_memory);
    let bytes = match (&shelf.latest, file) {
        (Some(bytes), _) => bytes.clone(),
        (None, Some(file)) => std::fs::read(file).map_err(|error| format!("{file}: {error}"))?,
        (None, None) => return Err("there is no save".to_string()),
    };
    let save = Save::from_bytes(&bytes).map_err(|error| error.to_string())?;
    // If it does not fit, everything stays as it is.
    durable::load(world, &save, Policy::Fail).map_err(|error| error.to_string())?;
    // Only what has just been loaded is no prop yet.
    level::clear(world);
    dress::<Hero>(world, hero::dress);
    let kings = dress::<King>(world, boss::dress_awake);
    dress::<Imp>(world, imp::dress);
    dress::<Bolt>(world, bolt::dress);
    let (_, chest) = level::furnish_rooms(world);
    world.resource_mut::<Focus>().0 = None;
    world.resource_mut::<Ambient>().0 = NIGHT;
    for king in kings {
        world.spawn((Prop, Scripts::of(move |_| story::end(king, chest))));
    }
    world.flush();
    Ok(())
}

/// In the order of the save. Returns the entities.
fn dress<C: Component>(world: &mut World, dress: fn(&mut World, Entity)) -> Vec<Entity> {
    let mut found = world.query_filtered::<(Entity, &durable::Durable), With<C>>();
    let mut found: Vec<_> = found
        .iter(world)
        .map(|(entity, id)| (id.id(), entity))
        .collect();
    found.sort_unstable();
    let found: Vec<Entity> = found.into_iter().map(|(_, entity)| entity).collect();
    for &entity in &found {
        dress(world, entity);
    }
    found
}

/// Words at the lower edge, for a moment.
fn tell(world: &mut World, words: &str) {
    let stage = world.resource::<Stage>().0;
    let at = MIDDLE + Vec2::Y * (40.0 - HALF.y);
    let place = Transform::from_translation(at.extend(layer::TEXT));
    let words = line(words, 20.0, Color::srgb(1.0, 0.92, 0.6));
    world.spawn((words, place, ChildOf(stage), Scripts::of(fade)));
    world.flush();
}

async fn fade(words: Entity) -> Result<(), Missing> {
    wait_seconds_realtime(1).await;
    animate(0.5, |t| {
        let faded = words.get_mut(|colour: &mut TextColor| colour.0.set_alpha(1.0 - t));
        faded.expect("its scripts end with it");
    })
    .await;
    words.despawn()
}
