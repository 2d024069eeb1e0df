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
    // The others are those of framestep.
    assert_eq!(names, BTreeSet::from(["animate", "changes_of"]));
    // A closure that is called repeatedly, and made anew by a restore, keeps nothing.
    assert!(
        closures.iter().all(|(_, bound)| *bound == "Fn("),
        "{closures:?}"
    );
    let rows = rows(&read("../../docs/guide/waits.md"));
    for name in ["animate", "changes_of", "wait_until", "wait_while"] {
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

/// The names that a file exports, and whether they are items of `framestep`.
fn exported(source: &str) -> Vec<(String, bool)> {
    let mut names = Vec::new();
    for export in source.split("\npub use ").skip(1) {
        let (path, _) = export.split_once(';').unwrap();
        let (module, list) = path.split_once('{').unwrap_or(("", path));
        let is_of_framestep = path.starts_with("framestep::");
        let list = if module.is_empty() {
            list
        } else {
            list.trim_end_matches('}')
        };
        for name in list.split(',') {
            let name = name.trim().rsplit("::").next().unwrap();
            let name = name.rsplit(" as ").next().unwrap().trim();
            if !name.is_empty() {
                names.push((name.to_owned(), is_of_framestep));
            }
        }
    }
    names
}

/// The names that are one item in `framestep`, and another in this crate.
fn twins() -> BTreeSet<String> {
    let of_waits = exported(&read("src/wait/mod.rs"));
    let shared: BTreeSet<String> = of_waits
        .into_iter()
        .filter_map(|(name, is_of_framestep)| is_of_framestep.then_some(name))
        .collect();
    let own = exported(&read("src/lib.rs")).into_iter();
    let own = own.filter(|(name, is_of_framestep)| !is_of_framestep && !shared.contains(name));
    let modules = [
        "combine", "inspect", "lend", "scene", "sync", "task", "time", "wait",
    ];
    let mut of_framestep = exported(&read("../../src/lib.rs"));
    for module in modules {
        of_framestep.extend(exported(&read(&format!("../../src/{module}/mod.rs"))));
    }
    let of_framestep: BTreeSet<String> = of_framestep.into_iter().map(|(name, _)| name).collect();
    own.map(|(name, _)| name)
        .filter(|name| of_framestep.contains(name))
        .collect()
}

#[test]
fn what_is_left_of_two_vocabularies_stands_in_one_table() {
    let twins = twins();
    assert!(
        twins.contains("with") && twins.contains("JoinError"),
        "{twins:?}"
    );
    assert!(
        !twins.contains("wait_seconds") && !twins.contains("Signal"),
        "{twins:?}"
    );
    let guide = read("../../docs/guide/porting.md");
    let (_, section) = guide.split_once("\n## Two vocabularies\n").unwrap();
    let (section, _) = section.split_once("\n### ").unwrap();
    let (same, table) = section
        .split_once("\n| plain | durable |\n|---|---|\n")
        .unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with('|')).collect();
    assert!(rows.len() <= 20, "{} rows", rows.len());
    let names_in = |text: &str| -> BTreeSet<String> {
        let code = text.split('`').skip(1).step_by(2);
        // Macros are those of `framestep`.
        let code = code.filter(|code| !code.ends_with('!'));
        let names = code.flat_map(|code| {
            code.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        });
        names.map(str::to_owned).collect()
    };
    let in_table = names_in(table);
    let missing: Vec<&String> = twins.difference(&in_table).collect();
    assert!(missing.is_empty(), "in no row: {missing:?}");
    let called_one: Vec<String> = names_in(same).intersection(&twins).cloned().collect();
    assert!(
        called_one.is_empty(),
        "no items of both crates: {called_one:?}"
    );
}
