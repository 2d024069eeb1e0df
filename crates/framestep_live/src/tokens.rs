//! Rust, as far as its words: without comments and white space.

/// A word of a source: an identifier, a literal, or one character of punctuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

impl Token<'_> {
    pub(crate) fn is_identifier(&self) -> bool {
        self.text
            .starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

/// Reads the words of a source. What does not end, such as a text without its quote, lasts to the end.
pub(crate) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while let Some(first) = rest.chars().next() {
        let length = token_length(rest, first);
        let (text, after) = rest.split_at(length);
        if !first.is_whitespace() && !text.starts_with("//") && !text.starts_with("/*") {
            tokens.push(Token { text, line });
        }
        line += text.matches('\n').count();
        rest = after;
    }
    tokens
}

fn token_length(rest: &str, first: char) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return comment_length(rest);
    }
    if let Some(length) = text_length(rest) {
        return length;
    }
    if first == '\'' {
        return character_length(rest);
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if is_word(first) {
        return rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    }
    if first.is_whitespace() {
        let end = rest.find(|c: char| !c.is_whitespace());
        return end.unwrap_or(rest.len());
    }
    first.len_utf8()
}

/// A comment may contain others.
fn comment_length(rest: &str) -> usize {
    let (mut depth, mut at) = (0_u32, 0);
    while let Some(found) = rest[at..].find(['/', '*']) {
        at += found;
        if rest[at..].starts_with("/*") {
            depth += 1;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
        } else {
            at += 1;
            continue;
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// A text: `".."`, `b".."`, `r#".."#` and the like.
fn text_length(rest: &str) -> Option<usize> {
    let prefix = rest
        .find(|c| !matches!(c, 'b' | 'c' | 'r'))
        .filter(|it| *it <= 2)?;
    let is_raw = rest[..prefix].ends_with('r');
    let hashes = rest[prefix..].find(|c| c != '#')?;
    let quote = prefix + hashes;
    if !rest[quote..].starts_with('"') || (hashes > 0 && !is_raw) {
        return None;
    }
    let content = &rest[quote + 1..];
    let length = if is_raw {
        let end = format!("\"{}", "#".repeat(hashes));
        content.find(&end).map(|at| at + end.len())
    } else {
        end_of_quoted(content, '"')
    };
    Some(length.map_or(rest.len(), |length| quote + 1 + length))
}

fn end_of_quoted(content: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in content.char_indices() {
        if !is_escaped && c == quote {
            return Some(at + 1);
        }
        is_escaped = !is_escaped && c == '\\';
    }
    None
}

/// A character, or else the quote of a lifetime.
fn character_length(rest: &str) -> usize {
    let content = &rest[1..];
    let mut characters = content.chars();
    match (characters.next(), characters.next()) {
        (Some('\\'), _) => end_of_quoted(content, '\'').map_or(rest.len(), |it| 1 + it),
        (Some(c), Some('\'')) => 2 + c.len_utf8(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::tokens;

    fn words(source: &str) -> String {
        let words = tokens(source);
        words.iter().map(|it| it.text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_white_space_are_no_words() {
        assert_eq!(
            words("fn a() { /* b /* c */ d */ 1 } // e\nx"),
            "fn a ( ) { 1 } x"
        );
        assert_eq!(tokens("a\n\n/* \n */ b")[1].line, 4);
    }

    #[test]
    fn texts_characters_and_lifetimes_are_told_apart() {
        assert_eq!(words(r#""a // \" b" c"#), r#""a // \" b" c"#);
        assert_eq!(words("r#\"a \" b\"# c b\"x\""), "r#\"a \" b\"# c b\"x\"");
        assert_eq!(words(r"'{' '\'' 'a b"), r"'{' '\'' ' a b");
        assert_eq!(words("\"no end"), "\"no end");
        assert_eq!(words("r#loop br raw"), "r # loop br raw");
    }
}
