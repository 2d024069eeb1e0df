//! The differences between the desktop and the browser: where the save is kept, and where
//! lines are printed.

#[cfg(not(target_arch = "wasm32"))]
mod here {
    use std::error::Error;
    use std::fmt;
    use std::fs;
    use std::io::ErrorKind;
    use std::path::PathBuf;

    /// Keeps a save in a file.
    #[derive(Clone, Debug)]
    pub(crate) struct Store {
        path: PathBuf,
    }

    impl Store {
        pub(crate) fn new(path: PathBuf) -> Self {
            Store { path }
        }

        pub(crate) fn write(&self, save: &[u8]) -> Result<(), Box<dyn Error>> {
            // If this is interrupted, the earlier save is still there.
            let written = self.path.with_extension("new");
            fs::write(&written, save)?;
            Ok(fs::rename(written, &self.path)?)
        }

        /// The save, if there is one.
        pub(crate) fn read(&self) -> Result<Option<Vec<u8>>, Box<dyn Error>> {
            match fs::read(&self.path) {
                Ok(save) => Ok(Some(save)),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error.into()),
            }
        }
    }

    impl fmt::Display for Store {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{}", self.path.display())
        }
    }

    pub(crate) fn tell(line: &str) {
        println!("{line}");
    }

    /// Whether the page shows the lines where scripts wait. Here there is no page, but tests.
    pub(crate) fn shows_lines() -> bool {
        cfg!(test)
    }

    pub(crate) fn tell_lines(_: &str) {}
}

#[cfg(target_arch = "wasm32")]
mod here {
    use std::error::Error;
    use std::fmt;

    use base64::prelude::{BASE64_STANDARD, Engine};

    // Functions of index.html.
    #[link(wasm_import_module = "env")]
    unsafe extern "C" {
        fn rewind_tell(text: *const u8, length: usize);
        safe fn rewind_is_demo() -> bool;
        safe fn rewind_shows_lines() -> bool;
        fn rewind_tell_lines(text: *const u8, length: usize);
        fn rewind_write(text: *const u8, length: usize) -> bool;
        /// The length of the stored save. -1: none. -2: the page is not allowed to store
        /// anything.
        safe fn rewind_stored() -> i32;
        /// Copies the save that `rewind_stored` has found.
        fn rewind_copy(text: *mut u8, length: usize);
    }

    /// Keeps a save in the local storage of the browser, as base64, because it holds only text.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Store;

    impl Store {
        pub(crate) fn write(self, save: &[u8]) -> Result<(), Box<dyn Error>> {
            let text = BASE64_STANDARD.encode(save);
            // SAFETY: these are the bytes of a string, which the page only reads.
            let is_written = unsafe { rewind_write(text.as_ptr(), text.len()) };
            let error = || "the browser's storage is full, or not allowed".into();
            is_written.then_some(()).ok_or_else(error)
        }

        /// The save, if there is one.
        pub(crate) fn read(self) -> Result<Option<Vec<u8>>, Box<dyn Error>> {
            let length = match rewind_stored() {
                -1 => return Ok(None),
                length => usize::try_from(length).map_err(|_| "the browser allows no storage")?,
            };
            let mut text = vec![0; length];
            // SAFETY: the page writes no more than that into the vector.
            unsafe { rewind_copy(text.as_mut_ptr(), length) };
            let save = BASE64_STANDARD.decode(text);
            Ok(Some(save.map_err(|_| "what is stored is not base64")?))
        }
    }

    impl fmt::Display for Store {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the browser's storage")
        }
    }

    /// Prints to the console.
    pub(crate) fn tell(line: &str) {
        // SAFETY: these are the bytes of a string, which the page only reads.
        unsafe { rewind_tell(line.as_ptr(), line.len()) };
    }

    /// Whether the page shows the lines where scripts wait.
    pub(crate) fn shows_lines() -> bool {
        rewind_shows_lines()
    }

    /// Passes those lines to the page.
    pub(crate) fn tell_lines(lines: &str) {
        // SAFETY: these are the bytes of a string, which the page only reads.
        unsafe { rewind_tell_lines(lines.as_ptr(), lines.len()) };
    }

    /// Whether the page was opened with `?demo`.
    pub(crate) fn is_demo() -> bool {
        rewind_is_demo()
    }
}

pub(crate) use here::*;
