//! Misuse that the compiler rejects, and what it says: it names the user's functions and what to write.

use std::fs;
use std::path::Path;

use framestep_testkit::misuse::Misuse;

#[test]
fn misuse_does_not_compile_and_no_message_is_about_a_hidden_name() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let misuse = Misuse {
        root: package.ancestors().nth(2).unwrap(),
        cases: "crates/framestep_durable/tests/compile_fail",
        library: "framestep_durable",
        built_for: &["-p", "framestep_durable", "--example", "look"],
        scratch: Path::new(env!("CARGO_TARGET_TMPDIR")),
        // What serde says beside the first one is known.
        errors: 1,
    };
    misuse.check(4);
    for entry in fs::read_dir(package.join("tests/compile_fail")).unwrap() {
        let said = fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in said.lines().filter(|line| line.starts_with("error")) {
            assert!(!line.contains("__durable"), "{line}");
        }
    }
}
