//! Rooms without state, inputs and views.

/// Makes the type of such a room, of this name.
macro_rules! empty_room {
    ($room:ident, $name:literal) => {
        #[derive(Serialize, Deserialize)]
        struct $room;

        impl Room for $room {
            const NAME: &'static str = $name;
            type Args = ();
            type Input = ();
            type View = ();

            fn registry() -> Registry {
                Registry::new()
            }

            fn open(_: &Runtime, (): ()) -> Self {
                $room
            }

            fn input(&mut self, _: &Runtime, _: Player, (): ()) {}

            fn view(&self) {}
        }
    };
}
pub(crate) use empty_room;
