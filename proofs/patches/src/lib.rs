//! Random scripts, each as it was and with random changes, as two builds that read each other's saves.
//!
//! `build.rs` writes them. Each save goes on right in the other build, or is refused: it never tells
//! another story. That is what `cargo test -p framestep-patches` asks.

#[cfg(test)]
mod scripts;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use framestep_durable::prelude::*;

    use crate::scripts::{CASES, Case, KEY, Story};

    /// After how many frames there are saves.
    const FRAMES: usize = 60;
    /// How long each script is played: to its end, also if waits were inserted.
    const ALL: usize = 700;

    fn frame(runtime: &mut Runtime, story: &mut Story, number: usize) {
        if number % 7 == 5 {
            runtime.named(&KEY).emit(());
        }
        runtime.run_frame_with(story, 0.1);
    }

    fn plays(registry: fn() -> Registry, begin: fn(&Runtime)) -> Story {
        let (mut runtime, mut story) = (Runtime::new(registry()), Story::new());
        begin(&runtime);
        for number in 0..ALL {
            frame(&mut runtime, &mut story, number);
        }
        story
    }

    /// How often each line is told, in whatever words.
    fn counts(story: &[String]) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for text in story {
            let parts = text.split(':').map(|part| part.split_once('.').unwrap().0);
            let numbers: Vec<&str> = parts.collect();
            *counts.entry(numbers.join(":")).or_default() += 1;
        }
        counts
    }

    /// What is wrong with a story. `None` if it is right: nothing is told more often than in both builds, and
    /// nothing less often.
    fn wrong(before: &Story, after: &Story, told: &Story, said_before: usize) -> Option<String> {
        let [before, after, all] = [before, after, told].map(|story| counts(story));
        let of = |counts: &BTreeMap<String, usize>, number: &String| {
            counts.get(number).copied().unwrap_or(0)
        };
        for (number, count) in &all {
            if *count > of(&before, number).max(of(&after, number)) {
                return Some(format!("{number} is told {count} times"));
            }
        }
        for number in before
            .keys()
            .filter(|number| after.contains_key(number.as_str()))
        {
            if of(&all, number) < of(&before, number).min(of(&after, number)) {
                return Some(format!("{number} is missing"));
            }
        }
        let behind = counts(&told[said_before..]);
        let unknown = behind.keys().find(|number| !after.contains_key(*number))?;
        Some(format!("{unknown} is told by neither"))
    }

    fn loads(case: &Case, totals: &mut [usize; 3]) -> Vec<String> {
        let before = plays(case.before, case.begin);
        let after = plays(case.after, case.begin_after);
        let (mut runtime, mut story) = (Runtime::new((case.before)()), Story::new());
        (case.begin)(&runtime);
        let mut wrongs = Vec::new();
        for number in 0..FRAMES {
            frame(&mut runtime, &mut story, number);
            let file = runtime.save().unwrap().to_bytes();
            let save = SaveState::from_bytes(&file).unwrap();
            let (mut other, mut told) = (Runtime::new((case.after)()), story.clone());
            let Ok(restored) = other.restore(&save, Policy::Fail) else {
                totals[1] += 1;
                continue;
            };
            for after in number + 1..ALL {
                frame(&mut other, &mut told, after);
            }
            match wrong(&before, &after, &told, story.len()) {
                None => totals[0] += 1,
                Some(why) => {
                    totals[2] += 1;
                    wrongs.push(format!(
                        "{}, frame {number}: {why}\n  before {before:?}\n  after {after:?}\n  told {told:?}\n  {:?}",
                        case.name,
                        restored.passed.iter().map(ToString::to_string).collect::<Vec<_>>()
                    ));
                }
            }
        }
        wrongs
    }

    #[test]
    fn a_save_in_another_build_goes_on_right_or_is_refused() {
        let mut totals = [0; 3];
        let wrongs: Vec<String> = CASES
            .iter()
            .filter_map(|case| loads(case, &mut totals).into_iter().next())
            .collect();
        let [right, refused, wrong] = totals;
        println!("{right} right, {refused} refused, {wrong} wrong");
        assert!(
            wrongs.is_empty(),
            "{} cases:\n{}",
            wrongs.len(),
            wrongs.join("\n")
        );
        assert!(right > refused, "most changes are no obstacle");
    }
}
