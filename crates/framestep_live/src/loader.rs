//! Loads a library of scripts. The only module with unsafe code.
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

use crate::cargo;

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
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// The system does not load it.
    System(String),
    /// It does not export scripts.
    NoExport,
    /// It uses another copy of framestep.
    OtherCopy,
    /// The function that makes the registry has panicked.
    Panicked(String),
}

impl std::error::Error for LoadError {}

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

/// Loads a library of scripts that was built by other means than [`Live`](crate::Live), and returns
/// what it exports, for [`Runtime::reload`](framestep_durable::Runtime::reload). It stays loaded.
///
/// # Errors
///
/// If it cannot be loaded, exports no scripts, or uses another copy of framestep.
///
/// # Safety
///
/// The library must have been built with [`export!`](crate::export), against the same builds of all
/// crates that the process contains, except for that of the scripts; and no type that is defined
/// in the crate of the scripts may be lent by the host. The system loads a file once, so each
/// build needs a path of its own.
pub unsafe fn load(path: &Path) -> Result<Registry, LoadError> {
    // SAFETY: the caller's promise is the same.
    let library = ManuallyDrop::new(unsafe { open(path) }?);
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
    let scripts: Scripts = *registry.map_err(no_export)?;
    catch_unwind(scripts).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        LoadError::Panicked(text.unwrap_or("(no text)").to_owned())
    })
}

/// Loads a library that cargo has built for this process. The caller has checked that the host
/// lends no type of the scripts.
pub(crate) fn load_built(library: &cargo::Library) -> Result<Registry, LoadError> {
    // SAFETY: `Running::judge` has found that cargo built it from the scripts of the game, which
    // the user trusts as much as the game, and that all other crates are those of the process, or of an
    // earlier process whose program was built at the same moment (`left::earlier_code`). `Live`
    // looks at the types that the host has lent before it calls this, and copies each library to
    // a path of its own.
    unsafe { load(library.path()) }
}

/// Opens a library, with all its symbols resolved: a missing one is an error here, not the end of
/// the process when it is called.
///
/// # Safety
///
/// Its initialisers must be sound. Libraries in Rust have none of their own.
unsafe fn open(path: &Path) -> Result<Library, LoadError> {
    #[cfg(unix)]
    // SAFETY: the caller's promise.
    let opened = unsafe {
        use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
        Library::open(Some(path), RTLD_NOW | RTLD_LOCAL).map(Into::into)
    };
    #[cfg(not(unix))]
    // SAFETY: the caller's promise.
    let opened = unsafe { Library::new(path) };
    opened.map_err(|error| {
        let mut why = error.to_string();
        if let Some(source) = std::error::Error::source(&error) {
            why = format!("{why}: {source}");
        }
        if is_for_another_copy(&why) {
            return LoadError::OtherCopy;
        }
        LoadError::System(why)
    })
}

/// Whether the system misses a symbol of Rust, which the `dylib` of this crate would have. Their names
/// contain a hash of the version and of the features.
fn is_for_another_copy(why: &str) -> bool {
    let symbol = ["undefined symbol", "Symbol not found"]
        .iter()
        .find_map(|words| why.split_once(words));
    symbol.is_some_and(|(_, symbol)| {
        let is_legacy = symbol.contains("_ZN") && symbol.contains("17h");
        is_legacy || symbol.contains(" _R")
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{LoadError, is_for_another_copy, open};

    #[test]
    fn a_missing_symbol_of_rust_is_one_of_another_copy() {
        let misses = |symbol: &str| {
            let linux = format!("/t/x.so: undefined symbol: {symbol}");
            let mac = format!("dlopen(/t/x.dylib): Symbol not found: {symbol}");
            assert_eq!(is_for_another_copy(&linux), is_for_another_copy(&mac));
            is_for_another_copy(&linux)
        };
        assert!(misses(
            "_ZN14framestep_live6loader5stamp17h0123456789abcdefE"
        ));
        assert!(misses("_RNvNtCs1234_14framestep_live6loader5stamp"));
        assert!(!misses("png_create"));
        assert!(!misses("_ZN3foo3barEv"));
        assert!(!is_for_another_copy("/t/framestep_live/x.so: no such file"));
    }

    #[test]
    fn a_file_that_is_not_there_and_one_that_is_no_library_are_errors() {
        // SAFETY: there are no initialisers in what does not exist.
        let error = unsafe { open(Path::new("/no/such/library.so")) }.unwrap_err();
        assert!(matches!(&error, LoadError::System(_)));
        assert!(error.to_string().contains("/no/such/library.so"), "{error}");
        // SAFETY: nor in text.
        let error = unsafe { open(Path::new(file!())) }.unwrap_err();
        assert!(matches!(error, LoadError::System(_)));
    }
}
