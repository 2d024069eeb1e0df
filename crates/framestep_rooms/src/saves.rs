//! Which save is used, and which is replaced: a shard has four.

use std::sync::Arc;

use crate::entry::Position;

/// How many saves a shard has: of the last one, the log may have lost the tick, and one may be
/// damaged.
pub(crate) const SLOTS: usize = 4;

/// A slot: the revision, and the place of its save if it can be read.
pub(crate) type Slot = (u64, Option<Position>);

const FORMAT: u8 = 3;

/// A save as bytes: a version, a checksum, the place, the state.
pub(crate) fn to_bytes(at: &Position, state: &[u8]) -> Vec<u8> {
    let mut bytes = vec![FORMAT, 0, 0, 0, 0];
    let mut bytes_of =
        postcard::to_extend(at, std::mem::take(&mut bytes)).expect("a place serialises");
    bytes_of.extend_from_slice(state);
    let sum = crc32fast::hash(&bytes_of[5..]);
    bytes_of[1..5].copy_from_slice(&sum.to_le_bytes());
    bytes_of
}

/// The place and the state of a save. `None` if it was cut or changed.
pub(crate) fn of_bytes(bytes: &[u8]) -> Option<(Position, &[u8])> {
    let (&[format, a, b, c, d], content) = bytes.split_first_chunk::<5>()?;
    if format != FORMAT || crc32fast::hash(content) != u32::from_le_bytes([a, b, c, d]) {
        return None;
    }
    postcard::take_from_bytes(content).ok()
}

/// A save: its place, and the state.
pub(crate) type Save = (Position, Arc<[u8]>);

/// The saves that can be read, the newest one first.
pub(crate) fn by_age(slots: impl IntoIterator<Item = Option<Arc<[u8]>>>) -> Vec<Save> {
    let read = |bytes: Arc<[u8]>| of_bytes(&bytes).map(|(at, state)| (at, Arc::from(state)));
    let mut saves: Vec<Save> = slots.into_iter().flatten().filter_map(read).collect();
    saves.sort_by_key(|(at, _)| std::cmp::Reverse(at.seq));
    saves
}

/// The newest save before an entry.
pub(crate) fn newest(saves: Vec<Save>, before: Option<u64>) -> Option<Save> {
    let mut saves = saves.into_iter();
    saves.find(|(at, _)| before.is_none_or(|before| at.seq < before))
}

/// The slot for a save, and the revision that it must still have. `None` if there is a newer save.
///
/// Saves of `not_of_this_log` or later entries count as empty: the log does not have their ticks.
///
/// The newest save is replaced until it is `spacing` frames after the one before it, then the oldest
/// one is. So if the log loses frames, but fewer than `spacing`, there is a save before them. At the
/// newest handing over another build began, which cannot replay what is before: that save stays as
/// long.
pub(crate) fn slot_for(
    slots: &[Slot],
    at: &Position,
    not_of_this_log: Option<u64>,
    spacing: u64,
) -> Option<(usize, u64)> {
    let is_of_log = |it: &&Position| not_of_this_log.is_none_or(|limit| it.seq < limit);
    let place = |(number, slot): (usize, &'_ Slot)| {
        Some((number, slot.1.clone().filter(|it| is_of_log(&it))?))
    };
    let mut used: Vec<(usize, Position)> = slots.iter().enumerate().filter_map(place).collect();
    used.sort_by_key(|(_, place)| place.seq);
    if used.last().is_some_and(|(_, newest)| newest.seq >= at.seq) {
        return None;
    }
    let with_revision = |number: usize| Some((number, slots[number].0));
    let last_hand_over = used.iter().rev().find(|(_, place)| place.hands_over);
    let begins = last_hand_over.filter(|(_, place)| at.frame < place.frame + spacing);
    let stays = |number: usize| begins.is_some_and(|(it, _)| *it == number);
    if let [.., (_, before), (newest, _)] = &used[..]
        && at.frame < before.frame + spacing
        && !stays(*newest)
    {
        return with_revision(*newest);
    }
    let is_used = |number: &usize| used.iter().any(|(it, _)| it == number);
    let empty = (0..slots.len()).find(|number| !is_used(number));
    let oldest = used
        .iter()
        .map(|(number, _)| *number)
        .find(|number| !stays(*number));
    with_revision(empty.or(oldest)?)
}

/// The entry of the newest save.
pub(crate) fn newest_entry(slots: &[Slot]) -> u64 {
    let seqs = slots.iter().filter_map(|slot| Some(slot.1.as_ref()?.seq));
    seqs.max().unwrap_or(0)
}

/// The first entry of the frame of the oldest save, if no slot is empty: those before it are not
/// needed.
pub(crate) fn oldest(slots: &[Slot]) -> Option<u64> {
    let seqs: Option<Vec<u64>> = slots
        .iter()
        .map(|slot| Some(slot.1.as_ref()?.since.0 + 1))
        .collect();
    seqs?.into_iter().min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seq: u64) -> Position {
        Position {
            seq,
            frame: seq,
            since: (seq - 1, 0),
            ..Position::start()
        }
    }

    #[test]
    fn a_changed_save_is_not_read() {
        let save = to_bytes(&at(9), b"state");
        assert_eq!(of_bytes(&save), Some((at(9), &b"state"[..])));
        for byte in 0..save.len() {
            let mut changed = save.clone();
            changed[byte] ^= 1;
            assert_eq!(of_bytes(&changed), None);
            assert_eq!(of_bytes(&save[..byte]), None);
        }
    }

    /// Stores saves at these frames; returns those that are there in the end.
    fn kept(frames: &[u64], hands_over: &[u64], spacing: u64) -> Vec<u64> {
        let mut slots: Vec<Slot> = vec![(0, None); SLOTS];
        for &frame in frames {
            let mut place = at(frame);
            place.hands_over = hands_over.contains(&frame);
            let (slot, revision) = slot_for(&slots, &place, None, spacing).unwrap();
            assert_eq!(revision, slots[slot].0);
            slots[slot] = (revision + 1, Some(place));
        }
        let mut kept: Vec<u64> = slots
            .iter()
            .filter_map(|slot| Some(slot.1.as_ref()?.frame))
            .collect();
        kept.sort_unstable();
        kept
    }

    #[test]
    fn there_is_always_a_save_that_is_older_than_the_spacing() {
        let frames: Vec<u64> = (1..=40).map(|n| n * 5).collect();
        assert_eq!(kept(&frames[..2], &[], 20), [5, 10]);
        assert_eq!(kept(&frames[..8], &[], 20), [5, 20, 35, 40]);
        for count in 10..40 {
            let kept = kept(&frames[..count], &[], 20);
            let newest = frames[count - 1];
            assert!(kept.contains(&newest));
            assert!(
                kept.iter()
                    .any(|frame| frame + 20 <= newest && frame + 100 >= newest),
                "{kept:?}"
            );
        }
    }

    #[test]
    fn the_save_at_which_a_build_begins_stays() {
        assert_eq!(
            kept(&[5, 25, 45, 65, 70, 75, 80], &[70], 20),
            [45, 65, 70, 80]
        );
        assert_eq!(
            kept(&[5, 25, 45, 65, 70, 72, 80, 100, 120, 140], &[70], 20).first(),
            Some(&80)
        );
    }

    #[test]
    fn a_newer_save_stays_unless_it_is_of_another_log() {
        let slots: Vec<Slot> = vec![
            (1, Some(at(5))),
            (2, Some(at(9))),
            (3, Some(at(12))),
            (4, Some(at(20))),
        ];
        assert_eq!((oldest(&slots), newest_entry(&slots)), (Some(5), 20));
        assert_eq!(slot_for(&slots, &at(20), None, 2), None);
        assert_eq!(slot_for(&slots, &at(15), None, 2), None);
        assert_eq!(slot_for(&slots, &at(15), Some(20), 2), Some((3, 4)));
    }

    #[test]
    fn the_newest_that_can_be_read_and_is_before_is_used() {
        let saved = |seq| Some(Arc::from(to_bytes(&at(seq), &[])));
        let slots = || vec![saved(5), saved(9), Some(Arc::from(*b"damaged"))];
        let seq = |before| newest(by_age(slots()), before).map(|(at, _)| at.seq);
        assert_eq!(
            (seq(None), seq(Some(9)), seq(Some(5))),
            (Some(9), Some(5), None)
        );
    }
}
