//! Has the code of README.md and of the guide compiled and run.

#![forbid(unsafe_code)]

/// A page, as the documentation of an item of its own: the code in it is tested.
#[cfg(doctest)]
macro_rules! pages {
    ($($name:ident: $path:literal)*) => {
        $(
            #[doc = include_str!($path)]
            pub mod $name {}
        )*
    };
}

#[cfg(doctest)]
pages! {
    readme: "../README.md"
    guide: "../docs/guide/README.md"
    first_game: "../docs/guide/first-game.md"
    state_and_owners: "../docs/guide/state-and-owners.md"
    time: "../docs/guide/time.md"
    waits: "../docs/guide/waits.md"
    several: "../docs/guide/several.md"
    buffers: "../docs/guide/buffers.md"
    stopping: "../docs/guide/stopping.md"
    pausing: "../docs/guide/pausing.md"
    engines: "../docs/guide/engines.md"
    hosts: "../docs/guide/hosts.md"
    web: "../docs/guide/web.md"
    determinism: "../docs/guide/determinism.md"
    testing: "../docs/guide/testing.md"
    inspecting: "../docs/guide/inspecting.md"
    panel: "../docs/guide/panel.md"
    performance: "../docs/guide/performance.md"
    compiler: "../docs/guide/compiler.md"
    tables: "../docs/guide/tables.md"
    lints: "../docs/guide/lints.md"
    hot_reload: "../docs/guide/hot-reload.md"
    mods: "../docs/guide/mods.md"
    tracing: "../docs/guide/tracing.md"
    recipes: "../docs/guide/recipes.md"
    unity: "../docs/guide/coming-from/unity.md"
    unitask: "../docs/guide/coming-from/unitask.md"
    dotween: "../docs/guide/coming-from/dotween.md"
    reactivex: "../docs/guide/coming-from/reactivex.md"
    ue5coro: "../docs/guide/coming-from/ue5coro.md"
    godot: "../docs/guide/coming-from/godot.md"
    tokio: "../docs/guide/coming-from/tokio.md"
}
