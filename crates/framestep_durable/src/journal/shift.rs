//! How far the lines of a script have moved from one build to another.
//!
//! A comment above a function moves all its lines alike. If the calls that a chapter has made have
//! moved by different numbers of lines, there is other code between them: the entries may be those
//! of other calls now.

use std::rc::Rc;

use crate::journal::Site;

/// How far calls have moved in a replay, as found so far.
#[derive(Default)]
pub(crate) struct Shifts {
    latest: Vec<Moved>,
}

/// The latest call of a kind in a function, where it was and where it is.
struct Moved {
    /// The function, if it is known. Functions may move by different numbers of lines.
    within: &'static str,
    call: Rc<str>,
    /// The earlier file, and the present one.
    files: [Rc<str>; 2],
    from: [u32; 2],
    to: [u32; 2],
}

impl Shifts {
    /// Whether a call has moved as far as the one before it, from `then` to `now`.
    pub(crate) fn fits(&mut self, within: &'static str, then: &Site, now: &Site) -> bool {
        let (from, to) = ([then.line, then.column], [now.line, now.column]);
        let is_alike = |moved: &&mut Moved| {
            let files = [&moved.files[0], &moved.files[1]];
            moved.within == within && moved.call == now.call && files == [&then.file, &now.file]
        };
        let Some(moved) = self.latest.iter_mut().find(is_alike) else {
            self.latest.push(Moved {
                within,
                call: Rc::clone(&now.call),
                files: [Rc::clone(&then.file), Rc::clone(&now.file)],
                from,
                to,
            });
            return true;
        };
        let [lines, columns] = [0, 1].map(|at| {
            let gap = |a: [u32; 2], b: [u32; 2]| i64::from(a[at]) - i64::from(b[at]);
            gap(from, moved.from) == gap(to, moved.to)
        });
        // Columns count between calls in one line: the code before them may change.
        let is_same_line = from[0] == moved.from[0];
        (moved.from, moved.to) = (from, to);
        lines && (columns || !is_same_line)
    }
}
