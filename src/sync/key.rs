//! Keys of signals, watches and semaphores with a name.

use std::fmt;

/// What can be the key of a named [signal](crate::sync::Signal::keyed), watch or semaphore: a number, a
/// text, or a tuple, list or option of these. Keys with the same text are the same.
///
/// The type of a number does not matter. A text is quoted, so that `"3"` is another key than `3`.
///
/// # Examples
///
/// A type of the game writes the number that tells its values apart:
///
/// ```
/// use std::fmt;
///
/// use framestep::prelude::*;
/// use framestep::sync::Key;
///
/// const OPENED: Signal<()> = signal("opened");
///
/// struct Door(u32);
///
/// impl Key for Door {
///     fn write(&self, text: &mut dyn fmt::Write) -> fmt::Result {
///         self.0.write(text)
///     }
/// }
///
/// let mut executor = Executor::new();
/// let hero = executor.start(async { OPENED.keyed(Door(3)).wait().await });
/// executor.enter(|| OPENED.keyed(3).emit(()));
/// executor.run_until(hero, 0.25).unwrap();
/// ```
pub trait Key {
    /// Writes the key as text.
    ///
    /// # Errors
    ///
    /// Those of `text`.
    fn write(&self, text: &mut dyn fmt::Write) -> fmt::Result;
}

impl<K: Key + ?Sized> Key for &K {
    fn write(&self, text: &mut dyn fmt::Write) -> fmt::Result {
        (**self).write(text)
    }
}

macro_rules! written {
    ($format:literal: $($type:ty,)*) => {
        $(impl Key for $type {
            fn write(&self, text: &mut dyn fmt::Write) -> fmt::Result {
                write!(text, $format, self)
            }
        })*
    };
}

written!("{}": bool, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize,);
written!("{:?}": char, str, String, (),);

fn write_list<'k>(
    text: &mut dyn fmt::Write,
    [open, close]: [char; 2],
    items: impl Iterator<Item = &'k dyn Key>,
) -> fmt::Result {
    text.write_char(open)?;
    for (index, item) in items.enumerate() {
        if index > 0 {
            text.write_str(", ")?;
        }
        item.write(text)?;
    }
    text.write_char(close)
}

impl<K: Key> Key for [K] {
    fn write(&self, text: &mut dyn fmt::Write) -> fmt::Result {
        write_list(text, ['[', ']'], self.iter().map(|item| item as &dyn Key))
    }
}

impl<K: Key> Key for Vec<K> {
    fn write(&self, text: &mut dyn fmt::Write) -> fmt::Result {
        self.as_slice().write(text)
    }
}

impl<K: Key> Key for Option<K> {
    fn write(&self, text: &mut dyn fmt::Write) -> fmt::Result {
        match self {
            None => text.write_str("None"),
            Some(key) => {
                text.write_str("Some")?;
                write_list(text, ['(', ')'], std::iter::once(key as &dyn Key))
            }
        }
    }
}

macro_rules! tuples {
    ($(($($item:ident)*))*) => {
        $(impl<$($item: Key),*> Key for ($($item,)*) {
            #[expect(non_snake_case, reason = "an item has the name of its type")]
            fn write(&self, text: &mut dyn fmt::Write) -> fmt::Result {
                let ($($item,)*) = self;
                write_list(text, ['(', ')'], [$($item as &dyn Key),*].into_iter())
            }
        })*
    };
}

tuples!((A)(A B)(A B C)(A B C D));

/// The name of one key: `knock[3]`.
pub(super) fn full_name(base: &str, key: &impl Key) -> String {
    let mut full = format!("{base}[");
    let written = key.write(&mut full);
    written.expect("a String takes any text, and a key writes nothing else");
    full.push(']');
    full
}
