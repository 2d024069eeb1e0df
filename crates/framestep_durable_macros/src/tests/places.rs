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
    for path in ["futures::select", "tokio::select"] {
        let text = body(&format!("{path}! {{ a = one() => two(), }}"));
        assert!(text.contains("compile_error"), "{text}");
    }
    for fair in [
        "tokio::select! { biased; a = one() => two(), }",
        "futures::select_biased! { a = one() => two() }",
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
