//! Closures of effects change no local variable of their script: they do not compile, or the sync test
//! finds them.

use std::cell::Cell;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::Command;

use framestep_durable::prelude::*;

/// The compiler's message for a script with this body.
fn message(body: &str) -> String {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "-p", "framestep_durable", "--example", "look"])
        .args(["--message-format", "json"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let messages = String::from_utf8(built.stdout).unwrap();
    let of_library =
        |name: &&str| name.contains("libframestep_durable-") && name.contains(".rmeta");
    let library: PathBuf = messages.split('"').find(of_library).unwrap().into();
    let folder = library.parent().unwrap();
    // Tests run at the same time.
    let hash = framestep_durable::StableHash::digest(body.as_bytes());
    let name = format!("framestep-locals-{}-{hash}", std::process::id());
    let source = std::env::temp_dir().join(name).with_extension("rs");
    let metadata = source.with_extension("rmeta");
    let script = format!(
        "use framestep_durable::prelude::*;\npub async fn script() {{\n{body}\n}}\nfn main() {{}}\n"
    );
    fs::write(&source, script).unwrap();
    let compiled = Command::new(std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into()))
        .args(["--edition=2024", "--emit=metadata", "-L"])
        .arg(format!("dependency={}", folder.display()))
        .arg("--extern")
        .arg(format!("framestep_durable={}", library.display()))
        // A file of its own: the compiler replaces the one it is given, `/dev/null` too.
        .arg("-o")
        .arg(&metadata)
        .arg(&source)
        .output()
        .unwrap();
    fs::remove_file(&source).unwrap();
    // There is none if there are errors.
    let _ = fs::remove_file(&metadata);
    String::from_utf8(compiled.stderr).unwrap()
}

/// The closures of each effect that a replay does not do again.
#[test]
fn a_closure_that_changes_a_local_variable_does_not_compile() {
    let closures = [
        "with(|gold: &mut u32| seen.push(*gold));",
        "with_ref(|gold: &u32| seen.push(*gold));",
        "with_once(\"reward\", |gold: &mut u32| seen.push(*gold));",
        "effect(|| seen.push(1));",
        "effect_once_per_frame(\"hit\", || seen.push(1));",
        "let _later = defer_call(|| seen.push(1));",
    ];
    // The compiler says the same only once about one type.
    let types = ["u32", "u64", "u16", "u8", "i32", "i8"];
    let body = closures.iter().zip(types).map(|(closure, kind)| {
        let closure = closure.replace("u32", kind);
        format!(
            "{{ let mut seen: Vec<{kind}> = Vec::new(); {closure} drop(seen); }}
"
        )
    });
    let said = message(&body.collect::<String>());
    let text = "error[E0277]: this closure may change a local variable of the script: a script that is \
                restored does not call it again";
    assert_eq!(said.matches(text).count(), closures.len(), "{said}");
    assert!(
        said.contains("it borrows a local variable mutably, or moves"),
        "{said}"
    );
    assert!(said.contains("return the value from the closure"), "{said}");
    let closures = [
        "wait_until(|| { calls += 1; calls > 3 }).await;",
        "wait_while(|| { calls += 1; calls > 3 }).await;",
        "animate(1.0, |_| calls += 1).await;",
        "changes_of(|| { calls += 1; calls }).next().await;",
        "signal::<u8>(\"a\").wait_for(|_| { calls += 1; true }).await;",
        "watch(\"a\", || 0_u8).wait_for(|_| { calls += 1; true }).await;",
    ];
    let body = closures.map(|closure| format!("{{ let mut calls = 0; {closure} drop(calls); }}\n"));
    let said = message(&body.concat());
    let text = "as it is a captured variable in a `Fn` closure";
    assert_eq!(said.matches(text).count(), closures.len(), "{said}");
}

/// What a closure moves, reads or gets by value.
#[test]
fn other_closures_compile() {
    let said = message(
        "let mut seen: Vec<u32> = Vec::new();
        seen.push(with(|gold: &mut u32| *gold));
        let (name, count) = (String::new(), seen.len());
        with(|lines: &mut Vec<String>| lines.push(name));
        with(move |gold: &mut u32| { let mut local = count; local += 1; *gold = local as u32; });
        with_ref(|lines: &Vec<String>| lines.len() + count);
        let mut own = seen.clone();
        with(move |gold: &mut u32| own.push(*gold));
        effect(|| println!(\"{seen:?}\"));
        wait_until(|| with_ref(|gold: &u32| *gold as usize > count)).await;",
    );
    assert!(!said.contains("error"), "{said}");
}

const CELL: u32 = line!() + 9;

/// The compiler does not know what a `Cell` keeps.
#[durable]
async fn scout() {
    let seen = Cell::new(0);
    with(|gold: &mut u32| seen.set(*gold));
    wait_frames(2).await;
    let count = seen.get();
    with(move |gold: &mut u32| *gold = 100 + count);
}

/// Does as much in the same frame, so that two effects may be the one.
#[durable]
async fn other() {
    with(|_: &mut u32| ());
    wait_frames(2).await;
    with(|_: &mut u32| ());
}

fn found(others: usize, hashes: bool) -> String {
    let registry = Registry::new().script(scout).script(other);
    let mut builder = Runtime::builder(registry).sync_test::<u32>();
    if hashes {
        builder = builder.hash_effects::<u32>();
    }
    let mut runtime = builder.build();
    let mut gold = 7_u32;
    runtime.spawn(scout()).detach();
    for _ in 0..others {
        runtime.spawn(other()).detach();
    }
    let play = || (0..5).for_each(|_| runtime.run_frame_with(&mut gold, 0.1));
    let payload = catch_unwind(AssertUnwindSafe(play)).unwrap_err();
    payload.downcast_ref::<String>().unwrap().clone()
}

#[test]
fn the_sync_test_names_the_effect_that_depends_on_a_local_variable_with_interior_mutability() {
    let said = found(0, false);
    let named = format!(
        "script `scout` (#1), entry 3: a `with` at {}:{CELL}. It depends",
        file!()
    );
    assert!(said.contains(&named), "{said}");
    assert!(said.contains("or a `Cell`"), "{said}");
    let several = found(1, false);
    assert!(
        several.contains(": one of script `scout` (#1), entry 3"),
        "{several}"
    );
    assert!(
        several.contains("script `other` (#2), entry 3"),
        "{several}"
    );
    // With hashes, it is known which one.
    let hashed = found(1, true);
    let named = format!(
        "script `scout` (#1), entry 3: a `with` at {}:{CELL} leaves",
        file!()
    );
    assert!(hashed.contains(&named), "{hashed}");
}
