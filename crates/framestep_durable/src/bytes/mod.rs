//! Recorded values: serialised, shared, never changed.

pub(crate) mod content;
pub(crate) mod hash;
pub(crate) mod mark;
pub(crate) mod quiet;
pub(crate) mod topic;
pub(crate) mod tree;

pub(crate) use self::content::{Content, Type};
pub(crate) use self::hash::StableHash;
pub(crate) use self::mark::{Contains, Mark, Marked, Says};
pub(crate) use self::quiet::{dispose, message_of};
pub(crate) use self::topic::{SourceTopic, Topic};

use std::fmt::{self, Write as _};
use std::rc::Rc;

use serde::de::{DeserializeOwned, Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A serialised value, as in journals and files.
///
/// `None` if there are no bytes: most waits return nothing.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Bytes(Option<Rc<[u8]>>);

impl Bytes {
    pub(crate) const EMPTY: Bytes = Bytes(None);

    #[inline]
    pub(crate) fn new(bytes: &[u8]) -> Self {
        Bytes((!bytes.is_empty()).then(|| Rc::from(bytes)))
    }

    #[inline]
    pub(crate) fn get(&self) -> &[u8] {
        self.0.as_deref().unwrap_or(&[])
    }

    /// Serialises a value.
    ///
    /// # Panics
    ///
    /// If the value's `Serialize` fails.
    #[track_caller]
    pub(crate) fn of<T: Serialize + ?Sized>(value: &T) -> Self {
        let mut bytes = Vec::new();
        write(value, &mut bytes);
        Bytes::new(&bytes)
    }

    /// Reads the value back. `None` if these are not the bytes of a `T`.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Option<T> {
        read(self.get())
    }
}

/// Serialises a value.
///
/// # Panics
///
/// If the value's `Serialize` fails.
#[track_caller]
pub(crate) fn write<T: Serialize + ?Sized>(value: &T, to: &mut Vec<u8>) {
    if let Err(error) = try_write(value, to) {
        cannot_be_recorded(&error, std::any::type_name::<T>());
    }
}

/// Serialises a value, or returns why it does not.
pub(crate) fn try_write<T: Serialize + ?Sized>(
    value: &T,
    to: &mut Vec<u8>,
) -> Result<(), postcard::Error> {
    postcard::serialize_with_flavor(value, Appends(to))
}

#[cold]
#[track_caller]
fn cannot_be_recorded(error: &postcard::Error, type_name: &str) -> ! {
    panic!(
        "a value of type `{type_name}` cannot be recorded: {error}. Values of durable scripts must \
         serialise without a self-describing format"
    )
}

/// Appends what postcard writes.
struct Appends<'a>(&'a mut Vec<u8>);

impl postcard::ser_flavors::Flavor for Appends<'_> {
    type Output = ();

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

/// Reads a value that takes up all of `bytes`.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Some(value),
        _ => None,
    }
}

/// A value for code that must go on without one: the value whose bytes are all zero, such as 0,
/// `false`, `None`, an empty string, or the first variant. `None` if there is no such value.
pub(crate) fn read_zeros<T: DeserializeOwned>() -> Option<T> {
    match postcard::take_from_bytes(&ZEROS) {
        Ok((value, _)) => Some(value),
        Err(_) => None,
    }
}

/// How many bytes that value has. 0 if there is none.
pub(crate) fn length_of_zeros<T: DeserializeOwned>() -> usize {
    match postcard::take_from_bytes::<T>(&ZEROS) {
        Ok((_, rest)) => ZEROS.len() - rest.len(),
        Err(_) => 0,
    }
}

pub(crate) static ZEROS: [u8; 1_024] = [0; 1_024];

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.get().len())
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.get())
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(AnyBytes)
    }
}

/// Accepts bytes in every form that formats provide.
struct AnyBytes;

/// How many bytes are reserved before they are read: a length in a damaged file can be
/// anything.
const RESERVED: usize = 1 << 12;

impl<'de> Visitor<'de> for AnyBytes {
    type Value = Bytes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
        Ok(Bytes::new(bytes))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Bytes, A::Error> {
        let reserved = sequence.size_hint().unwrap_or(0).min(RESERVED);
        let mut bytes = Vec::with_capacity(reserved);
        while let Some(byte) = sequence.next_element::<u8>()? {
            bytes.push(byte);
        }
        if bytes.len() > u32::MAX as usize {
            return Err(A::Error::custom("too long"));
        }
        Ok(Bytes::new(&bytes))
    }
}

/// The longest value that is shown as a whole, in bytes.
pub(crate) const SHOWN: usize = 24;

/// A recorded value: a small number or a text as such, else its bytes.
pub(crate) fn text_of(value: &[u8]) -> String {
    if value.is_empty() {
        return "nothing".to_owned();
    }
    if let [byte] = value {
        return byte.to_string();
    }
    if let Ok((text, [])) = postcard::take_from_bytes::<String>(value) {
        if !text.chars().any(char::is_control) {
            return format!("{text:?}");
        }
    }
    if let Ok((number, [])) = postcard::take_from_bytes::<u64>(value) {
        return number.to_string();
    }
    let mut text = String::from("0x");
    for byte in value.iter().take(SHOWN) {
        let _ = write!(text, "{byte:02x}");
    }
    if value.len() > SHOWN {
        let _ = write!(text, ".. ({} bytes)", value.len());
    }
    text
}
