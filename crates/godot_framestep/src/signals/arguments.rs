//! The arguments of signals, as types.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use godot::obj::WithSignals;
use godot::prelude::*;
use godot::signal::TypedSignal;

use super::SignalWaits;
use super::relay::Emission;

/// The arguments of a signal: a tuple of up to ten types that scripts can have of Godot, or a
/// `Vec<Variant>` of any arguments.
pub trait SignalArguments: Sized + 'static {
    /// Converts the arguments, as Godot does for a function of `GDScript` with types.
    ///
    /// # Errors
    ///
    /// Which one does not fit, or how many there are.
    fn from_variants(arguments: &[&Variant]) -> Result<Self, String>;

    #[doc(hidden)]
    fn to_emission(arguments: &[&Variant]) -> Result<Emission, String> {
        Ok(Rc::new(Cell::new(Some(Self::from_variants(arguments)?))))
    }
}

impl SignalArguments for Vec<Variant> {
    fn from_variants(arguments: &[&Variant]) -> Result<Self, String> {
        Ok(arguments.iter().copied().cloned().collect())
    }
}

macro_rules! tuples {
    ($($name:ident $at:literal)*) => {
        impl<$($name: FromGodot + 'static),*> SignalArguments for ($($name,)*) {
            fn from_variants(arguments: &[&Variant]) -> Result<Self, String> {
                check_count(arguments, <[usize]>::len(&[$($at),*]))?;
                Ok(($(convert::<$name>(arguments, $at)?,)*))
            }
        }

        impl<O, $($name),*> SignalWaits for TypedSignal<'_, O, ($($name,)*)>
        where
            O: WithSignals,
            $($name: FromGodot + fmt::Debug + 'static,)*
        {
            type Arguments = ($($name,)*);

            fn to_signal(&self) -> Signal {
                self.to_untyped()
            }
        }
    };
}

tuples!();
tuples!(A 0);
tuples!(A 0 B 1);
tuples!(A 0 B 1 C 2);
tuples!(A 0 B 1 C 2 D 3);
tuples!(A 0 B 1 C 2 D 3 E 4);
tuples!(A 0 B 1 C 2 D 3 E 4 F 5);
tuples!(A 0 B 1 C 2 D 3 E 4 F 5 G 6);
tuples!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7);
tuples!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8);
tuples!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9);

fn check_count(arguments: &[&Variant], expected: usize) -> Result<(), String> {
    let count = arguments.len();
    if count == expected {
        return Ok(());
    }
    Err(format!("{count} arguments, not {expected}"))
}

fn convert<A: FromGodot>(arguments: &[&Variant], at: usize) -> Result<A, String> {
    let converted = arguments[at].try_to_relaxed();
    converted.map_err(|error| format!("argument {}: {error}", at + 1))
}
