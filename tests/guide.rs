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
    compiler: "../docs/guide/compiler.md"
    unity: "../docs/guide/coming-from/unity.md"
    unitask: "../docs/guide/coming-from/unitask.md"
    ue5coro: "../docs/guide/coming-from/ue5coro.md"
    godot: "../docs/guide/coming-from/godot.md"
    tokio: "../docs/guide/coming-from/tokio.md"
}
