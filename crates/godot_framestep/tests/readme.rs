//! The README and the checks in the engine, which `scripts/plays/godot` runs.

#[test]
fn each_row_about_the_end_of_a_script_names_a_check_in_the_engine() {
    let readme = include_str!("../README.md");
    let checks = include_str!("engine/project/checks/clean_up.gd");
    let sections = &mut readme.split("\n### ");
    let section = sections.find(|section| section.starts_with("What ends a script"));
    let section = section.expect("the README says what ends a script");
    let rows = section
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1);
    let mut named = 0;
    for row in rows {
        let check = row.trim_end_matches(" |").rsplit("| ").next().unwrap();
        let check = format!("func check_{}()", check.trim_matches('`'));
        assert!(checks.contains(&check), "no `{check}`: {row}");
        named += 1;
    }
    assert_eq!(
        named,
        checks.matches("func check_").count(),
        "each check has a row"
    );
}
