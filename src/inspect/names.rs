//! Names as they are shown.

/// The last two parts of a path, without type parameters: enough to distinguish
/// names. The closures in a function have its name. Other names do not change.
pub(super) fn short(name: &str) -> &str {
    let path = name.split('<').next().unwrap_or(name);
    let path = path.strip_suffix("::").unwrap_or(path);
    if path.is_empty() || path.contains(' ') {
        return name;
    }
    let path = path.trim_end_matches("::{{closure}}");
    match path.rmatch_indices("::").nth(1) {
        Some((at, _)) => &path[at + 2..],
        None => path,
    }
}

/// The text with its control characters escaped, such as a line break in a name.
pub(super) fn in_one_line(text: String) -> String {
    if !text.contains(char::is_control) {
        return text;
    }
    let escaped = |c: char| {
        if c.is_control() {
            c.escape_default().to_string()
        } else {
            c.to_string()
        }
    };
    text.chars().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn short_names_can_be_told_apart() {
        for (name, shortened) in [
            ("boss", "boss"),
            ("the boss::of the level", "the boss::of the level"),
            ("game::patrol", "game::patrol"),
            ("game::enemies::patrol", "enemies::patrol"),
            ("game::enemies::patrol::{{closure}}", "enemies::patrol"),
            ("game::patrol::{{closure}}::{{closure}}", "game::patrol"),
            ("a::b::Map<c::d::E, f::g::H>", "b::Map"),
            ("a::b::generic::<c::D>", "b::generic"),
            ("<a::B as c::D>::e", "<a::B as c::D>::e"),
        ] {
            assert_eq!(short(name), shortened);
        }
    }
}
