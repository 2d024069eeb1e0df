//! Lists whose items have labels, for builds in which the list is another one.

use std::collections::HashSet;
use std::fmt;

use crate::bytes::Bytes;
use crate::journal::Call;
use crate::places::note;
use crate::script::context;

/// The items of a list of data, each with a label, for a `for` loop in a durable script: so a save goes on
/// at the right item in a build whose list is another one.
///
/// A loop over a list is code for one statement, and a save knows of a line of a dialogue only that it was
/// the third one. If the list is a constant, a load compares the items, but refuses saves in the loop if one before the
/// point is gone or has moved. With labels, what was recorded for an item belongs to that item. The labels are recorded
/// once, before the first item. In a build with another list, items that are new and stand before the point
/// of the save are passed, and items that are gone are skipped. If the order of those that were done is
/// another one, or one that was not done stands before the point, the load is refused.
///
/// `label` is what is unique in the list: an id, a key of a translation, the text itself. Items with equal
/// labels are told apart by their order. The runtime keeps each label that it has met: label the rows of a
/// table, not numbers without end.
///
/// Outside of a durable script, it is the list.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// struct Line {
///     id: &'static str,
///     text: &'static str,
/// }
///
/// mod first_release {
///     # use super::Line;
///     # use framestep_durable::prelude::*;
///     const LINES: &[Line] = &[
///         Line { id: "hello", text: "Hello." },
///         Line { id: "bye", text: "Bye." },
///     ];
///
///     #[durable]
///     pub async fn talk() {
///         for line in labelled(LINES, |line| line.id) {
///             with(|said: &mut Vec<&str>| said.push(line.text));
///             wait_seconds(1).await;
///         }
///     }
/// }
///
/// mod second_release {
///     # use super::Line;
///     # use framestep_durable::prelude::*;
///     const LINES: &[Line] = &[
///         Line { id: "rain", text: "It rains." },
///         Line { id: "hello", text: "Hello." },
///         Line { id: "bye", text: "Bye." },
///     ];
///     # #[durable]
///     # pub async fn talk() {
///     #     for line in labelled(LINES, |line| line.id) {
///     #         with(|said: &mut Vec<&str>| said.push(line.text));
///     #         wait_seconds(1).await;
///     #     }
///     # }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut said: Vec<&str> = Vec::new();
/// let mut runtime = Runtime::new(Registry::new().script(first_release::talk));
/// runtime.lend(&mut said, |runtime| runtime.start(first_release::talk()).detach());
/// let file = runtime.save()?.to_bytes();
///
/// // Nothing is said twice, and the new line is before what was said.
/// let mut runtime = Runtime::new(Registry::new().script(second_release::talk));
/// runtime.restore(&SaveState::from_bytes(&file)?, Policy::Fail)?;
/// for _ in 0..10 {
///     runtime.run_frame_with(&mut said, 0.25);
/// }
/// assert_eq!(said, ["Hello.", "Bye."]);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn labelled<T, L: fmt::Display>(
    list: impl IntoIterator<Item = T>,
    label: impl Fn(&T) -> L,
) -> Labelled<T> {
    let outer = note::label();
    let mut known = HashSet::new();
    let labelled = list.into_iter().map(|item| {
        let mut hash = note::hash_of_label(&label(&item), outer);
        // Of equal ones, each has a label of its own.
        while !known.insert(hash) {
            hash = note::hash_of_label(&"again", hash);
        }
        (hash, item)
    });
    let items: Vec<(u32, T)> = labelled.collect();
    if let Some(cell) = context::current().filter(|cell| !cell.is_in_closure()) {
        let call = Call {
            gives: false,
            ..Call::new("labelled", "")
        };
        let now: Vec<u32> = items.iter().map(|(label, _)| *label).collect();
        cell.begin_list(|| Bytes::of(&now));
        let then = cell.effect(call, || Bytes::of(&now));
        cell.compare_items(&call, then.and_then(|then| then.read()), &now);
    }
    Labelled {
        items: items.into_iter(),
        outer,
    }
}

/// The items of [`labelled`].
#[must_use = "iterators do nothing unless they are used"]
pub struct Labelled<T> {
    items: std::vec::IntoIter<(u32, T)>,
    outer: u32,
}

impl<T> Iterator for Labelled<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let next = self.items.next();
        note::note_label(next.as_ref().map_or(self.outer, |(label, _)| *label));
        next.map(|(_, item)| item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}

/// The loop was left before its end.
impl<T> Drop for Labelled<T> {
    fn drop(&mut self) {
        note::note_label(self.outer);
    }
}

impl<T> fmt::Debug for Labelled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = self.items.len();
        f.debug_struct("Labelled")
            .field("left", &left)
            .finish_non_exhaustive()
    }
}

/// Says for which item the statements after it run, in a loop of a durable script over data: until the next
/// call, or the end of the loop of a [`labelled`] list around it.
///
/// The save then knows for which item an entry was made, and a build whose list is another one before the
/// point of the save is refused. Only [`labelled`] also knows which items there were, and goes on at the
/// right one.
///
/// # Examples
///
/// ```
/// use framestep_durable::place;
/// # use framestep_durable::prelude::*;
/// # #[derive(Serialize, Deserialize)]
/// # struct Task { id: u32, text: String }
/// #[durable]
/// async fn tasks(tasks: Vec<Task>) {
///     for task in tasks {
///         place(task.id);
///         with(|said: &mut Vec<String>| said.push(task.text.clone()));
///         next_frame().await;
///     }
/// }
/// ```
pub fn place(label: impl fmt::Display) {
    let hash = note::hash_of_label(&label, 0);
    note::note_label(hash);
    if let Some(cell) = context::current() {
        cell.note_item_alone(hash);
    }
}
