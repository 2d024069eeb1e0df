//! Scripts as source text.

use std::fmt::Write as _;

use crate::lists::{Form, Item, List};
use crate::{Block, Statement};

/// The text of a module under way.
#[derive(Default)]
struct Module {
    body: String,
    /// What the body uses.
    around: String,
    /// The loops over lists around the place that is written.
    loops: Vec<u32>,
}

macro_rules! put {
    ($to:expr, $($text:tt)*) => {
        writeln!($to, $($text)*).expect("text")
    };
}

pub(crate) fn script(name: &str, block: &Block, out: &mut String) {
    let mut module = Module::default();
    module.block(block);
    let Module { body, around, .. } = module;
    put!(
        out,
        "pub(crate) mod {name} {{\nuse crate::scripts::*;\n{around}#[durable]\npub(crate) async fn talk() {{\n{body}}}\n}}"
    );
}

impl Module {
    fn braces(&mut self, head: &str, block: &Block, end: &str) {
        put!(self.body, "{head}");
        self.block(block);
        put!(self.body, "{end}");
    }

    /// What is told: a text, and for which items.
    fn told(&self, number: u32, text: u32) -> String {
        let text = format!("\"{number}.{text}\"");
        let items = self.loops.iter().map(|of| format!("item_{of}"));
        let parts: Vec<String> = std::iter::once(text).chain(items).collect();
        format!("&[{}]", parts.join(", "))
    }

    fn block(&mut self, block: &Block) {
        for statement in block {
            match statement {
                Statement::Tell(number, text) => {
                    let told = self.told(*number, *text);
                    put!(self.body, "tell({told});");
                }
                Statement::Line(number, text, frames) => {
                    let told = self.told(*number, *text);
                    put!(self.body, "line({told}, {frames}).await;");
                }
                Statement::Wait(frames) => put!(self.body, "wait_frames({frames}).await;"),
                Statement::Key => put!(self.body, "KEY.wait().await;"),
                Statement::If(limit, block) => {
                    let head = format!("if with_ref(|_: &Story| 5_u32) > {limit} {{");
                    self.braces(&head, block, "}");
                }
                Statement::Some(rest, block) => {
                    let head = match self.loops.last() {
                        Some(of) => format!("if number_of(item_{of}) % 2 == {rest} {{"),
                        None => "{".to_owned(),
                    };
                    self.braces(&head, block, "}");
                }
                Statement::Repeat(count, block) => {
                    self.braces(&format!("for _ in 0..{count} {{"), block, "}");
                }
                Statement::Join([one, two]) => {
                    self.braces("join!(async {", one, "},");
                    self.braces("async {", two, "});");
                }
                Statement::Select([(first, one), (second, two)]) => {
                    let head = format!("select! {{ () = wait_frames({first}) => {{");
                    self.braces(&head, one, "}");
                    let head = format!("() = wait_frames({second}) => {{");
                    self.braces(&head, two, "} }");
                }
                Statement::Each(list, block) => self.each(list, block),
            }
        }
    }

    fn each(&mut self, list: &List, block: &Block) {
        let number = list.number;
        let name = format!("LIST_{number}_{}", list.name);
        let (constant, value) = constant(list.form, &name, &list.items);
        // A script may have a list twice, if a statement was inserted twice.
        let around = match &list.hides {
            Some(hidden) => self::constant(list.form, &name, hidden).0,
            None => constant.clone(),
        };
        put!(self.body, "{{");
        if list.hides.is_some() {
            put!(self.body, "{constant}");
        }
        if !self.around.contains(&format!(" {name}")) {
            put!(self.around, "{around}");
        }
        let item = format!("item_{number}");
        let (head, first) = match list.form {
            Form::Constant => (format!("for &{item} in {name}"), String::new()),
            Form::Structs => (
                format!("for entry in {name}.iter()"),
                format!("let {item} = entry.text;"),
            ),
            Form::Bare => (
                format!("for entry in {name}"),
                format!("let {item} = entry.0;"),
            ),
            Form::Indices => (
                format!("for at in 0..{name}.len()"),
                format!("let {item} = {name}[at];"),
            ),
            Form::Lines => (format!("for {item} in {name}.lines()"), String::new()),
            Form::Literal => (format!("for {item} in {value}"), String::new()),
            Form::Local => {
                put!(self.body, "let list = vec!{value};");
                (format!("for {item} in list"), String::new())
            }
            Form::Labelled => (
                format!("for &{item} in labelled({name}, |item| number_of(item))"),
                String::new(),
            ),
            Form::Placed => (
                format!("for &{item} in {name}"),
                format!("place(number_of({item}));"),
            ),
            Form::Returned => (format!("for {item} in {name}()"), String::new()),
            Form::Table => {
                put!(self.body, "let number = 1;");
                (format!("for &{item} in {name}[number]"), String::new())
            }
            Form::Counted => {
                put!(self.body, "let mut at = 0;");
                (
                    format!("while at < {name}.len()"),
                    format!("let {item} = {name}[at];\nat += 1;"),
                )
            }
            Form::Asked => {
                put!(self.body, "let mut list = {name}.iter();");
                (
                    format!("while let Some(&{item}) = list.next()"),
                    String::new(),
                )
            }
        };
        self.loops.push(number);
        self.braces(&format!("{head} {{\n{first}"), block, "}");
        self.loops.pop();
        put!(self.body, "}}");
    }
}

/// A list outside of the loop, and its items as an array.
fn constant(form: Form, name: &str, items: &[Item]) -> (String, String) {
    let texts = |before: &str, behind: &str| {
        let text = |(number, text): &Item| format!("{before}\"{number}.{text}\"{behind}");
        format!(
            "[{}]",
            items.iter().map(text).collect::<Vec<_>>().join(", ")
        )
    };
    let array = match items {
        [] => "[\"\"; 0]".to_owned(),
        _ => texts("", ""),
    };
    let constant = match form {
        Form::Structs => format!(
            "const {name}: &[Entry] = &{};",
            texts("Entry { of: 7, text: ", " }")
        ),
        Form::Bare => format!("const {name}: &[Bare] = &{};", texts("Bare(", ")")),
        Form::Lines => {
            let lines = items
                .iter()
                .map(|(number, text)| format!("{number}.{text}"));
            let lines: Vec<String> = lines.collect();
            format!("const {name}: &str = \"{}\";", lines.join("\\n"))
        }
        Form::Returned => {
            format!(
                "fn {name}() -> Vec<&'static str> {{ vec!{} }}",
                texts("", "")
            )
        }
        Form::Table => format!(
            "const {name}: &[&[&str]] = &[&[\"0.0\"], &{}, &[\"1.0\"]];",
            texts("", "")
        ),
        _ => format!("const {name}: &[&str] = &{};", texts("", "")),
    };
    (constant, array)
}
