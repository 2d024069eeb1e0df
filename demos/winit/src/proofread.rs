//! A slow job on a separate thread: it looks for words that are written twice.

use std::thread;
use std::time::Duration;

use framestep::prelude::*;
use framestep::task::RemoteHandle;

use crate::scripts::announce;
use crate::world::World;

/// How long a word takes, as if it were a request to a server.
const PER_WORD: Duration = Duration::from_millis(60);

/// Each finding and each step of the progress are calls on the executor's thread, with the
/// world that the host lends. They wake the event loop.
pub(crate) fn proofread(text: &str, remote: &RemoteHandle) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut found = 0;
    let mut share = 0.0;
    let step = 1.0 / f32::from(u16::try_from(words.len()).unwrap_or(u16::MAX));
    let mut last = "";
    for &word in &words {
        thread::sleep(PER_WORD);
        share += step;
        if word.eq_ignore_ascii_case(last) {
            found += 1;
            let begin = word.as_ptr() as usize - text.as_ptr() as usize;
            let range = begin..begin + word.len();
            remote.call(move || with(|world: &mut World| world.marks.push(range)));
        }
        remote.call(move || with(|world: &mut World| world.proofreading.set(Some(share))));
        last = word;
    }
    let plural = if found == 1 { "" } else { "s" };
    let answer = format!("{} words read, {found} repetition{plural}", words.len());
    remote.call(|| {
        with(|world: &mut World| world.proofreading.set(None));
        announce(answer);
    });
}
