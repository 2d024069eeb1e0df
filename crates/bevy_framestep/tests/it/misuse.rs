//! Misuse that the compiler rejects, with a message that says what to write.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What all cases have in common.
const SCRIPTS: &str = "
use bevy_framestep::prelude::*;
pub async fn intro() {}
pub async fn poison<E>(_: E) {}
";

/// The library in the forms in which it was built, the latest one first. Another one may have
/// been built since then, with other features or for another compiler.
fn libraries() -> Vec<PathBuf> {
    let program = env::current_exe().unwrap();
    let files = fs::read_dir(program.parent().unwrap()).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libbevy_framestep-") && name.ends_with(".rlib")
    };
    let mut files: Vec<_> = files.filter(is_library).collect();
    files.sort_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
    files.reverse();
    files
}

fn compile(library: &Path, code: &str) -> Output {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("misuse.rs");
    fs::write(&file, format!("{SCRIPTS}{code}")).unwrap();
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let folder = library.parent().unwrap().display();
    Command::new(compiler)
        .args(["--edition=2024", "--crate-type=lib", "--emit=metadata"])
        .arg("-o")
        .arg(file.with_extension("rmeta"))
        .arg(format!("-Ldependency={folder}"))
        .arg("--extern")
        .arg(format!("bevy_framestep={}", library.display()))
        .arg(file)
        .output()
        .unwrap()
}

#[test]
fn a_script_instead_of_a_function_that_makes_it() {
    let fine = "
        pub fn bundle(strength: u8) -> Scripts {
            Scripts::of(poison).and(move |goblin| async move {
                poison(goblin).await;
                poison(strength).await;
            })
        }
    ";
    let libraries = libraries();
    let compiles = |library: &&PathBuf| compile(library, fine).status.success();
    let library = libraries.iter().find(compiles);
    let library = library.expect("the library that the tests are linked with");
    let cases = [
        (
            "pub fn bundle() -> Scripts { Scripts::of(poison(1)) }",
            "is not a function that makes a script of an entity",
            "pass the function itself, `poison`, or a closure, `|goblin| poison(goblin, 3)`",
        ),
        (
            "pub fn bundle(scripts: Scripts) -> Scripts { scripts.and(poison(1)) }",
            "is not a function that makes a script of an entity",
            "pass the function itself, `poison`, or a closure, `|goblin| poison(goblin, 3)`",
        ),
        (
            "pub fn go(of_goblin: &mut impl EntityCommandsScriptsExt) {
                of_goblin.start_script(poison(1));
            }",
            "is not a function that makes a script of an entity",
            "pass the function itself, `poison`, or a closure, `|goblin| poison(goblin, 3)`",
        ),
        (
            "pub fn go(commands: &mut impl CommandsScriptsExt) {
                commands.start_script(intro());
            }",
            "is not a function that makes a script",
            "pass the function itself, `intro`, or a closure, `|| intro(3)`",
        ),
    ];
    for (code, message, hint) in cases {
        let output = compile(library, code);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "`{code}` compiles");
        assert!(said.contains(message) && said.contains(hint), "{said}");
        assert_eq!(said.matches("error[").count(), 1, "{said}");
    }
}
