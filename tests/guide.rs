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
    recipes: "../docs/guide/recipes.md"
}
