//! Names: none of the user's is in the way of what the attribute writes.
#![deny(warnings)]

/// Nothing of the prelude is in scope here, and the names that the expansion could mean are
/// others.
mod bare {
    #![expect(dead_code, reason = "types with names in the way")]

    struct Chapter;
    struct Handle;
    struct Output;
    struct Result;
    struct String;
    trait Future {}
    trait IntoFuture {}
    trait DurableScript {}
    mod core {}
    mod framestep_durable {}
    mod serde {}
    mod std {}

    #[::framestep_durable::durable]
    pub(super) async fn script(output: u8, root: u8, serializer: u8) -> Chapter {
        ::framestep_durable::next_frame().await;
        match output {
            0 => ::framestep_durable::Chapter::Done(()),
            _ => ::framestep_durable::Chapter::Next(script(output - 1, root, serializer)),
        }
    }

    #[::framestep_durable::durable]
    pub(super) mod chapters {
        struct Chapter;
        struct Chapters2;

        #[chapter]
        pub(crate) async fn one(argument_0: u8, argument_1: u8) -> Chapter<u8> {
            ::framestep_durable::Chapter::Next(two(argument_1, argument_0))
        }

        #[chapter]
        async fn two(argument_1: u8, one: u8) -> u8 {
            ::framestep_durable::next_frame().await;
            argument_1 - one
        }
    }
}

/// Types of the game that have names of durable scripts.
mod own {
    use framestep_durable::{durable, next_frame};
    use serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    pub(super) struct Chapter(pub(super) u8);

    #[durable]
    pub(super) async fn reader(page: u8) -> self::Chapter {
        next_frame().await;
        Chapter(page)
    }
}

/// The crate by another path.
mod elsewhere {
    pub(super) mod engine {
        pub(crate) use framestep_durable as saves;
    }

    #[engine::saves::durable(crate = engine::saves, name = "far")]
    pub(super) async fn away() -> engine::saves::Chapter<u8> {
        engine::saves::Chapter::Done(3)
    }
}

/// From a macro of the game.
macro_rules! scripts {
    ($($name:ident($parameter:ident: $ty:ty) -> $output:ty $body:block)*) => {
        $(
            #[durable]
            pub(super) async fn $name($parameter: $ty) -> $output $body
        )*
    };
}

mod raw {
    use framestep_durable::prelude::*;

    #[durable]
    pub(super) async fn r#match(r#type: u8, mut r#self_: u8) -> Chapter<u8> {
        next_frame().await;
        r#self_ += 1;
        if r#type > 0 {
            return Chapter::Next(r#match(0, self_));
        }
        Chapter::Done(self_)
    }

    #[durable]
    pub(super) mod r#loop {
        use framestep_durable::prelude::*;

        #[chapter]
        pub(crate) async fn r#while(r#if: u8) -> Chapter<u8> {
            next_frame().await;
            Chapter::Next(r#move(r#if))
        }

        #[chapter]
        async fn r#move(r#in: u8) -> u8 {
            r#in
        }
    }

    scripts! {
        tenfold(number: u8) -> u8 {
            next_frame().await;
            10 * number
        }
        twice(number: u8) -> Chapter<u8> {
            next_frame().await;
            Chapter::Done(2 * number)
        }
    }
}

/// Levels of lints, and how often the compiler speaks about one script.
mod lints {
    use framestep_durable::prelude::*;

    #[durable]
    #[expect(unused_variables, unused_mut)]
    pub(super) async fn unused(mut number: u8) {
        next_frame().await;
    }

    #[durable]
    #[expect(dead_code)]
    async fn never_called(number: u8) -> u8 {
        next_frame().await;
        number
    }

    #[durable]
    #[allow(unused_variables)]
    pub(super) async fn allowed(number: u8, #[expect(unused_variables)] other: u8) {
        next_frame().await;
    }

    #[durable]
    #[expect(
        clippy::too_many_arguments,
        reason = "the attribute reports none of its own"
    )]
    #[expect(clippy::fn_params_excessive_bools, clippy::many_single_char_names)]
    pub(super) async fn long(
        a: bool,
        b: bool,
        c: bool,
        d: bool,
        e: u8,
        f: u8,
        g: u8,
        h: u8,
    ) -> (bool, u8) {
        (a && b && c && d, e + f + g + h)
    }
}

use framestep_durable::prelude::*;

fn output<S: DurableScript>(script: S) -> S::Output {
    let mut runtime = Runtime::new(Registry::new().with::<S>());
    let handle = runtime.spawn(script);
    for _ in 0..5 {
        runtime.run_frame(0.1);
    }
    runtime.verify().unwrap();
    runtime.take(handle).unwrap().unwrap()
}

fn name_of<S: DurableScript>(_: &S) -> &'static str {
    S::NAME
}

#[test]
fn names_of_the_game_are_not_in_the_way() {
    output(bare::script(2, 0, 0));
    assert_eq!(output(bare::chapters::one(3, 8)), 5);
    assert_eq!(output(own::reader(7)), own::Chapter(7));
}

#[test]
fn raw_names_are_written_without_their_mark() {
    assert_eq!(name_of(&raw::r#match(1, 1)), "match");
    assert_eq!(name_of(&raw::r#loop::r#while(4)), "loop");
    assert_eq!(output(raw::r#match(1, 1)), 3);
    assert_eq!(output(raw::r#loop::r#while(4)), 4);
    let json = serde_json::to_string(&raw::r#match(1, 2)).unwrap();
    assert_eq!(json, r#"{"type":1,"self_":2}"#);
    let json = serde_json::to_string(&raw::r#loop::r#while(1)).unwrap();
    assert_eq!(json, r#"{"While":{"if":1}}"#);
}

#[test]
fn scripts_may_come_from_macros() {
    assert_eq!(output(raw::tenfold(4)), 40);
    assert_eq!(output(raw::twice(4)), 8);
}

#[test]
fn the_crate_may_be_elsewhere() {
    assert_eq!(name_of(&elsewhere::away()), "far");
    assert_eq!(output(elsewhere::away()), 3);
}

#[test]
fn lints_look_at_the_function_once() {
    output(lints::unused(1));
    output(lints::allowed(1, 2));
    assert_eq!(
        output(lints::long(true, true, true, true, 1, 2, 3, 4)),
        (true, 10)
    );
}

/// The game's own types, modules and functions with the names of scripts.
mod beside_types_of_the_game {
    use framestep_durable::prelude::*;

    #[derive(Debug, PartialEq)]
    struct Door(u32);

    struct Patrol;

    trait Kind: Serialize + DeserializeOwned + 'static {
        const PATROL: &'static str;
    }

    #[derive(Serialize, Deserialize)]
    struct Goblin;

    impl Kind for Goblin {
        const PATROL: &'static str = "patrol of a goblin";
    }

    /// Opens.
    #[durable]
    pub(super) async fn door(number: u32) -> u32 {
        Door(number).0
    }

    /// Other words of other scripts.
    #[durable(name = "door of another kind")]
    async fn _door(number: u32) -> u32 {
        number + 1
    }

    mod door {
        pub(super) const NUMBER: u32 = 3;
    }

    #[durable(name = E::PATROL)]
    async fn patrol<E: Kind>(enemy: E) -> String
    where
        u8: Into<u32>,
    {
        let (Patrol, _) = (Patrol, enemy);
        E::PATROL.to_owned()
    }

    #[durable]
    mod guard {
        use framestep_durable::prelude::*;

        #[derive(Serialize, Deserialize)]
        pub(super) struct Guard;

        #[chapter]
        pub(super) async fn stands(guard: Guard) -> Chapter<u32> {
            let Guard = guard;
            Chapter::Next(falls())
        }

        #[chapter]
        async fn falls() -> u32 {
            guard(4).await.unwrap()
        }

        /// A script with the name of the module.
        #[durable(name = "one of the guards")]
        pub(super) async fn guard(number: u32) -> u32 {
            number
        }
    }

    #[durable(state = Chapters)]
    mod named {
        #[chapter]
        pub(super) async fn first() -> u32 {
            4
        }
    }

    #[durable(state = LampScript)]
    async fn lamp(number: u32) -> u32 {
        number
    }

    #[test]
    #[expect(clippy::used_underscore_items, reason = "one of the names")]
    fn a_script_leaves_all_names_but_its_own_to_the_game() {
        let registry = Registry::new()
            .script(door)
            .script(_door)
            .script(patrol::<Goblin>)
            .script(guard::stands)
            .script(guard::guard);
        let runtime = Runtime::new(registry);
        let door = (runtime.start(door(door::NUMBER)), runtime.start(_door(3)));
        assert_eq!(runtime.take(door.0), Some(Ok(3)));
        assert_eq!(runtime.take(door.1), Some(Ok(4)));
        let patrol = runtime.start(patrol(Goblin));
        assert_eq!(
            runtime.take(patrol),
            Some(Ok("patrol of a goblin".to_owned()))
        );
        let guard = runtime.start(guard::stands(guard::Guard));
        assert_eq!(runtime.take(guard), Some(Ok(4)));
    }

    #[test]
    fn a_state_has_the_name_that_it_is_given() {
        let runtime = Runtime::new(Registry::new().script(lamp).with::<named::Chapters>());
        let _: LampScript = lamp(2);
        let _: named::Chapters = named::first();
        let (lamp, named) = (runtime.start(lamp(3)), runtime.start(named::first()));
        assert_eq!(runtime.take(lamp), Some(Ok(3)));
        assert_eq!(runtime.take(named), Some(Ok(4)));
    }
}
