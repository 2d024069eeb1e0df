//! A scene that prints the same bytes on every target, and a game whose saves are the same
//! bytes on every target. Here is what `run.mjs` calls.

pub mod patched;
pub mod saves;
pub mod scene;
mod weather;

use std::cell::RefCell;

use saves::Play;

thread_local! {
    static BYTES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static PLAY: RefCell<Play> = RefCell::new(Play::new());
}

/// Keeps bytes for the caller, and returns how many there are.
fn hand_over(bytes: Vec<u8>) -> usize {
    BYTES.set(bytes);
    BYTES.with_borrow(Vec::len)
}

/// Where the bytes are that the last call handed over, or that the next one reads.
#[unsafe(no_mangle)]
pub extern "C" fn bytes_at() -> *mut u8 {
    BYTES.with_borrow_mut(Vec::as_mut_ptr)
}

/// Makes room for bytes that the next call reads.
#[unsafe(no_mangle)]
pub extern "C" fn make_room(length: usize) {
    BYTES.set(vec![0; length]);
}

/// Makes the trace of the scene. Returns its length.
#[unsafe(no_mangle)]
pub extern "C" fn make_trace() -> usize {
    hand_over(scene::trace().into_bytes())
}

/// Whether everything is as it should be without a clock.
#[unsafe(no_mangle)]
pub extern "C" fn works_without_clock() -> bool {
    scene::works_without_clock()
}

/// Whether changed scripts are errors, even where panics abort.
#[unsafe(no_mangle)]
pub extern "C" fn divergences_are_errors() -> bool {
    patched::divergences_are_errors()
}

/// Loads a save. Returns whether it is one.
#[unsafe(no_mangle)]
pub extern "C" fn load() -> bool {
    let play = BYTES.with_borrow(|file| Play::load(file));
    play.map(|play| PLAY.set(play)).is_ok()
}

/// Saves the game. Returns the length of the file.
#[unsafe(no_mangle)]
pub extern "C" fn save() -> usize {
    hand_over(PLAY.with_borrow(Play::save))
}

/// Plays on to the next moment at which the game is saved. Returns whether there is one.
#[unsafe(no_mangle)]
pub extern "C" fn play_on() -> bool {
    PLAY.with_borrow_mut(Play::play_on)
}
