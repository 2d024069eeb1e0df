//! What policies would do, before one is chosen; and a folder of saves, as a game's tests check it.

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;

use framestep_durable::prelude::*;

use crate::sleeps::Riddle;

thread_local! {
    static IS_PATCHED: Cell<bool> = const { Cell::new(false) };
}

const BELL: Signal<u32> = signal("bell");
const STAGE: Watch<u32> = watch("stage", Default::default);

#[derive(Serialize, Deserialize)]
struct Kid {
    frames: u64,
}

impl DurableScript for Kid {
    const NAME: &'static str = "kid";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        wait_frames(self.frames).await;
        Chapter::Done(())
    }
}

#[derive(Serialize, Deserialize)]
struct Quest;

impl DurableScript for Quest {
    const NAME: &'static str = "quest";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        if IS_PATCHED.get() {
            wait_frames(1).await;
        }
        for frames in [90, 2] {
            start(Kid { frames }).detach();
            with(|gold: &mut u32| *gold += 1);
        }
        let gold = with_ref(|gold: &u32| *gold);
        with_once("reward", |gold: &mut u32| *gold += 100);
        STAGE.set(STAGE.get() + gold);
        let _now = time();
        BELL.emit(1);
        wait_frames(2).await;
        select! {
            _ = ask(|| Riddle) => {}
            _ = wait_seconds(9) => {}
        }
        Chapter::Done(())
    }
}

#[derive(Serialize, Deserialize)]
struct Town;

impl DurableScript for Town {
    const NAME: &'static str = "town";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let _ = start(Quest).await;
        Chapter::Done(())
    }
}

fn registry() -> Registry {
    let registry = Registry::new().with::<Town>().with::<Quest>();
    registry.with::<Kid>().with_watch(&STAGE)
}

fn saved() -> SaveState {
    IS_PATCHED.set(false);
    let (mut runtime, mut gold) = (Runtime::new(registry()), 0_u32);
    runtime.spawn(Town).detach();
    for _ in 0..5 {
        runtime.run_frame_with(&mut gold, 0.1);
    }
    assert_eq!(gold, 102);
    let save = runtime.save().unwrap();
    SaveState::from_bytes(&save.to_bytes()).unwrap()
}

/// A report with `N` for the lines of this file, and without its folders.
fn without_lines(report: &str) -> String {
    let file = format!("{}:", file!());
    let mut parts = report.split(&file);
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        text += "this.rs:N";
        text += part.trim_start_matches(|it: char| it.is_ascii_digit());
    }
    text
}

const REPORT: &str = "\
the script `quest` (#2) does not fit its save, at entry 1: the save has a `start` of `kid` at this.rs:N; \
now it awaits `wait_frames()` at this.rs:N. Either its code has changed since, or it depends on what is \
not recorded
    Restart does again: a `start` of `kid` at this.rs:N, 2 times; a `with` at this.rs:N, 2 times; a \
`set` of `stage` at this.rs:N; an `emit` of `bell` at this.rs:N
    Restart does not do again what it has done once: \"reward\"
    Beside the scripts that it starts again, these continue: `kid` (#3)
    RestartAfterWait waits for the first of: `ask()` for `riddle` at this.rs:N; `wait_seconds()` at \
this.rs:N
    Drop drops it, and stops the join of: `town` (#1)
2 of 3 scripts fit
";

#[test]
fn a_dry_run_says_what_each_policy_would_do() {
    let save = saved();
    let fits = registry().dry_run(&save);
    assert!(fits.is_compatible(), "{fits}");
    assert_eq!(fits.to_string(), "3 of 3 scripts fit\n");

    IS_PATCHED.set(true);
    let dry_run = registry().dry_run(&save);
    assert!(!dry_run.is_compatible());
    assert_eq!(without_lines(&dry_run.to_string()), REPORT);
    let incompatibility = &dry_run.incompatibilities[0];
    assert_eq!(
        (incompatibility.script, &*incompatibility.name),
        (ScriptId::from_raw(2), "quest")
    );
    assert!(incompatibility.can_restart);
    assert_eq!(incompatibility.once, ["reward"]);
    let times: Vec<u32> = incompatibility
        .again
        .iter()
        .map(|done| done.times)
        .collect();
    assert_eq!(times, [2, 2, 1, 1]);
    assert_eq!(registry().check(&save)[0], incompatibility.error);
}

#[test]
fn a_restart_does_what_the_dry_run_says() {
    let save = saved();
    IS_PATCHED.set(true);
    let dry_run = registry().dry_run(&save);
    let (mut runtime, mut gold) = (Runtime::new(registry()), 102_u32);
    runtime.restore(&save, Policy::Restart).unwrap();
    for _ in 0..2 {
        runtime.run_frame_with(&mut gold, 0.1);
    }
    let again = &dry_run.incompatibilities[0].again;
    let withs = again.iter().find(|done| done.what.starts_with("a `with`"));
    assert_eq!(gold, 102 + withs.unwrap().times, "not the reward");
    let alive = runtime.scripts();
    let (child, _) = dry_run.incompatibilities[0].children[0];
    assert!(alive.contains(&(child, "kid")));
    assert_eq!(alive.iter().filter(|(_, name)| *name == "kid").count(), 3);
}

#[test]
fn a_script_without_a_state_cannot_restart() {
    let save = saved();
    let dry_run = Registry::new().with::<Town>().with::<Kid>().dry_run(&save);
    let incompatibility = &dry_run.incompatibilities[0];
    assert!(!incompatibility.can_restart);
    let text = incompatibility.to_string();
    let says = "the script `quest` (#2): the save has a script named `quest`, which the registry does \
                not know";
    assert!(text.starts_with(says), "{text}");
    assert!(text.contains("\n    Restart is not possible: "), "{text}");
}

#[test]
fn what_no_policy_helps_with_is_listed_too() {
    let save = saved().described(&registry()).unwrap();
    let mut json = serde_json::to_value(&save).unwrap();
    json["values"][0][1]["Described"] = "a text".into();
    json["owners"] = serde_json::json!([]);
    json["next_script"] = 1.into();
    let save: SaveState = serde_json::from_value(json).unwrap();
    let dry_run = registry().dry_run(&save);
    let text = dry_run.to_string();
    let says = "the value `stage` in the save is not a `u32`: invalid type: string \"a text\", expected \
                u32\nthe save is damaged: it was truncated or changed\n3 of 3 scripts fit\n";
    assert_eq!(text, says);
    assert!(!dry_run.is_compatible());
    assert_eq!(registry().check(&save), dry_run.errors);
}

/// A folder of its own, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let process = std::process::id();
        let path = std::env::temp_dir().join(format!("framestep-durable-{process}-{name}"));
        fs::create_dir_all(path.join("1.0")).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_folder_of_saves_is_checked_with_file_names_and_lines() {
    let folder = Folder::new("saves");
    let save = saved();
    fs::write(folder.0.join("1.0/quest.save"), save.to_bytes()).unwrap();
    fs::write(folder.0.join("README.md"), "one for each release").unwrap();
    fs::write(folder.0.join(".hidden"), "not a save").unwrap();
    let saves = registry()
        .check_folder(&folder.0, SaveState::from_bytes)
        .unwrap();
    assert!(saves.is_compatible());
    let said = saves.to_string();
    assert!(
        said.ends_with("quest.save: fits\n1 of 1 saves fit"),
        "{said}"
    );

    // Of the next release, with a world; and one that is damaged.
    let with_world = save.to_bytes_with(&7_u64);
    fs::write(folder.0.join("1.1.save"), &with_world).unwrap();
    fs::write(folder.0.join("cut.save"), &with_world[..99]).unwrap();
    IS_PATCHED.set(true);
    let read = |file: &[u8]| match SaveState::from_bytes_with::<u64>(file) {
        Err(RestoreError::NoWorld) => SaveState::from_bytes(file),
        read => read.map(|(save, _)| save),
    };
    let saves = registry().check_folder(&folder.0, read).unwrap();
    assert!(!saves.is_compatible());
    let root = folder.0.display().to_string();
    let text = without_lines(&saves.to_string().replace(&root, "saves"));
    let cut = "\nsaves/cut.save: refused: the save is damaged: it was truncated or changed\n";
    assert!(text.contains(cut), "{text}");
    assert!(
        text.starts_with("saves/1.0/quest.save: refused: the script `"),
        "{text}"
    );
    let reports =
        format!("\nsaves/1.0/quest.save:\n{REPORT}\nsaves/1.1.save:\n{REPORT}\n0 of 3 saves fit");
    assert!(text.ends_with(&reports), "{text}");
}

#[test]
fn a_folder_without_saves_is_an_error() {
    let folder = Folder::new("empty");
    let empty = registry().check_folder(&folder.0, SaveState::from_bytes);
    let text = empty.unwrap_err().to_string();
    assert!(text.starts_with("there is no save in `"), "{text}");
    let missing = folder.0.join("missing");
    let none = registry().check_folder(&missing, SaveState::from_bytes);
    let text = none.unwrap_err().to_string();
    assert!(text.contains("missing: "), "{text}");
}
