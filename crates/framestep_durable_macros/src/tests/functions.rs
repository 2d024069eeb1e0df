//! Functions.

use super::{assert_error, errors, expanded};

const REFERENCE: &str = "a reference cannot be saved: take a number, a name or an owned value, \
                         and find what it means in a `with`";
const PATTERN: &str = "a parameter of a durable script has a name, because it is a field of the \
                       saved state: take it apart in the body";

#[test]
fn a_reference_cannot_be_saved() {
    assert_error("async fn a(name: &str) {}", "&str", REFERENCE);
    assert_error("async fn a(world: &mut World) {}", "&mut World", REFERENCE);
    assert_error(
        "async fn a(n: u8, of: &'static [u8]) {}",
        "&'static [u8]",
        REFERENCE,
    );
    assert_error("async fn a(world: *mut World) {}", "*mut World", REFERENCE);
}

#[test]
fn a_reference_is_found_in_other_types() {
    assert_error("async fn a(names: Vec<&str>) {}", "&str", REFERENCE);
    assert_error(
        "async fn a(names: Option<(u8, [&str; 2])>) {}",
        "&str",
        REFERENCE,
    );
    assert_error("async fn a(name: Cow<'_, str>) {}", "'_", REFERENCE);
    assert_error(
        "async fn a(name: <&str as ToOwned>::Owned) {}",
        "&str",
        REFERENCE,
    );
}

#[test]
fn what_is_returned_is_saved_too() {
    let text = "a reference cannot be saved: return an owned value";
    assert_error("async fn a() -> &'static str {}", "&'static str", text);
    assert_error(
        "async fn a() -> Chapter<&'static str> {}",
        "&'static str",
        text,
    );
    let text = "`impl Trait` cannot be saved: return a type with a name";
    assert_error("async fn a() -> impl Copy {}", "impl Copy", text);
}

#[test]
fn a_parameter_has_a_name() {
    assert_error("async fn a((x, y): (u8, u8)) {}", "(x, y)", PATTERN);
    assert_error("async fn a(_: u8) {}", "_", PATTERN);
    assert_error("async fn a(At { x, .. }: At) {}", "At { x, .. }", PATTERN);
    assert_error("async fn a(ref x: u8) {}", "ref x", PATTERN);
    assert_error("async fn a(x @ 1: u8) {}", "x @ 1", PATTERN);
}

#[test]
fn a_type_has_a_name() {
    let text = "`impl Trait` cannot be saved: a state has parameters of types with names";
    assert_error("async fn a(x: impl Copy) {}", "impl Copy", text);
    assert_error("async fn a(x: Vec<impl Copy>) {}", "impl Copy", text);
}

#[test]
fn a_generic_script_has_a_name_for_each_type() {
    let text = "a file knows a durable script by its name: a generic one needs a name for each \
                type, such as `#[durable(name = T::NAME)]` with a constant of a trait";
    assert_error("async fn a<T>(x: T) {}", "<T>", text);
    assert_error(
        "async fn a<const N: usize>(x: [u8; N]) {}",
        "<const N: usize>",
        text,
    );
    let named = errors("name = \"a\"", "async fn a<T>(x: T) {}");
    assert_eq!(named, [("<T>".to_owned(), text.to_owned())]);
    let expanded = expanded(
        "name = T::NAME",
        "async fn a<T: Kind>(x: T) where u8: Into<T> {}",
    );
    for part in [
        "constNAME:&'static::core::primitive::str=T::NAME;",
        "structState_of_a<T:Kind>whereu8:Into<T>{x:T,",
        "fna<T:Kind>(x:T)->State_of_a<T>whereu8:Into<T>{",
        "DurableScriptforState_of_a<T>whereu8:Into<T>{",
    ] {
        assert!(expanded.contains(part), "{part}: {expanded}");
    }
}

#[test]
fn a_script_borrows_nothing() {
    let text = "a durable script has no lifetimes: its state is saved, so it borrows nothing";
    assert_error("async fn a<'a>() {}", "'a", text);
    assert_error(
        "async fn a() where u8: Copy {}",
        "where u8: Copy",
        "a durable script that is not generic has no `where`",
    );
}

#[test]
fn a_method_is_no_script() {
    let text = "a method cannot be a durable script: write a function, and pass it what it needs \
                of `self`";
    assert_error("async fn a(&mut self) {}", "&mut self", text);
    assert_error("pub async fn a(self, x: u8) {}", "self", text);
}

#[test]
fn a_script_is_async_and_nothing_else() {
    assert_error("pub fn a() {}", "fn", "a durable script is an `async fn`");
    assert_error(
        "async unsafe fn a() {}",
        "unsafe",
        "a durable script cannot be `unsafe`: a restore calls it, which cannot keep a promise to \
         it",
    );
    assert_error(
        "async extern \"C\" fn a() {}",
        "extern \"C\"",
        "a durable script cannot be `extern`: only framestep calls it",
    );
    assert_error(
        "const async fn a() {}",
        "const",
        "a durable script cannot be `const`: it runs over time",
    );
}

#[test]
fn a_state_is_the_same_in_all_builds() {
    assert_error(
        "async fn a(#[cfg(test)] x: u8) {}",
        "#[cfg(test)]",
        "the state of a durable script is the same in all builds: put this on the function",
    );
}

#[test]
fn a_migrated_state_is_of_a_type_with_a_name() {
    let text = "a function that migrates returns a state, so the type of the state needs a name: add `state = Name`, \
                and return `Option<Name>`";
    let found = errors("version = 2, migrate = earlier::door", "async fn door() {}");
    assert_eq!(found, [("earlier::door".to_owned(), text.to_owned())]);
    let named = "version = 2, migrate = earlier::door, state = Door";
    let text = expanded(named, "async fn door() {}");
    assert!(
        text.contains("structDoor;") && !text.contains("State_of_"),
        "{text}"
    );
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let errors = errors("", "fn a<'a>(&self, (x, y): (&str, T)) {}");
    let marked: Vec<&str> = errors.iter().map(|(code, _)| code.as_str()).collect();
    assert_eq!(marked, ["fn", "'a", "&self", "&str", "(x, y)"]);
}

#[test]
fn only_functions_and_modules_are_scripts() {
    let text = "`#[durable]` stands on an `async fn`, or on a module of chapters";
    assert_error("struct A;", "struct", text);
    assert_error("const A: u8 = 1;", "const", text);
    assert_error("impl A {}", "impl", text);
    assert_error("async fn a();", ";", "a durable script has a body");
}

#[test]
fn arguments() {
    let error = |arguments| errors(arguments, "async fn a() {}").remove(0);
    let unknown = |key| {
        format!(
            "unknown argument `{key}`: there are `name = \"..\"`, the name in files, `version = 2` \
             and `migrate = function` for saves of earlier code, `state = Name`, to name the type of \
             the state, and `crate = path`, where `framestep_durable` is"
        )
    };
    assert_eq!(error("id = 3"), ("id".into(), unknown("id")));
    assert_eq!(
        error("name = \"a\", type = B"),
        ("type".into(), unknown("type"))
    );
    for (arguments, code, text) in [
        ("version = 1, version = 2", "2", "a script has one version"),
        (
            "migrate = a, migrate = b",
            "b",
            "a script has one `migrate`",
        ),
        ("version = -1", "-1", "a version is a `u32`"),
    ] {
        assert_eq!(error(arguments), (code.into(), text.into()));
    }
    let (code, text) = error("name = \"a\", name = \"b\"");
    assert_eq!(
        (&*code, &*text),
        ("\"b\"", "a script has one name in files")
    );
    let (code, text) = error("name = \"\"");
    assert_eq!((&*code, &*text), ("\"\"", "a script needs a name in files"));
    assert_eq!(error("name = 3").1, "expected string literal");
    assert_eq!(error("name").1, "expected `=`");
}

#[test]
fn the_names_of_states() {
    let expanded_contains = |item, code: &str| {
        let text = expanded("", item);
        assert!(text.contains(code), "{text}");
    };
    expanded_contains("async fn power_up() {}", "#[serde(rename=\"power_up\")]");
    expanded_contains("async fn power_up() {}", "structState_of_power_up;");
    expanded_contains("async fn power_up() {}", "=\"power_up\";");
    expanded_contains(
        "async fn r#type(r#match: u8) {}",
        "structState_of_type{r#match:u8}",
    );
    expanded_contains("async fn r#type() {}", "=\"type\";");
    expanded_contains("async fn _hidden() {}", "structState_of__hidden;");
    expanded_contains("async fn äh2_b() {}", "structState_of_äh2_b;");
    expanded_contains("async fn _1() {}", "structState_of__1;");
}

#[test]
fn the_compiler_says_first_which_parameter_cannot_be_saved() {
    let text = expanded("", "async fn a(x: u8, y: Vec<u8>) {}");
    let check = "const_:fn()=||{fnsaved<T:::framestep_durable::__private::Saved>(){}saved::<u8>();saved::<Vec<u8>>();};";
    assert!(text.starts_with(check), "{text}");
    let module = expanded(
        "",
        "mod a { #[chapter] async fn b(x: u8) {} #[chapter] async fn c() {} }",
    );
    assert_eq!(module.matches("saved::<u8>();").count(), 1, "{module}");
    assert_eq!(module.matches("Saved>()").count(), 1, "{module}");
}

#[test]
fn another_crate_may_export_it() {
    let text = expanded(
        "crate = crate::x",
        "async fn a() -> Result<Chapter, String> {}",
    );
    assert!(!text.contains("framestep_durable"), "{text}");
    assert!(
        text.contains("implcrate::x::DurableScriptforState_of_a"),
        "{text}"
    );
    assert!(
        text.contains("(crate=\"crate::x::__private::serde\")"),
        "{text}"
    );
}

#[test]
fn the_output_is_read_from_the_return_type() {
    let output = |written: &str, output: &str, body: &str| {
        let text = expanded("", &format!("async fn a() {written} {{}}"));
        assert!(text.contains(&format!("typeOutput={output};")), "{text}");
        assert!(
            text.contains(&format!("fn__durable_a(){body}{{}}")),
            "{text}"
        );
    };
    let chapter = |of: &str| format!("->::framestep_durable::Chapter<State_of_a{of}>");
    output("", "()", "");
    output("-> Vec<u8>", "Vec<u8>", "->Vec<u8>");
    output("-> Chapter", "()", &chapter(""));
    output("-> Chapter<u8>", "u8", &chapter(""));
    output("-> framestep_durable::Chapter<u8>", "u8", &chapter(""));
    output(
        "-> self::Chapter<u8>",
        "self::Chapter<u8>",
        "->self::Chapter<u8>",
    );
    output("-> Chapter<u8, u8>", "Chapter<u8,u8>", "->Chapter<u8,u8>");
    output(
        "-> Result<Chapter<u8>, E>",
        "Result<u8,E>",
        "->Result<::framestep_durable::Chapter<State_of_a,u8>,E>",
    );
    output(
        "-> ::std::io::Result<Chapter>",
        "::std::io::Result<()>",
        "->::std::io::Result<::framestep_durable::Chapter<State_of_a,()>>",
    );
    output(
        "-> Result<u8, Chapter>",
        "Result<u8,Chapter>",
        "->Result<u8,Chapter>",
    );
}

#[test]
fn a_body_is_not_parsed() {
    let text = expanded("", "async fn a() { what the compiler says = ; }");
    assert!(text.contains("{whatthecompilersays=;}"), "{text}");
}

#[test]
fn attributes_go_where_they_belong() {
    let text = expanded(
        "",
        "#[doc = \"d\"] #[cfg(c)] #[allow(l)] #[expect(dead_code)] #[expect(e)] #[other] \
         async fn a(#[serde(default)] #[allow(p)] x: u8) {}",
    );
    let count = |attribute: &str| text.matches(attribute).count();
    assert_eq!(
        count("#[cfg(c)]"),
        6,
        "the check of its parameters, the state, its call, three implementations: {text}"
    );
    assert_eq!(count("#[allow(l)]"), 2, "the call and the body: {text}");
    let (state, rest) = text.split_once("structState_of_a{").unwrap();
    let (call, body) = rest.split_once("constNAME").unwrap();
    assert!(!state.contains("#[doc=\"d\"]") && call.contains("#[doc=\"d\"]"));
    assert!(call.starts_with("#[serde(default)]x:u8}"), "{call}");
    assert!(call.contains("#[expect(dead_code)]") && call.contains("fna(x:u8)->State_of_a"));
    assert!(body.contains("#[expect(e)]") && body.contains("#[other]"));
    assert!(body.contains("(#[allow(p)]x:u8)"), "{body}");
}
