//! Save states as files: magic bytes, a version, a checksum, and the save state.

use framestep::Phase;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::RestoreError;
use crate::hash::Hash;
use crate::image::SaveState;
use crate::tree::Tree;

const MARK: [u8; 8] = *b"framestp";
/// The version of the bytes that are written here and by the executor. It changes whenever they do.
const FORMAT: u32 = 6;
/// Files also have numbers of phases, which depend on how many there are.
#[expect(clippy::cast_possible_truncation, reason = "a handful of phases")]
const VERSION: u32 = 10 * FORMAT + Phase::NAMED.len() as u32;
const _: () = assert!(Phase::NAMED.len() < 10);

impl SaveState {
    /// The save state as a file: with a version, and a checksum.
    ///
    /// # Panics
    ///
    /// Only if memory runs out.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        file_of(&postcard::to_stdvec(self).expect("a save state serialises"))
    }

    /// Reads a file that [`to_bytes`](Self::to_bytes) has made.
    ///
    /// # Errors
    ///
    /// If the bytes are not such a file, have another version, were truncated or changed, or
    /// also contain a world.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RestoreError> {
        let (save, world) = read(content_of(bytes)?)?;
        if world.is_empty() {
            Ok(save)
        } else {
            Err(RestoreError::HasWorld)
        }
    }

    /// Reads the save state of a file, whether there is a world beside it or not. For tools.
    ///
    /// # Errors
    ///
    /// If the bytes are not such a file, have another version, or were truncated or changed.
    pub fn from_bytes_without_world(bytes: &[u8]) -> Result<Self, RestoreError> {
        Ok(read(content_of(bytes)?)?.0)
    }

    /// The save state and the game's own state as one file, with a checksum of both.
    ///
    /// # Panics
    ///
    /// If the `Serialize` of `world` fails.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// # fn main() -> Result<(), RestoreError> {
    /// # let mut runtime = Runtime::new(Registry::new());
    /// #[derive(Serialize, Deserialize)]
    /// struct World {
    ///     gold: u32,
    /// }
    ///
    /// let world = World { gold: 7 };
    /// let file = runtime.save().unwrap().to_bytes_with(&world);
    ///
    /// let (save, world) = SaveState::from_bytes_with::<World>(&file)?;
    /// runtime.restore(&save, Policy::Fail)?;
    /// assert_eq!(world.gold, 7);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// If the save state is [described](Self::described), so is the world.
    #[must_use]
    #[track_caller]
    pub fn to_bytes_with<W: Serialize>(&self, world: &W) -> Vec<u8> {
        let type_name = std::any::type_name::<W>();
        let mut content = postcard::to_stdvec(self).expect("a save state serialises");
        if self.is_described {
            match Tree::of(world) {
                Ok(world) => content.extend_from_slice(&world.to_bytes()),
                Err(error) => panic!("a world of type `{type_name}` cannot be described: {error}"),
            }
        } else {
            match postcard::to_stdvec(world) {
                Ok(world) => content.extend_from_slice(&world),
                Err(error) => panic!(
                    "a world of type `{type_name}` cannot be saved: {error}. It must serialise \
                     without a self-describing format, or be in a file of a `SaveState::described`"
                ),
            }
        }
        file_of(&content)
    }

    /// Reads a file that [`to_bytes_with`](Self::to_bytes_with) has made.
    ///
    /// # Errors
    ///
    /// If the bytes are not such a file, have another version, were truncated or changed, or
    /// do not contain a `W`.
    pub fn from_bytes_with<W: DeserializeOwned>(bytes: &[u8]) -> Result<(Self, W), RestoreError> {
        let (save, world) = read(content_of(bytes)?)?;
        let read = if save.is_described && !world.is_empty() {
            Tree::from_bytes(world)
                .ok_or(RestoreError::Damaged)?
                .read()
                .map_err(|why| why.to_string())
        } else {
            let read = crate::bytes::read(world);
            read.ok_or_else(|| "its fields have changed since, or it is of another type".to_owned())
        };
        match read {
            Ok(world) => Ok((save, world)),
            Err(_) if world.is_empty() => Err(RestoreError::NoWorld),
            Err(why) => Err(RestoreError::OtherWorld {
                type_name: std::any::type_name::<W>().to_owned(),
                why,
            }),
        }
    }
}

fn file_of(content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(content.len() + 16);
    bytes.extend_from_slice(&MARK);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(content).to_le_bytes());
    bytes.extend_from_slice(content);
    bytes
}

/// The content of a file, if it is complete.
fn content_of(bytes: &[u8]) -> Result<&[u8], RestoreError> {
    let content = bytes.strip_prefix(&MARK).ok_or(RestoreError::NotASave)?;
    let (version, content) = take_u32(content).ok_or(RestoreError::Damaged)?;
    if version != VERSION {
        return Err(RestoreError::Version {
            found: version,
            expected: VERSION,
        });
    }
    let (checksum, content) = take_u32(content).ok_or(RestoreError::Damaged)?;
    if crc32fast::hash(content) != checksum {
        return Err(RestoreError::Damaged);
    }
    Ok(content)
}

/// The save state at the beginning of the content, and what follows it.
fn read(content: &[u8]) -> Result<(SaveState, &[u8]), RestoreError> {
    postcard::take_from_bytes(content).map_err(|_| RestoreError::Damaged)
}

impl SaveState {
    /// A hash that is the same for the same state, on every machine. It covers everything in
    /// the save state except the lines of the code. For netcode that compares its peers.
    #[must_use]
    pub fn checksum(&self) -> u64 {
        self.checksum_with(&())
    }

    /// The same for the save state and the game's own state.
    ///
    /// # Panics
    ///
    /// If the `Serialize` of `world` fails.
    #[must_use]
    #[track_caller]
    pub fn checksum_with<W: Serialize>(&self, world: &W) -> u64 {
        let mut hash = Hash::new();
        for script in &self.scripts {
            hash.add(script.hash(&self.sites));
        }
        hash.add(self.scripts.len() as u64);
        for numbers in [&self.clocks, &self.waits, &self.lists] {
            hash.add_all(numbers);
        }
        let rest = (&self.owners, &self.asked, &self.ended);
        let signals = (&self.signals, &self.streams, &self.values);
        let rest = (rest, signals, &self.permits, &self.promises);
        let next = (self.next_script, self.next_request, self.next_owner);
        let content = postcard::to_stdvec(&(&self.clock_parents, rest, next, world));
        hash.add_bytes(&content.expect("the save state and the world serialise"));
        hash.finish()
    }
}

fn take_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*number), rest))
}
