//! Save states as files: magic bytes, a version, a checksum, and the save state.

use std::time::Duration;

use framestep::Phase;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes;
use crate::bytes::tree::Tree;
use crate::bytes::{Content, StableHash, Topic};
use crate::events::{Listed, PromiseEntry, Stream};
use crate::ids::{ClockId, Owned, OwnerId, ScriptId};
use crate::replay::{RestoreError, SaveError};
use crate::save::{OwnerImage, SaveState, SemaphoreImage, StopImage};
use crate::script::{EndedImage, GuardImage};

const MARK: [u8; 8] = *b"framestp";
/// The version of the bytes that are written here and by the executor. It changes whenever they do.
const FORMAT: u32 = 9;
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
        match self.try_to_bytes_with(world) {
            Ok(file) => file,
            Err(error) => panic!("{error}"),
        }
    }

    /// The same as [`to_bytes_with`](Self::to_bytes_with), if the `Serialize` of `world` may fail: it
    /// needs a self-describing format, or a state is nested too deep to be
    /// [described](Self::described).
    ///
    /// # Errors
    ///
    /// [`SaveError::NotDescribed`] if the save state is described, or else [`SaveError::World`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// # fn main() -> Result<(), SaveError> {
    /// let registry = Registry::new();
    /// let save = Runtime::new(registry.clone()).save()?;
    /// // Inside of each other, a thousand times.
    /// let nested = (0..1_000).fold(serde_json::Value::Null, |inner, _| vec![inner].into());
    /// assert!(save.described(&registry)?.try_to_bytes_with(&nested).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_to_bytes_with<W: Serialize>(&self, world: &W) -> Result<Vec<u8>, SaveError> {
        let type_name = std::any::type_name::<W>();
        let world = if self.is_described {
            let tree = Tree::of(world).map_err(|error| SaveError::NotDescribed {
                what: format!("a world of type `{type_name}`"),
                why: error.to_string(),
            });
            tree?.to_bytes()
        } else {
            postcard::to_stdvec(world).map_err(|error| SaveError::World {
                type_name,
                why: error.to_string(),
            })?
        };
        let mut content = postcard::to_stdvec(self).expect("a save state serialises");
        content.extend_from_slice(&world);
        Ok(file_of(&content))
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
            let read = bytes::read(world);
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
    /// the save state except the build, and the lines of the code. For netcode that compares its
    /// peers.
    ///
    /// [`Runtime::checksum`](crate::Runtime::checksum) is the same without a save state.
    #[must_use]
    pub fn checksum(&self) -> u64 {
        self.summed(&World::none())
    }

    /// The same for the save state and the game's own state.
    ///
    /// # Panics
    ///
    /// If the `Serialize` of `world` fails.
    #[must_use]
    #[track_caller]
    pub fn checksum_with<W: Serialize>(&self, world: &W) -> u64 {
        self.summed(&World::of::<W>(&|bytes| bytes::try_write(world, bytes)))
    }

    #[track_caller]
    fn summed(&self, world: &World<'_>) -> u64 {
        let scripts = self.scripts.iter().map(|script| script.hash(&self.sites));
        let scripts: Vec<u64> = scripts.collect();
        let summed = Summed {
            settings: &self.settings,
            guards: &self.guards,
            clock_parents: &self.clock_parents,
            owners: &self.owners,
            asked: &self.asked,
            stops: &stops_of(&self.stops),
            ended: &self.ended,
            signals: &self.signals,
            streams: &self.streams,
            values: &self.values,
            permits: &self.permits,
            promises: &self.promises,
        };
        let next = [
            self.next_script,
            self.next_request,
            self.next_owner,
            self.next_guard,
            self.last_ticket,
        ];
        let numbers = [&scripts[..], &self.clocks, &self.waits, &self.lists, &next];
        checksum_of(numbers, &summed, world, &mut Vec::new())
    }
}

/// The game's own state in a checksum.
pub(crate) struct World<'a> {
    type_name: &'static str,
    write: &'a dyn Fn(&mut Vec<u8>) -> Result<(), postcard::Error>,
}

impl World<'_> {
    pub(crate) fn none() -> Self {
        World {
            type_name: "",
            write: &|_| Ok(()),
        }
    }
}

impl<'a> World<'a> {
    /// `write` writes a `W`.
    pub(crate) fn of<W>(write: &'a dyn Fn(&mut Vec<u8>) -> Result<(), postcard::Error>) -> Self {
        let type_name = std::any::type_name::<W>();
        World { type_name, write }
    }
}

/// What a checksum covers besides scripts and numbers.
#[derive(Serialize)]
pub(crate) struct Summed<'a> {
    pub(crate) settings: &'a [Duration; 2],
    pub(crate) guards: &'a [GuardImage],
    pub(crate) clock_parents: &'a [ClockId],
    pub(crate) owners: &'a [OwnerImage],
    pub(crate) asked: &'a [ScriptId],
    pub(crate) stops: &'a [(ScriptId, OwnerId, u64)],
    pub(crate) ended: &'a [EndedImage],
    pub(crate) signals: &'a [(Topic, Vec<Listed>)],
    pub(crate) streams: &'a [(Owned, Stream)],
    pub(crate) values: &'a [(Topic, Option<Content>, Vec<Listed>)],
    pub(crate) permits: &'a [SemaphoreImage],
    pub(crate) promises: &'a [(Owned, PromiseEntry)],
}

/// The requests to stop in a checksum, which has no lines.
pub(crate) fn stops_of(stops: &[StopImage]) -> Vec<(ScriptId, OwnerId, u64)> {
    stops.iter().map(StopImage::without_line).collect()
}

/// A checksum of numbers (the hashes of the scripts, clocks, waits, lists, counters), of the rest
/// and of the world. `buffer` is memory for the last two.
///
/// # Panics
///
/// If the world does not serialise.
#[track_caller]
pub(crate) fn checksum_of(
    numbers: [&[u64]; 5],
    rest: &Summed<'_>,
    world: &World<'_>,
    buffer: &mut Vec<u8>,
) -> u64 {
    let mut hash = StableHash::new();
    for numbers in numbers {
        hash.add_all(numbers);
    }
    bytes::write(rest, buffer);
    if let Err(error) = (world.write)(buffer) {
        panic!(
            "a world of type `{}` has no checksum: {error}. It must serialise without a \
             self-describing format",
            world.type_name
        )
    }
    hash.add_bytes(buffer);
    hash.finish()
}

fn take_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*number), rest))
}
