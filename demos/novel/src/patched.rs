//! The story in six builds, as a writer makes them of one another. Each save of each build goes on in the last
//! one, at its line. Only a save in a line that is gone is refused.

use framestep_durable::prelude::*;

use crate::stage::Stage;
use crate::story::{Choice, ENTER};

/// A build: its scenes, and what they say and choose with.
macro_rules! build {
    ($build:ident { $($scenes:tt)* }) => {
        mod $build {
            #[framestep_durable::durable(name = "story")]
            pub(super) mod scenes {
                use framestep_durable::prelude::*;

                use crate::stage::Stage;
                #[allow(unused_imports, reason = "not each build tells")]
                use crate::story::{choose, say, tell};

                $($scenes)*

                fn end() {
                    with(|stage: &mut Stage| stage.is_over = true);
                }
            }
        }
    };
}

build!(first {
    #[chapter]
    pub(crate) async fn gate() -> Chapter {
        say("It rains. The gate is closd.").await;
        say("Somebody sings behind it.").await;
        let knocks = choose(["Knock", "Climb"]).await == 0;
        if knocks {
            say("Ann: Who is there?").await;
            say("She opens.").await;
        } else {
            say("You fall into a bed of roses.").await;
        }
        Chapter::Next(hall(knocks))
    }

    #[chapter]
    async fn hall(is_guest: bool) {
        say("Ann: There is a dragon in our cave.").await;
        say("Ann: Take this torch.").await;
        if is_guest {
            say("Ann: And a rope.").await;
        }
        say("The End.").await;
        end();
    }
});

// Typos, and lines that were missing.
build!(second {
    #[chapter]
    pub(crate) async fn gate() -> Chapter {
        say("It is night.").await;
        say("It rains. The gate is closed.").await;
        say("Somebody sings behind it.").await;
        let knocks = choose(["Knock", "Climb"]).await == 0;
        if knocks {
            say("Ann: Who is there?").await;
            say("She has a lamp.").await;
            say("She opens.").await;
        } else {
            say("You fall into a bed of roses.").await;
        }
        Chapter::Next(hall(knocks))
    }

    #[chapter]
    async fn hall(is_guest: bool) {
        say("Ann: There is a dragon in our cave.").await;
        say("Ann: Take this torch.").await;
        if is_guest {
            say("Ann: And a rope.").await;
        }
        say("The End.").await;
        end();
    }
});

// A line less, a line that is told at once, another word for a choice.
build!(third {
    #[chapter]
    pub(crate) async fn gate() -> Chapter {
        say("It is night.").await;
        say("It rains. The gate is closed.").await;
        let knocks = choose(["Knock", "Climb over the wall"]).await == 0;
        if knocks {
            tell("You knock.");
            say("Ann: Who is there?").await;
            say("She has a lamp.").await;
            say("She opens.").await;
        } else {
            say("You fall into a bed of roses.").await;
            say("Ann: These were the last ones.").await;
        }
        Chapter::Next(hall(knocks))
    }

    #[chapter]
    async fn hall(is_guest: bool) {
        say("Ann: There is a dragon in our cave.").await;
        say("Ann: It sleeps for an hour.").await;
        say("Ann: Take this torch.").await;
        if is_guest {
            say("Ann: And a rope.").await;
        }
        say("The End.").await;
        end();
    }
});

// An ending, a comment, code in another form.
build!(fourth {
    #[chapter]
    pub(crate) async fn gate() -> Chapter {
        // The first words.
        say("It is night.").await;
        say(
            "It rains. The gate is closed.",
        )
        .await;
        let knocks = choose(["Knock", "Climb over the wall"]).await == 0;
        if knocks {
            tell("You knock.");
            say("Ann: Who is there?").await;
            say("She has a lamp.").await;
            say("She opens.").await;
        } else {
            say("You fall into a bed of roses.").await;
            say("Ann: These were the last ones.").await;
        }
        Chapter::Next(hall(knocks))
    }

    #[chapter]
    async fn hall(is_guest: bool) {
        say("Ann: There is a dragon in our cave.").await;
        say("Ann: It sleeps for an hour.").await;
        say("Ann: Take this torch.").await;
        if is_guest {
            say("Ann: And a rope.").await;
        }
        say("You tie it up.").await;
        say("The End.").await;
        end();
    }
});

// A longer end, more lines before the choice.
build!(fifth {
    #[chapter]
    pub(crate) async fn gate() -> Chapter {
        // The first words.
        say("It is night.").await;
        say("It rains. The gate is closed.").await;
        say("A dog barks.").await;
        say("Then it is quiet.").await;
        let knocks = choose(["Knock", "Climb over the wall"]).await == 0;
        if knocks {
            tell("You knock.");
            say("Ann: Who is there?").await;
            say("She has a lamp.").await;
            say("She opens.").await;
        } else {
            say("You fall into a bed of roses.").await;
            say("Ann: These were the last ones.").await;
        }
        Chapter::Next(hall(knocks))
    }

    #[chapter]
    async fn hall(is_guest: bool) {
        say("Ann: There is a dragon in our cave.").await;
        say("Ann: It sleeps for an hour.").await;
        say("Ann: Take this torch.").await;
        if is_guest {
            say("Ann: And a rope.").await;
        }
        say("You tie it up.").await;
        say("It follows you home.").await;
        say("The End.").await;
        end();
    }
});

// Another typo, and a scene between.
build!(sixth {
    #[chapter]
    pub(crate) async fn gate() -> Chapter {
        // The first words.
        say("It is night.").await;
        say("It rains. The gate is closed.").await;
        say("A dog barks.").await;
        say("Then it is quiet.").await;
        let knocks = choose(["Knock", "Climb over the wall"]).await == 0;
        if knocks {
            tell("You knock.");
            say("Ann: Who is there?").await;
            say("She has a lamp.").await;
            say("She opens the gate.").await;
        } else {
            say("You fall into a bed of roses.").await;
            say("Ann: These were the last ones.").await;
        }
        Chapter::Next(yard(knocks))
    }

    #[chapter]
    async fn hall(is_guest: bool) {
        say("Ann: There is a dragon in our cave.").await;
        say("Ann: It sleeps for an hour.").await;
        say("Ann: Take this torch.").await;
        if is_guest {
            say("Ann: And a rope.").await;
        }
        say("You tie it up.").await;
        say("It follows you home.").await;
        say("The End.").await;
        end();
    }

    #[chapter]
    async fn yard(is_guest: bool) -> Chapter {
        say("You cross the yard.").await;
        Chapter::Next(hall(is_guest))
    }
});

/// A build: its registry, and what begins it.
struct Build {
    registry: fn() -> Registry,
    begin: fn(&mut Runtime),
}

macro_rules! builds {
    ($($build:ident),*) => {
        [$(Build {
            registry: || Registry::new().script($build::scenes::gate),
            begin: |runtime| runtime.start($build::scenes::gate()).detach(),
        }),*]
    };
}

fn builds() -> [Build; 6] {
    builds!(first, second, third, fourth, fifth, sixth)
}

/// Plays a frame: the player reads fast, and always chooses this option.
fn frame(runtime: &mut Runtime, stage: &mut Stage, option: usize) {
    match runtime.requests::<Choice>().pop() {
        Some((id, _)) => assert!(runtime.answer(id, &option)),
        None => runtime.named(&ENTER).emit(()),
    }
    runtime.run_frame_with(stage, 0.25);
}

/// Plays on to the end.
fn ends(runtime: &mut Runtime, stage: &mut Stage, option: usize) {
    for _ in 0..100 {
        if stage.is_over {
            return;
        }
        frame(runtime, stage, option);
    }
    panic!("the story does not end: {}", stage.text);
}

/// The line that the third build does not have any more.
const GONE: &str = "Somebody sings behind it.";

/// Loads a file in another build. `None` if the player was in the line that is gone.
fn loads(build: &Build, file: &[u8]) -> Option<(Runtime, Stage)> {
    let (save, stage) = SaveState::from_bytes_with(file).unwrap();
    let mut runtime = Runtime::new((build.registry)());
    match runtime.restore(&save, Policy::Fail) {
        Ok(_) => Some((runtime, stage)),
        Err(error) => {
            let last = lines(&stage).pop();
            assert_eq!(last.as_deref(), Some(GONE), "{error}");
            assert!(error.to_string().contains("which is gone"), "{error}");
            None
        }
    }
}

fn lines(stage: &Stage) -> Vec<String> {
    stage.text.lines().map(str::to_owned).collect()
}

/// What was told after a load is what the last build tells, in its order and to its end, and nothing is told again.
#[track_caller]
fn judge(told: &[String], before: usize, last: &[String]) {
    let rest = &told[before..];
    let mut from = last.iter();
    assert!(
        rest.iter().all(|line| from.any(|it| it == line)),
        "{told:?}"
    );
    let begun = last.iter().position(|line| Some(line) == rest.first());
    let begun = begun.unwrap_or(last.len());
    assert_eq!(rest, &last[begun..], "to the end: {told:?}");
    let twice = |line: &String| told.iter().filter(|it| *it == line).count() > 1;
    assert!(!told.iter().any(twice), "{told:?}");
}

/// The saves of a build, after each frame.
fn saves(build: &Build, option: usize) -> Vec<Vec<u8>> {
    let (mut runtime, mut stage) = (Runtime::new((build.registry)()), Stage::default());
    runtime.lend(&mut stage, |runtime| (build.begin)(runtime));
    let mut saves = Vec::new();
    while !stage.is_over {
        saves.push(runtime.save().unwrap().to_bytes_with(&stage));
        frame(&mut runtime, &mut stage, option);
    }
    saves
}

fn story(build: &Build, option: usize) -> Vec<String> {
    let (mut runtime, mut stage) = (Runtime::new((build.registry)()), Stage::default());
    runtime.lend(&mut stage, |runtime| (build.begin)(runtime));
    ends(&mut runtime, &mut stage, option);
    lines(&stage)
}

#[test]
fn a_save_of_each_build_goes_on_in_the_last_one() {
    let builds = builds();
    let (last, earlier) = builds.split_last().unwrap();
    for option in 0..2 {
        let told_last = story(last, option);
        for build in earlier {
            for file in saves(build, option) {
                let Some((mut runtime, mut stage)) = loads(last, &file) else {
                    continue;
                };
                let before = lines(&stage).len();
                ends(&mut runtime, &mut stage, option);
                judge(&lines(&stage), before, &told_last);
            }
        }
    }
}

#[test]
fn a_save_that_each_build_has_loaded_and_saved_again_goes_on_in_the_last_one() {
    let builds = builds();
    let told_last = story(&builds[5], 0);
    for mut file in saves(&builds[0], 0) {
        let mut loaded = None;
        for build in &builds[1..] {
            loaded = loads(build, &file);
            let Some((runtime, stage)) = &loaded else {
                break;
            };
            file = runtime.save().unwrap().to_bytes_with(stage);
        }
        let Some((mut runtime, mut stage)) = loaded else {
            continue;
        };
        let before = lines(&stage).len();
        ends(&mut runtime, &mut stage, 0);
        judge(&lines(&stage), before, &told_last);
    }
}
