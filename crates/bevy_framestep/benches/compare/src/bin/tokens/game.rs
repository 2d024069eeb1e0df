//! The types that the tasks use.

use bevy::prelude::*;

#[derive(Component)]
pub(crate) struct Position(pub(crate) f32);

#[derive(Component)]
pub(crate) struct Speed(pub(crate) f32);

#[derive(Message, Clone)]
pub(crate) struct Hit;

#[derive(Resource)]
pub(crate) struct Door {
    pub(crate) open: bool,
}

#[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Screen {
    #[default]
    Menu,
    Game,
}

pub(crate) fn log(_: Hit) {}
