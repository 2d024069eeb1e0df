//! Saves with everything in them, changed at random, with a right checksum: an error, or a runtime
//! that works. Never a panic of the crate, a hang, or the end of the process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use framestep_durable::prelude::*;
use serde_json::Value as Json;

use crate::everything::{begun, blank, go_on, registry};
use crate::twin::Log;
use framestep_testkit::Random;

fn cases() -> u64 {
    let cases = std::env::var("FRAMESTEP_DURABLE_FILES").ok();
    cases.map_or(150, |cases| cases.parse().expect("a number"))
}

/// What became of the forged files.
#[derive(Debug, Default)]
struct Tried {
    damaged: u64,
    refused: u64,
    played: u64,
}

impl Tried {
    /// Reads a file, tries it, restores it with each policy, plays, and saves again.
    fn add(&mut self, read: Result<SaveState, RestoreError>, random: &mut Random) {
        let Ok(save) = read else {
            self.damaged += 1;
            return;
        };
        let _ = save.to_string();
        let _ = registry().dry_run(&save).to_string();
        let policies = [
            Policy::Fail,
            Policy::Restart,
            Policy::RestartAfterWait,
            Policy::Drop,
        ];
        let policy = policies[random.below(4) as usize];
        let (mut runtime, mut log) = (blank(), Log::new());
        if runtime.restore(&save, policy).is_err() {
            assert!(runtime.scripts().is_empty());
            self.refused += 1;
            return;
        }
        self.played += 1;
        let again = runtime.save_state().unwrap();
        let again = SaveState::from_bytes(&again.to_bytes()).unwrap();
        blank().restore(&again, Policy::Fail).unwrap();
        let played = catch_unwind(AssertUnwindSafe(|| go_on(&mut runtime, &mut log)));
        if let Err(payload) = played {
            // Of the host's call, which says so: only it knows the type of a question.
            let text = payload.downcast_ref::<String>();
            let is_documented = text.is_some_and(|it| it.contains("another request is named"));
            if !is_documented {
                std::panic::resume_unwind(payload);
            }
        }
        let _ = runtime.save_state();
    }
}

#[track_caller]
fn forge(
    mut forged: impl FnMut(&mut Random) -> Result<SaveState, RestoreError>,
    seed: u64,
) -> Tried {
    let mut tried = Tried::default();
    let last = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&last);
    std::panic::set_hook(Box::new(move |info| {
        *kept.lock().unwrap() = info.to_string();
    }));
    for case in 0..cases() {
        let mut random = Random(seed ^ case << 20 | 1);
        let one = catch_unwind(AssertUnwindSafe(|| {
            let read = forged(&mut random);
            tried.add(read, &mut random);
        }));
        if let Err(payload) = one {
            let _ = std::panic::take_hook();
            eprintln!("case {case}: {}", last.lock().unwrap());
            std::panic::resume_unwind(payload);
        }
    }
    let _ = std::panic::take_hook();
    tried
}

fn both_forms() -> [SaveState; 2] {
    let save = begun().0.save().unwrap();
    let described = save.described(&registry()).unwrap();
    [save, described]
}

#[test]
fn files_with_changed_bytes_and_a_right_checksum() {
    let files = both_forms().map(|save| save.to_bytes());
    let forged = |random: &mut Random| {
        let mut file = files[random.below(2) as usize].clone();
        for _ in 0..=random.below(3) {
            let at = 16 + random.below(file.len() as u64 - 16) as usize;
            match random.below(5) {
                0 => file[at] = random.next() as u8,
                1 => file[at] ^= 1 << random.below(8),
                2 => drop(file.remove(at)),
                3 => file.insert(at, random.next() as u8),
                _ => file.truncate(at.max(17)),
            }
        }
        let checksum = crc32fast::hash(&file[16..]);
        file[12..16].copy_from_slice(&checksum.to_le_bytes());
        SaveState::from_bytes(&file)
    };
    let tried = forge(forged, 7);
    assert!(tried.damaged > 0 && tried.refused > 0, "{tried:?}");
    eprintln!("{tried:?}");
}

/// Counts the values of a tree.
fn count(json: &Json) -> u64 {
    1 + match json {
        Json::Array(items) => items.iter().map(count).sum(),
        Json::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// Changes the value of this number in a tree.
fn change(json: &mut Json, at: &mut u64, random: &mut Random) -> bool {
    if *at == 0 {
        change_one(json, random);
        return true;
    }
    *at -= 1;
    match json {
        Json::Array(items) => items.iter_mut().any(|item| change(item, at, random)),
        Json::Object(fields) => fields.values_mut().any(|field| change(field, at, random)),
        _ => false,
    }
}

fn change_one(json: &mut Json, random: &mut Random) {
    match json {
        Json::Null => *json = random.below(9).into(),
        Json::Bool(value) => *value = !*value,
        Json::Number(number) => {
            let old = number.as_u64().unwrap_or(0);
            let numbers = [
                0,
                1,
                old.wrapping_add(1),
                old.wrapping_sub(1),
                old ^ (1 << random.below(40)),
                random.below(40),
                u64::from(u32::MAX),
                u64::MAX / 2 - 1,
                u64::MAX,
                random.next(),
            ];
            *json = numbers[random.below(10) as usize].into();
        }
        Json::String(text) => match random.below(3) {
            0 => text.clear(),
            1 => text.push('x'),
            _ => "guard".clone_into(text),
        },
        Json::Array(items) if !items.is_empty() => {
            let at = random.below(items.len() as u64) as usize;
            let other = random.below(items.len() as u64) as usize;
            match random.below(4) {
                0 => drop(items.remove(at)),
                1 => items.swap(at, other),
                2 => items.insert(at, items[other].clone()),
                _ => items[at] = items[other].clone(),
            }
        }
        Json::Array(items) => items.push(random.below(9).into()),
        Json::Object(fields) => {
            let mut fields = fields.values_mut();
            let first = fields.next().map(std::mem::take);
            if let (Some(first), Some(second)) = (first, fields.next()) {
                *second = first;
            }
        }
    }
}

/// These come much further than changed bytes: nearly all of them can be read.
#[test]
fn files_with_changed_numbers_lists_and_texts() {
    let jsons = both_forms().map(|save| serde_json::to_value(save).unwrap());
    let forged = |random: &mut Random| {
        let mut json = jsons[random.below(2) as usize].clone();
        // Journals and clocks have most of the numbers: choose the part first.
        for _ in 0..=random.below(2) {
            let fields = json.as_object_mut().unwrap();
            let chosen = random.below(fields.len() as u64) as usize;
            let part = fields.values_mut().nth(chosen).unwrap();
            let mut at = random.below(count(part));
            change(part, &mut at, random);
        }
        let save: Result<SaveState, _> = serde_json::from_value(json);
        let save = save.map_err(|_| RestoreError::Damaged)?;
        SaveState::from_bytes(&save.to_bytes())
    };
    let tried = forge(forged, 11);
    assert!(tried.refused > 0 && tried.played > 0, "{tried:?}");
    eprintln!("{tried:?}");
}
