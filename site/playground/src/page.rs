//! What the page calls. A page has no Rust values: it passes the address and the length of a text in
//! the memory of the program, and gets a text in the same way.

#![expect(unsafe_code, reason = "memory that the page writes and reads")]

use std::cell::RefCell;
use std::time::Duration;

use crate::json::json;
use crate::run::{Options, run};

thread_local! {
    /// The text of the script, which the page writes.
    static SCRIPT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// The answer, which the page reads.
    static ANSWER: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Memory for a script of so many bytes. The page writes it before the next call.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn script_of(length: usize) -> *mut u8 {
    SCRIPT.with_borrow_mut(|script| {
        *script = vec![0; length];
        script.as_mut_ptr()
    })
}

/// Runs that script in frames of so many seconds. Returns the length of the answer.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn run_script(dt: f64, frames: u32) -> usize {
    let text = SCRIPT.with_borrow(|script| String::from_utf8_lossy(script).into_owned());
    let options = Options {
        dt: Duration::try_from_secs_f64(dt).unwrap_or_default(),
        frames: frames.into(),
    };
    let answer = json(&run(&text, options));
    let length = answer.len();
    ANSWER.set(answer);
    length
}

/// Where the answer is, until the next run.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn answer() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}
