//! The statements of a body, and their table.

use super::expanded;

/// The entries of the table, without their lines.
fn table(body: &str) -> Vec<String> {
    let text = expanded("", &format!("async fn a() {{ {body} }}"));
    let (_, table) = text.split_once("Places::new(::core::file!(),&[").unwrap();
    let (table, _) = table
        .split_once(")];")
        .or(table.split_once(")]);"))
        .unwrap();
    table.split("::core::line!())").map(str::to_owned).collect()
}

/// What the body is made of.
fn body(body: &str) -> String {
    let text = expanded("", &format!("async fn a() {{ {body} }}"));
    let (_, text) = text.split_once("fn__durable_a()").unwrap();
    text.to_owned()
}

#[test]
fn format_and_comments_do_not_count() {
    let one = table("say(\"a\"); with(|w: &mut World| { w.gold += 1; });");
    let other =
        table("say(\n\"a\",\n);\n// A comment.\nwith(\n|w: &mut World| { w.gold += 1; },\n);");
    assert_eq!(one, other);
    assert_ne!(
        one,
        table("say(\"b\"); with(|w: &mut World| { w.gold += 1; });")
    );
}

#[test]
fn only_what_may_call_something_is_a_statement() {
    let text = body("let x = 1; say(x); let y = x + 1; tell!(y);");
    assert_eq!(text.matches("note_place").count(), 2, "{text}");
    assert!(text.contains("letx=1;::framestep_durable::__private::note_place(2u16);say(x);"));
}

#[test]
fn a_closure_is_of_the_statement_that_calls_it() {
    let text = body("with(|w: &mut World| { w.one(); w.two(); });");
    assert_eq!(text.matches("note_place").count(), 1, "{text}");
}

#[test]
fn branches_and_blocks_that_are_polled_in_turns_have_notes_of_their_own() {
    let text = body("select! { () = one() => two(), else => three() }");
    assert_eq!(text.matches("__private::At{").count(), 1, "{text}");
    let text = body("join!(one(), async { two(); });");
    assert_eq!(text.matches("__private::At{").count(), 2, "{text}");
    assert_eq!(text.matches("__private::InPlace{").count(), 0, "{text}");
    let text = body("let later = async { two(); };");
    assert_eq!(text.matches("__private::InPlace{").count(), 1, "{text}");
    let text = body("each(items, async |item| { one(item).await; two(item); });");
    assert_eq!(text.matches("__private::InPlace{").count(), 1, "{text}");
}

#[test]
fn a_macro_with_another_syntax_stays_as_it_is() {
    let text = body("select! { this is no branch }");
    assert!(text.contains("select!{thisisnobranch}"), "{text}");
    let text = body("join!(fields, by => name);");
    assert!(text.contains("join!(fields,by=>name)"), "{text}");
}

#[test]
fn a_macro_of_another_crate_stays_as_it_is() {
    for path in ["futures", "::futures_util", "tokio"] {
        let text = body(&format!("{path}::join!(one(), two()).await;"));
        assert_eq!(text.matches("__private::At{").count(), 0, "{text}");
        assert_eq!(text.matches("note_place").count(), 1, "{text}");
    }
    for path in ["framestep::combine", "bevy_framestep", "crate"] {
        let text = body(&format!("{path}::join!(one(), two());"));
        assert_eq!(text.matches("__private::At{").count(), 2, "{text}");
    }
}

#[test]
fn a_select_that_polls_in_random_order_is_an_error() {
    for path in ["futures::select", "::futures_util::select", "tokio::select"] {
        let text = body(&format!("{path}! {{ a = one() => two(), }}"));
        assert!(text.contains("compile_error"), "{text}");
    }
    for fair in [
        "tokio::select! { biased; a = one() => two(), }",
        "futures::select_biased! { a = one() => two() }",
        "engine::select! { a = one() => two() }",
    ] {
        let text = body(fair);
        assert!(
            !text.contains("compile_error") && !text.contains("At{"),
            "{text}"
        );
    }
}

#[test]
fn the_condition_of_a_loop_is_of_the_loop_each_time() {
    let text = body("while more().await { one(); }");
    let note = "while(::framestep_durable::__private::note_place(2u16),more().await).1{";
    assert!(text.contains(note), "{text}");
    let text = body("while let Some(next) = next() && ready { one(); }");
    assert!(text.contains("note_place(2u16),next()).1&&ready"), "{text}");
}

#[test]
fn calls_whose_results_nothing_uses_are_known() {
    let drops = |text: &str| table(text).concat().contains("dropping_its_result");
    assert!(drops("say(\"a\").await;"));
    assert!(drops("crate::say(format!(\"{}\", gold()));"));
    assert!(drops("say(if gold() >= 3 { \"rich\" } else { \"poor\" });"));
    assert!(!drops("say(\"a\").await"), "it is what the script returns");
    assert!(!drops("let gold = read();"));
    assert!(!drops("gold = read();"));
    assert!(!drops("seen.push(read());"));
    assert!(!drops("read(&mut gold);"));
    assert!(!drops("each(|gold| seen.push(gold));"));
    assert!(!drops("say({ gold = read(); gold });"));
    assert!(!drops("say(read()?);"));
    assert!(drops("say(names.get(3));"));
    assert!(!drops("say(seen.insert(read()));"));
    assert!(!drops("say(seen.extend::<u32>(read()));"));
}

#[test]
fn what_decides_the_turns_of_a_loop_is_its_head() {
    let head = |text: &str| {
        let entry = table(text)[2].clone();
        assert!(table(text)[3].contains("looping()"), "{text}");
        let (_, parts) = entry.split_once('[').unwrap();
        parts.split(',').next().unwrap().to_owned()
    };
    let one = head("for n in 0..3 { say(n); }");
    assert_eq!(
        one,
        head("for n in 0..3 { say(n); let text = 1; say(text); }")
    );
    assert_ne!(one, head("for n in 0..4 { say(n); }"));
    assert_ne!(one, head("for n in 0..3 { say(n); if n == 1 { break; } }"));
}

/// The sketch of the first statement of a body.
fn sketch(body: &str) -> u32 {
    let entry = table(body)[2].clone();
    let (_, parts) = entry.split_once("Place::new(").unwrap();
    parts
        .split(',')
        .nth(1)
        .unwrap()
        .trim_end_matches("u32")
        .parse()
        .unwrap()
}

fn words(sketch: u32) -> Vec<u32> {
    (0..5)
        .map(|at| sketch >> (6 * at) & 0x3F)
        .filter(|number| *number != 0)
        .collect()
}

#[test]
fn a_sketch_has_six_bits_for_each_of_five_words() {
    assert_eq!(sketch("say();"), 0);
    assert_eq!(words(sketch("say(\"mountain\");")).len(), 1);
    let all = sketch("say(\"mountain river valley winter summer garden\");");
    assert_eq!((words(all).len(), all >> 30), (5, 0));
}

#[test]
fn neither_what_is_called_nor_the_order_of_words_counts_for_a_sketch() {
    let text = sketch("say(\"mountain river\");");
    assert_eq!(
        text,
        sketch("tell(\"River? No: river, mountain!\", 1).await;") & text | text
    );
    assert_eq!(text, sketch("tell(\"river - mountain\").await;"));
    assert_eq!(text, sketch("tell(mountain, river);"));
}

#[test]
fn long_words_come_before_short_ones() {
    let long = words(sketch("say(\"mountain river valley winter summer\");"));
    let both = words(sketch(
        "say(\"a mountain by the river in a valley of winter or summer\");",
    ));
    assert_eq!(long, both);
    let few = words(sketch("say(\"a mountain by the river\");"));
    assert_eq!(few.len(), 5);
}

/// What the table says of the lists.
fn lists(body: &str) -> Vec<String> {
    let text = expanded("", &format!("async fn a(FROM: u32) {{ {body} }}"));
    let lists = text.split("__private::List{").skip(1);
    lists
        .map(|list| list.split("})").next().unwrap().to_owned())
        .collect()
}

#[test]
fn a_loop_over_a_list_that_the_code_tells_is_known() {
    let one = |body: &str| {
        let [list] = &lists(body)[..] else {
            panic!("{body}");
        };
        list.clone()
    };
    let is_items = |body: &str| one(body).contains("Order::Items");
    for over in [
        "LINES",
        "&LINES",
        "LINES.iter()",
        "crate::inn::LINES",
        "LINES.iter().enumerate()",
        "INN.lines",
        "0..LINES.len()",
        "TEXT.lines()",
        "[\"a\", \"b\"]",
        "&[\"a\", \"b\"]",
        "vec![\"a\", \"b\"]",
        "LINES.iter().map(|line| line.text)",
    ] {
        let body = format!("for x in {over} {{ say(x); }}");
        assert!(is_items(&body), "{over}");
        let text = expanded("", &format!("async fn a() {{ {body} }}"));
        assert_eq!(
            text.matches("__private::begin_turns(2u16)").count(),
            1,
            "{text}"
        );
        assert_eq!(
            text.matches("__private::begin_turn(2u16)").count(),
            1,
            "{text}"
        );
    }
    assert!(one("for x in &LINES[1..] { say(x); }").contains("Order::Forward"));
    assert!(one("for x in LINES.iter().skip(1) { say(x); }").contains("Order::Forward"));
    assert!(one("for x in LINES.iter().rev() { say(x); }").contains("Order::Any"));
    assert!(one("run(async { for x in LINES { say(x); } });").contains("Order::Forward"));
    assert!(is_items("let lines = [1, 2]; for x in lines { say(x); }"));
    assert!(is_items(
        "const LINES: &[u32] = &[1, 2]; for x in LINES { say(x); }"
    ));
    assert!(is_items("match 1 { _ => for x in LINES { say(x); } }"));
}

/// How many turns and items the loops of a body tell.
fn told(body: &str) -> [usize; 2] {
    let text = expanded("", &format!("async fn a() {{ {body} }}"));
    let count = |note: &str| text.matches(&format!("__private::{note}(2u16")).count();
    let turns = count("begin_turn");
    assert_eq!(count("begin_turns"), turns, "{text}");
    [turns, count("item_of_loop")]
}

#[test]
fn a_loop_tells_what_it_binds_if_no_constant_says_it() {
    for over in ["lines()", "TABLES[1]", "LINES.iter().rev()"] {
        assert_eq!(
            told(&format!("for x in {over} {{ say(x).await; }}")),
            [1, 1],
            "{over}"
        );
    }
    assert_eq!(told("for x in [1, 2] { say(x).await; }"), [1, 1]);
    // What its items are, the constant says.
    assert_eq!(told("for x in LINES { say(x).await; }"), [1, 0]);
    for (told_items, body) in [
        (
            2,
            "while let Some((x, y)) = list.next() { say(x, y).await; }",
        ),
        (
            1,
            "while at < 3 { let x = list[at]; at += 1; say(x).await; }",
        ),
        (
            1,
            "loop { let Some(x) = list.pop() else { break }; say(x).await; }",
        ),
        (1, "for at in 0..3 { let x = &list[at]; say(x).await; }"),
        (1, "for x in list() { select! { _ = other() => {} } }"),
        // What is in it is told in other turns.
        (0, "for _ in 0..3 { for x in list() { say(x).await; } }"),
        (0, "loop { while is_on() { say().await; } }"),
    ] {
        assert_eq!(told(body), [1, told_items], "{body}");
    }
    for body in [
        "for x in labelled(lines(), |x| x.id) { say(x).await; }",
        "for x in lines() { place(x.id); say(x).await; }",
        "for x in 0..3 { say(x).await; }",
        "for _ in lines() { say().await; }",
        "for ref x in lines() { say(x).await; }",
        "for x in lines() { say(x); }",
        "while let Some(x) = queue.next().await { say(x).await; }",
        "loop { let x = read(); say(x).await; }",
    ] {
        assert_eq!(told(body), [0, 0], "{body}");
    }
}

#[test]
fn a_constant_in_which_a_loop_looks_something_up_is_a_list_without_order() {
    for body in [
        "while at < LINES.len() { say(LINES[at]).await; at += 1; }",
        "for at in 0..3 { say(LINES[at], LINES[0]).await; }",
        "loop { match LINES.get(at) { Some(x) => say(x).await, None => break } }",
        "while LINES[at] != 0 { say(at).await; }",
    ] {
        let [list] = &lists(body)[..] else {
            panic!("{body}");
        };
        assert!(list.contains("Order::Any"), "{list}");
    }
    for body in [
        "while at < LINES.len() { let x = LINES[at]; say(x).await; }",
        "while at < LINES.len() { say(at).await; }",
        "while let Some(x) = LINES.get(at) { say(x).await; }",
        "for at in 0..3 { say(LINES[at]); }",
    ] {
        assert!(lists(body).is_empty(), "{body}");
    }
}

#[test]
fn of_a_literal_each_item_is_told_by_its_tokens() {
    let list = lists("for x in [\"Good evening, stranger from far.\"] { say(x); }");
    assert!(list[0].contains(&format!(",{SKETCH}u32)")), "{list:?}");
}

/// The same stands in the tests of what reads constants.
const SKETCH: u32 = 192_014_901;

#[test]
fn a_loop_over_anything_else_has_no_list() {
    for body in [
        "for x in lines { say(x); }",
        "for x in lines() { say(x); }",
        "for x in 0..3 { say(x); }",
        "for x in FROM { say(x); }",
        "for x in LINES { next(x); }"
            .replace("LINES", "TABLES[1]")
            .as_str(),
        "use lists::LINES; for x in LINES { say(x); }",
        "made! { static ref LINES: u32 = 1; } for x in LINES { say(x); }",
        "#[cfg(debug)] for x in LINES { say(x); }",
        "let LINES = lines(); for x in LINES { say(x); }",
        "let mut lines = [1]; for x in lines { say(x); }",
        "{ let lines = [1]; } for x in lines { say(x); }",
        "let lines = [1]; let lines = other(); for x in lines { say(x); }",
        "for x in labelled(LINES, |x| x.id) { say(x); }",
        "for x in LINES { place(x.id); say(x); }",
        "for x in LINES { sum += x; }",
    ] {
        assert!(lists(body).is_empty(), "{body}");
    }
    let text = expanded(
        "name = T::NAME",
        "async fn a<T: Named>(t: T) { for x in T::LINES { say(x); } }",
    );
    assert!(!text.contains("__private::List{"), "{text}");
}
