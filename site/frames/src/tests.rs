//! What the recordings have to show.

use std::collections::BTreeMap;
use std::fs;

use crate::record::Run;
use crate::{SCRIPTS, runs};

fn all() -> BTreeMap<String, Run> {
    runs().collect()
}

fn printed(run: &Run) -> Vec<(usize, &str)> {
    let frames = run.frames.iter().enumerate();
    let lines =
        frames.flat_map(|(number, frame)| frame.printed.iter().map(move |line| (number, &**line)));
    lines.collect()
}

#[test]
fn every_script_ends_in_the_frames_that_are_shown_but_the_one_that_is_stuck() {
    for (name, run) in all() {
        // A quarter of a second: a page shows all of it.
        if name.ends_with("-quarter") {
            assert!(
                run.frames.len() <= 60,
                "{name}: {} frames",
                run.frames.len()
            );
            assert!(!run.goes_on || name == "stuck-quarter", "{name}");
        }
        assert!(run.frames.len() > 3, "{name}");
    }
}

#[test]
fn every_wait_of_a_recording_has_a_line_of_its_file() {
    for (name, run) in all() {
        let (script, _) = name.split_once('-').unwrap();
        let text = fs::read_to_string(format!("scripts/{script}.rs")).unwrap();
        let lines: Vec<_> = text.lines().collect();
        for (frame, waiting) in run.frames.iter().flat_map(|frame| &frame.waits).enumerate() {
            // A wait that is over while its script is paused.
            let is_over = waiting.paused && waiting.words.is_empty();
            assert!(
                is_over || !waiting.lines.is_empty(),
                "{name}, {frame}: {waiting:?}"
            );
            for line in &waiting.lines {
                let line = lines[*line as usize - 1];
                let waits = [".await", "select!", "join!", "wait", "=>"];
                assert!(
                    waits.iter().any(|word| line.contains(word)),
                    "{name}: {line}"
                );
            }
        }
    }
}

#[test]
fn the_door_opens_and_the_hero_takes_the_coins() {
    let all = all();
    let door = &all["door-quarter"];
    assert_eq!(
        printed(door),
        [
            (4, "the hero knocks"),
            (4, "the door creaks"),
            (10, "the door is open"),
            (10, "the hero takes 3 coins"),
        ]
    );
    let last = door.frames.last().unwrap().world;
    assert_eq!((last.door.to_bits(), last.coins), (1_f32.to_bits(), 3));
}

#[test]
fn there_is_a_script_for_each_file() {
    let mut files: Vec<_> = fs::read_dir("scripts")
        .unwrap()
        .map(|entry| {
            entry
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    files.sort();
    let mut names: Vec<_> = SCRIPTS.iter().map(|(name, _)| (*name).to_owned()).collect();
    names.sort();
    assert_eq!(names, files);
}
