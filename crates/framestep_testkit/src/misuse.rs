//! Misuse that the compiler rejects, with what it says: a folder of cases, each with a `.stderr` file.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Cases of a folder, for one library.
#[derive(Clone, Copy)]
pub struct Misuse<'a> {
    /// Paths in the compiler's messages are relative to this: the root of the workspace.
    pub root: &'a Path,
    /// The folder of the cases in it.
    pub cases: &'a str,
    /// The name of the library.
    pub library: &'a str,
    /// What `cargo build` builds the library for: an example, which has the same features as the tests.
    pub built_for: &'a [&'a str],
    /// Where the compiler may write.
    pub scratch: &'a Path,
    /// How many errors of a case are compared: those of another crate may follow.
    pub errors: usize,
}

impl Misuse<'_> {
    /// Compares what the compiler says of each case. `FRAMESTEP_BLESS=1` updates the files.
    #[track_caller]
    pub fn check(&self, at_least: usize) {
        let mut cases: Vec<PathBuf> = fs::read_dir(self.root.join(self.cases))
            .unwrap()
            .map(|entry| Path::new(self.cases).join(entry.unwrap().file_name()))
            .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
            .collect();
        cases.sort();
        assert!(cases.len() >= at_least, "only {} cases", cases.len());
        let library = self.built();
        let mut wrong = Vec::new();
        for some in cases.chunks(4) {
            let compilers: Vec<Child> = some
                .iter()
                .map(|case| self.compile(case, &library))
                .collect();
            for (case, compiler) in some.iter().zip(compilers) {
                let output = compiler.wait_with_output().unwrap();
                let said = normalized(&String::from_utf8(output.stderr).unwrap(), self.errors);
                assert!(!output.status.success(), "{} compiles", case.display());
                let expected = self.root.join(case).with_extension("stderr");
                if env::var_os("FRAMESTEP_BLESS").is_some() {
                    fs::write(expected, said).unwrap();
                } else if fs::read_to_string(expected).unwrap_or_default() != said {
                    wrong.push(format!("{}\n{said}", case.display()));
                }
            }
        }
        assert!(
            wrong.is_empty(),
            "the compiler says something else, or nothing is written down, of\n{}",
            wrong.join("\n")
        );
    }

    fn program(&self, variable: &str, name: &str) -> Command {
        let program = env::var_os(variable).unwrap_or_else(|| OsString::from(name));
        let mut command = Command::new(program);
        command.current_dir(self.root).stderr(Stdio::piped());
        command
    }

    /// The library that the tests are linked with, in the form that the compiler needs.
    fn built(&self) -> PathBuf {
        let output = self
            .program("CARGO", "cargo")
            .arg("build")
            .args(self.built_for)
            .args(["--message-format", "json"])
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let messages = String::from_utf8(output.stdout).unwrap();
        let file = format!("lib{}-", self.library);
        let of_library = |name: &&str| name.contains(&file) && name.contains(".rmeta");
        let name = messages.split('"').find(of_library);
        name.expect("cargo names it").into()
    }

    fn compile(&self, case: &Path, library: &Path) -> Child {
        // A file of its own: as root, the compiler replaces the one it is given, `/dev/null` too.
        let metadata = self.scratch.join(case.file_name().unwrap());
        self.program("RUSTC", "rustc")
            .args(["--edition=2024", "--crate-type=bin", "--emit=metadata"])
            .arg("-o")
            .arg(metadata.with_extension("rmeta"))
            .arg("-L")
            .arg(format!(
                "dependency={}",
                library.parent().unwrap().display()
            ))
            .arg("--extern")
            .arg(format!("{}={}", self.library, library.display()))
            .arg(case)
            .spawn()
            .unwrap()
    }
}

/// The compiler's message, without the parts that unrelated changes affect: the line
/// numbers of the source of a crate, and the indentation that depends on them.
fn normalized(said: &str, errors: usize) -> String {
    let mut normalized: Vec<String> = Vec::new();
    let (mut in_the_crate, mut errors_left) = (false, errors);
    for line in said.lines() {
        if line.starts_with("error: aborting") || line.starts_with("For more information") {
            break;
        }
        if line.starts_with("error") {
            match errors_left.checked_sub(1) {
                Some(left) => errors_left = left,
                None => break,
            }
        }
        let text = line.trim_start();
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let number = &text[..text.len() - rest.len()];
        let rest = rest.trim_start();
        if rest.starts_with("--> ") || rest.starts_with("::: ") {
            in_the_crate = ["src/", "crates/"]
                .iter()
                .any(|of| rest[4..].starts_with(of));
            let path = &rest[..rest.find(".rs").map_or(rest.len(), |at| at + 3)];
            let place = if in_the_crate { path } else { rest };
            normalized.push(format!("    {place}"));
        } else if rest.starts_with('|') || rest.starts_with("= ") {
            let number = if in_the_crate { "" } else { number };
            normalized.push(format!("{number:>4} {rest}"));
        } else if text.len() < line.len() {
            normalized.push(format!("{:12} {text}", ""));
        } else {
            in_the_crate = false;
            normalized.push(line.to_owned());
        }
    }
    normalized.join("\n").trim_end().to_owned() + "\n"
}
