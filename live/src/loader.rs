//! Loads a library of scripts. The only room with unsafe code.
//!
//! - A library is never unloaded: futures, names, lines and panic messages of its scripts are in it.
//! - Both sides use one copy of framestep, in the `dylib` of this crate. The worker has refused the
//!   build if cargo has built that copy anew; and the stamp of the library must be that of this
//!   process. So types that cross the border have one layout and one id.
#![expect(
    unsafe_code,
    reason = "loading code and calling it can only be asserted to be right"
)]

use std::fmt;
use std::mem::ManuallyDrop;
use std::panic::catch_unwind;
use std::path::Path;

use framestep_durable::Registry;
use libloading::Library;

/// The type of the function that [`export!`](crate::export) makes for the stamp.
pub type Stamp = extern "C" fn() -> usize;
/// The same for the scripts.
pub type Scripts = fn() -> Registry;

/// A number that is the same for all code that shares this copy of the crate.
#[must_use]
pub fn stamp() -> usize {
    static COPY: u8 = 0;
    std::ptr::from_ref(&COPY).addr()
}

/// Why a library cannot be used.
#[derive(Debug)]
pub(crate) enum LoadError {
    /// The system does not load it.
    System(String),
    /// It does not export scripts.
    NoExport,
    /// It uses another copy of framestep.
    OtherCopy,
    /// The function that makes the registry has panicked.
    Panicked(String),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::System(why) => write!(
                f,
                "the library of the scripts cannot be loaded: {why}. If files in the target folder \
                 were deleted, build and start the game again"
            ),
            LoadError::NoExport => f.write_str(
                "the library of the scripts exports none: write `#[cfg(feature = \"live\")] \
                 framestep_live::export!(registry);` in its lib.rs",
            ),
            LoadError::OtherCopy => f.write_str(
                "the scripts use another copy of framestep than the game: let both depend on the \
                 same `framestep_live`, and build and start the game again",
            ),
            LoadError::Panicked(text) => {
                write!(
                    f,
                    "the function that makes the registry has panicked: {text}"
                )
            }
        }
    }
}

/// Loads a library and returns its scripts. It stays loaded.
pub(crate) fn load(path: &Path) -> Result<Registry, LoadError> {
    let library = ManuallyDrop::new(open(path)?);
    let no_export = |_| LoadError::NoExport;
    // SAFETY: a symbol of this name is made by `export!` alone, as a function of this type, which
    // the C ABI fixes. It stays where it is, because the library is never unloaded.
    let stamp_there = unsafe { library.get::<Stamp>(b"framestep_live_stamp") };
    if stamp_there.map_err(no_export)?() != stamp() {
        return Err(LoadError::OtherCopy);
    }
    // SAFETY: as above. It has the Rust ABI: the stamp says that the library uses the copy of this
    // crate, and thus of `Registry`, that this function uses; so one compiler has built both.
    let registry = unsafe { library.get::<Scripts>(b"framestep_live_registry") };
    let registry = registry.map_err(no_export)?;
    catch_unwind(|| registry()).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        LoadError::Panicked(text.unwrap_or("(no text)").to_owned())
    })
}

fn open(path: &Path) -> Result<Library, LoadError> {
    // All symbols are resolved now: a missing one is an error here, not the end of the process when
    // it is called.
    #[cfg(unix)]
    // SAFETY: cargo has just built the library from the sources of the game, which the user trusts
    // as much as the game. Rust libraries have no initialisers of their own.
    let opened = unsafe {
        use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
        Library::open(Some(path), RTLD_NOW | RTLD_LOCAL).map(Into::into)
    };
    #[cfg(not(unix))]
    // SAFETY: as above.
    let opened = unsafe { Library::new(path) };
    opened.map_err(|error| {
        let mut why = error.to_string();
        if let Some(source) = std::error::Error::source(&error) {
            why = format!("{why}: {source}");
        }
        LoadError::System(why)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{LoadError, load};

    #[test]
    fn a_file_that_is_not_there_and_one_that_is_no_library_are_errors() {
        let error = load(Path::new("/no/such/library.so")).unwrap_err();
        assert!(matches!(&error, LoadError::System(_)));
        assert!(error.to_string().contains("/no/such/library.so"), "{error}");
        let error = load(Path::new(file!())).unwrap_err();
        assert!(matches!(error, LoadError::System(_)));
    }
}
