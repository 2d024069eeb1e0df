//! A log in files, for one process without a server.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Kept;
use super::local::{Disk, Local, State, Stream, delegate_log};
use crate::entry::{Entry, Topic, is_name};

/// The bytes of entries in a file, before the next file begins.
const FILE: u64 = 4 << 20;
/// The largest entry that can be read: a length beyond it is damage.
const LARGEST: usize = 64 << 20;

/// A log in a folder, for one process without a server. A second process is refused.
///
/// The end of a file that was being written when the machine stopped is noticed, and cut off with a
/// [note](Self::notes). An entry is with the operating system when it is acknowledged: it survives
/// the end of the process. With [`synced`](Self::synced), it is on the disk, and survives a loss of
/// power; each append then takes as long as the disk.
///
/// # Examples
///
/// ```
/// use framestep_rooms::log::FileLog;
///
/// # fn main() -> std::io::Result<()> {
/// # let folder = std::env::temp_dir().join(format!("framestep-rooms-doc-{}", std::process::id()));
/// let log = FileLog::open(&folder)?;
/// for note in log.notes() {
///     eprintln!("{note}");
/// }
/// # drop(log);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct FileLog {
    local: Local,
    notes: Arc<[String]>,
}

impl FileLog {
    /// Opens the log in a folder, which is made if it is missing.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or written, is damaged before its end, or another process has the
    /// log open.
    pub fn open(folder: impl AsRef<Path>) -> io::Result<Self> {
        Self::open_with(folder.as_ref(), false)
    }

    /// The same; an entry is on the disk when it is acknowledged.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn synced(folder: impl AsRef<Path>) -> io::Result<Self> {
        Self::open_with(folder.as_ref(), true)
    }

    /// What was noticed when the log was opened, such as an end that was cut off.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    fn open_with(folder: &Path, is_synced: bool) -> io::Result<Self> {
        if std::env::var_os(crate::probe::VARIABLE).is_some() {
            // A child process that tries rooms: it has all that it needs, and the log is open.
            return Ok(FileLog {
                local: Local::new(State::default()),
                notes: Arc::new([]),
            });
        }
        fs::create_dir_all(folder)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(folder.join("lock"))?;
        lock.try_lock().map_err(|_| {
            let text = format!("another process has the log in {} open", folder.display());
            io::Error::new(io::ErrorKind::AddrInUse, text)
        })?;
        let (mut state, mut notes) = (State::default(), Vec::new());
        let mut files = BTreeMap::new();
        for file in fs::read_dir(folder)? {
            let path = file?.path();
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            if let Some(key) = name.strip_prefix("kept-") {
                if let Some(kept) = read_kept(&path)? {
                    state.kept.insert(key.to_owned(), kept);
                } else {
                    notes.push(format!("{} is damaged: it is ignored", path.display()));
                }
            } else if let Some(name) = name.strip_suffix(".log") {
                let numbers = name
                    .strip_prefix("shard-")
                    .and_then(|name| name.split_once('-'));
                let shard = numbers.and_then(|(shard, _)| shard.parse::<u32>().ok());
                let first = numbers.and_then(|(_, first)| first.parse::<u64>().ok());
                if let (Some(shard), Some(first)) = (shard, first) {
                    files.insert((shard, first), path);
                }
            } else if name.strip_suffix(".new").is_some() {
                // A kept value that was not finished.
                fs::remove_file(&path)?;
            }
        }
        let mut disk = Files {
            folder: folder.to_owned(),
            is_synced,
            shards: BTreeMap::new(),
            lock,
        };
        for (&(shard, first), path) in &files {
            let is_last = files
                .range((shard, first + 1)..=(shard, u64::MAX))
                .next()
                .is_none();
            let stream = state
                .streams
                .entry(shard)
                .or_insert_with(|| Stream::new(first));
            let (length, note) = read_file(path, first, is_last, stream)?;
            notes.extend(note);
            disk.shards.entry(shard).or_default().push(Segment {
                first,
                path: path.clone(),
                length,
                file: None,
            });
        }
        state.disk = Some(Box::new(disk));
        Ok(FileLog {
            local: Local::new(state),
            notes: notes.into(),
        })
    }
}

impl fmt::Debug for FileLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileLog")
            .field("notes", &self.notes)
            .finish_non_exhaustive()
    }
}

delegate_log!(FileLog, local);

/// A file with entries.
#[derive(Debug)]
struct Segment {
    first: u64,
    path: PathBuf,
    length: u64,
    file: Option<File>,
}

struct Files {
    folder: PathBuf,
    is_synced: bool,
    shards: BTreeMap<u32, Vec<Segment>>,
    lock: File,
}

impl Drop for Files {
    fn drop(&mut self) {
        // Closing it is not enough: a child process that is being started has it open, too, until it
        // runs its program.
        let _ = self.lock.unlock();
    }
}

/// An entry in a file: length and checksum of what follows; number, topic, id, body.
fn record_of(entry: &Entry, id: &str) -> Vec<u8> {
    let subject = entry
        .topic
        .as_ref()
        .map(Topic::to_subject)
        .unwrap_or_default();
    let content =
        postcard::to_stdvec(&(entry.seq, subject, id, &*entry.body)).expect("an entry serialises");
    let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
    let mut record = length.to_le_bytes().to_vec();
    record.extend_from_slice(&crc32fast::hash(&content).to_le_bytes());
    record.extend_from_slice(&content);
    record
}

/// The entry at the beginning of the bytes, its id, and what follows.
fn read_record(bytes: &[u8]) -> Option<(Entry, String, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (sum, rest) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    if length > LARGEST || length > rest.len() {
        return None;
    }
    let (content, rest) = rest.split_at(length);
    if crc32fast::hash(content) != u32::from_le_bytes(*sum) {
        return None;
    }
    let (seq, subject, id, body): (u64, &str, &str, &[u8]) = postcard::from_bytes(content).ok()?;
    let topic = Topic::of_subject(subject);
    Some((
        Entry {
            seq,
            topic,
            body: body.into(),
        },
        id.to_owned(),
        rest,
    ))
}

/// Reads a file. A torn end of the last file is cut off; returns the length, and a note of that.
fn read_file(
    path: &Path,
    first: u64,
    is_last: bool,
    stream: &mut Stream,
) -> io::Result<(u64, Option<String>)> {
    let mut bytes = Vec::new();
    File::open(path)?.read_to_end(&mut bytes)?;
    let damaged = |text: String| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{}: {text}", path.display()),
        )
    };
    let (mut rest, mut next) = (&bytes[..], first);
    while let Some((entry, id, after)) = read_record(rest) {
        if entry.seq != next {
            return Err(damaged(format!(
                "entry {} is where entry {next} should be",
                entry.seq
            )));
        }
        stream.push(entry, &id);
        (rest, next) = (after, next + 1);
    }
    let length = (bytes.len() - rest.len()) as u64;
    if rest.is_empty() {
        return Ok((length, None));
    }
    if !is_last {
        return Err(damaged(format!(
            "entry {next} is damaged, and there are later ones"
        )));
    }
    OpenOptions::new().write(true).open(path)?.set_len(length)?;
    let note = format!(
        "{}: entry {next} was not written completely. Its {} bytes were cut off; it was not \
         acknowledged",
        path.display(),
        rest.len()
    );
    Ok((length, Some(note)))
}

fn read_kept(path: &Path) -> io::Result<Option<Kept>> {
    let bytes = fs::read(path)?;
    let read = || {
        let (sum, rest) = bytes.split_first_chunk::<4>()?;
        let (revision, body) = rest.split_first_chunk::<8>()?;
        let is_whole = crc32fast::hash(rest) == u32::from_le_bytes(*sum);
        is_whole.then(|| Kept {
            revision: u64::from_le_bytes(*revision),
            body: body.into(),
        })
    };
    Ok(read())
}

impl Files {
    fn write(&mut self, shard: u32, entry: &Entry, id: &str) -> io::Result<()> {
        let segments = self.shards.entry(shard).or_default();
        if segments.last().is_none_or(|last| last.length >= FILE) {
            let path = self
                .folder
                .join(format!("shard-{shard:05}-{:020}.log", entry.seq));
            if let Some(last) = segments.last_mut() {
                last.file = None;
            }
            segments.push(Segment {
                first: entry.seq,
                path,
                length: 0,
                file: None,
            });
        }
        let Some(last) = segments.last_mut() else {
            return Ok(());
        };
        if last.file.is_none() {
            last.file = Some(
                OpenOptions::new()
                    .create(true)
                    .append(true)
                    .open(&last.path)?,
            );
        }
        let Some(file) = &mut last.file else {
            return Ok(());
        };
        let record = record_of(entry, id);
        let written = file.write_all(&record).and_then(|()| {
            if self.is_synced {
                file.sync_data()
            } else {
                Ok(())
            }
        });
        if let Err(error) = written {
            // What was written of it is taken back, so that the next entry is not behind it.
            file.set_len(last.length)?;
            return Err(error);
        }
        last.length += record.len() as u64;
        Ok(())
    }

    fn replace(&self, key: &str, kept: &Kept) -> io::Result<()> {
        assert!(key.split('.').all(is_name), "`{key}` is no key");
        let mut content = kept.revision.to_le_bytes().to_vec();
        content.extend_from_slice(&kept.body);
        let new = self.folder.join(format!("{key}.new"));
        let mut file = File::create(&new)?;
        file.write_all(&crc32fast::hash(&content).to_le_bytes())?;
        file.write_all(&content)?;
        // A rename that is on the disk before the content would leave an empty file.
        file.sync_all()?;
        fs::rename(&new, self.folder.join(format!("kept-{key}")))
    }
}

impl Disk for Files {
    fn append(&mut self, shard: u32, entry: &Entry, id: &str) -> Result<(), String> {
        self.write(shard, entry, id)
            .map_err(|error| error.to_string())
    }

    fn trim(&mut self, shard: u32, before: u64) -> Result<(), String> {
        let segments = self.shards.entry(shard).or_default();
        // Whole files only.
        while segments.len() > 1 && segments[1].first <= before {
            let segment = segments.remove(0);
            fs::remove_file(&segment.path).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn keep(&mut self, key: &str, value: &Kept) -> Result<(), String> {
        self.replace(key, value).map_err(|error| error.to_string())
    }
}
