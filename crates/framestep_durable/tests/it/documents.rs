//! What the guide says about durable waits is what their signatures say.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(root.join(path)).unwrap()
}

/// The functions among the waits that take a closure which is called repeatedly, with its bound.
fn closures() -> BTreeSet<(String, &'static str)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/wait");
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let source = fs::read_to_string(entry.unwrap().path()).unwrap();
        for item in source.split("pub fn ").skip(1) {
            let (signature, _) = item.split_once('{').unwrap();
            let (name, _) = signature.split_once(['<', '(']).unwrap();
            for bound in ["Fn(", "FnMut("] {
                if signature.contains(&format!(": {bound}")) {
                    found.insert((name.to_owned(), bound));
                }
            }
        }
    }
    found
}

/// A row of a table in the guide about a wait with a closure: the wait and the column `durable`, which
/// is the last of five.
fn rows(page: &str) -> Vec<(String, String)> {
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.filter_map(|row| {
        let row = row.replace("\\|", "!");
        let cells: Vec<String> = row.split('|').map(|cell| cell.trim().to_owned()).collect();
        (cells.len() == 7).then(|| (cells[1].clone(), cells[5].clone()))
    });
    let takes_closure = |wait: &str| ["(cond)", "(!! ", "!t!"].iter().any(|it| wait.contains(it));
    cells.filter(|(wait, _)| takes_closure(wait)).collect()
}

#[test]
fn the_table_of_waits_says_which_closures_durable_scripts_take() {
    let closures = closures();
    let names: BTreeSet<&str> = closures.iter().map(|(name, _)| &**name).collect();
    // `wait_for` is that of framestep.
    let expected = ["animate", "changes_of", "wait_until", "wait_while"];
    assert_eq!(names, BTreeSet::from(expected));
    // A closure that is called repeatedly, and made anew by a restore, keeps nothing.
    assert!(
        closures.iter().all(|(_, bound)| *bound == "Fn("),
        "{closures:?}"
    );
    let rows = rows(&read("../../docs/guide/waits.md"));
    for name in expected {
        let of_name = rows
            .iter()
            .filter(|(wait, _)| wait.contains(&format!("{name}(")));
        let says = of_name.map(|(_, durable)| &**durable);
        // What has no durable form says what to use instead.
        let says: Vec<&str> = says.filter(|says| !says.starts_with("no: ")).collect();
        assert!(!says.is_empty(), "{name} is in no row");
        // In plain scripts, that of `animate` is an `FnMut`. The others are an `Fn` there, too.
        let is_right =
            |says: &&str| says.ends_with("the closure is an `Fn`") == (name == "animate");
        assert!(says.iter().all(is_right), "{name}: {says:?}");
    }
}

/// The functions in the rows of the guide's tables of waits, each with what the column `durable` says, which is the
/// last one.
fn functions(page: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for row in page.lines().filter(|line| line.starts_with("| ")) {
        let row = row.replace("\\|", "!");
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let (Some(waits), Some(durable)) = (cells.first(), cells.last()) else {
            continue;
        };
        for code in waits.split('`').skip(1).step_by(2) {
            let is_name = |char: char| char.is_alphanumeric() || char == '_';
            let (name, rest) =
                code.split_at(code.find(|char| !is_name(char)).unwrap_or(code.len()));
            if rest.starts_with(['(', '!']) {
                found.push((name.to_owned(), (*durable).to_owned()));
            }
        }
    }
    found
}

#[test]
fn the_table_of_waits_says_which_of_them_durable_scripts_have() {
    let prelude = read("src/prelude.rs");
    let is_word = |char: char| !(char.is_alphanumeric() || char == '_');
    let words: BTreeSet<&str> = prelude.split(is_word).collect();
    let functions = functions(&read("../../docs/guide/waits.md"));
    assert!(functions.len() > 30, "{functions:?}");
    for (name, durable) in functions {
        let says = durable.starts_with("yes");
        assert!(says || durable.starts_with("no"), "{name}: {durable}");
        assert_eq!(
            words.contains(&*name),
            says,
            "`{name}` is durable: {durable}"
        );
    }
}
