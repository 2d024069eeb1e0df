//! The pages about Bevy, as documentation: the code in them is compiled and run by the tests.

#![forbid(unsafe_code)]

/// A page as the documentation of a module.
macro_rules! pages {
    ($($name:ident: $path:literal)*) => {
        $(
            #[doc = include_str!($path)]
            pub mod $name {}
        )*
    };
}

pages! {
    tutorial: "../../tutorial.md"
    state_machines: "../../../../../docs/guide/coming-from/bevy.md"
    bevy_defer: "../../../../../docs/guide/coming-from/bevy_defer.md"
    bevy_flurx: "../../../../../docs/guide/coming-from/bevy_flurx.md"
}
