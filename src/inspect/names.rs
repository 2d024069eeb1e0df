//! Names as they are shown.

/// What the names of futures of [`on_error`](crate::combine::on_error()) begin with.
const ON_ERROR: &str = "framestep::combine::on_error::OnError<";

/// The name of a script, from that of the type of its future. An `async fn door()` has
/// the type `door::{{closure}}`; [`on_error`](crate::combine::on_error()) wraps such a type.
pub(crate) fn script(mut name: &'static str) -> &'static str {
    while let Some(arguments) = name.strip_prefix(ON_ERROR) {
        name = first(arguments);
    }
    name.strip_suffix("::{{closure}}").unwrap_or(name)
}

/// The first of several type arguments.
fn first(arguments: &str) -> &str {
    let mut depth = 0;
    let mut before = ' ';
    let end = arguments.find(|c| {
        match c {
            '<' | '(' | '[' => depth += 1,
            // Not the arrow of a function type.
            '>' if before == '-' => {}
            '>' | ')' | ']' => depth -= 1,
            _ => {}
        }
        before = c;
        depth < 0 || (c == ',' && depth == 0)
    });
    &arguments[..end.unwrap_or(arguments.len())]
}

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
    use std::any::type_name_of_val;

    use crate::combine::on_error;

    use super::{first, script, short};

    #[test]
    fn a_script_behind_a_handler_of_its_error_keeps_its_name() {
        async fn door<T>() -> Result<Result<(), T>, T> {
            std::future::ready(()).await;
            Ok(Ok(()))
        }
        type Complex = (u8, fn(u8) -> u8);
        let plain = script(type_name_of_val(&door::<Complex>()));
        assert!(plain.contains("::door") && !plain.ends_with("{{closure}}"));
        let once = on_error(door::<Complex>(), Err);
        assert_eq!(script(type_name_of_val(&once)), plain);
        let twice = on_error(once, |_| ());
        assert_eq!(script(type_name_of_val(&twice)), plain);
    }

    #[test]
    fn the_first_argument_ends_at_its_comma() {
        for (arguments, found) in [
            ("a::b, c::d>", "a::b"),
            ("a<b, c>, d>", "a<b, c>"),
            ("a<fn(b, c) -> d>::e, f>", "a<fn(b, c) -> d>::e"),
            ("[a; 2]>", "[a; 2]"),
        ] {
            assert_eq!(first(arguments), found);
        }
    }

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
