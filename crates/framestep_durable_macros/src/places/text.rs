//! Hashes of the text of a statement, whatever its format and comments.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Whether there is a call, a macro or an `.await` in it.
pub(super) fn may_call(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|tree| match tree {
        TokenTree::Group(group) => {
            group.delimiter() == Delimiter::Parenthesis || may_call(&group.stream())
        }
        TokenTree::Ident(ident) => ident == "await",
        TokenTree::Punct(punct) => punct.as_char() == '!',
        TokenTree::Literal(_) => false,
    })
}

/// Whether an argument may change a variable around it, or leave the statement: there is a closure, a `&mut`, an
/// assignment or a jump in it, or a method that is given the result of a call, which it may keep.
pub(super) fn may_change(tokens: TokenStream) -> bool {
    const CHANGES: [&str; 5] = ["mut", "async", "break", "continue", "return"];
    let mut before = ' ';
    let mut is_method = false;
    let mut trees = tokens.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let mut here = ' ';
        let changes = match tree {
            TokenTree::Group(group) => {
                let keeps = is_method && may_call(&group.stream());
                is_method = false;
                keeps || may_change(group.stream())
            }
            TokenTree::Ident(ident) => CHANGES.contains(&&*ident.to_string()),
            TokenTree::Punct(punct) => {
                here = punct.as_char();
                is_method = here == '.' || is_method && matches!(here, ':' | '<' | '>');
                let is_compared = matches!(before, '=' | '<' | '>' | '!')
                    || matches!(trees.peek(), Some(TokenTree::Punct(next)) if matches!(next.as_char(), '=' | '>'));
                matches!(here, '|' | '?') || here == '=' && !is_compared
            }
            TokenTree::Literal(_) => false,
        };
        if changes {
            return true;
        }
        before = here;
    }
    false
}

/// A statement that contains blocks, without what is in these: that has places of its own. Closures are
/// no such blocks.
pub(super) fn head_of(tokens: TokenStream) -> TokenStream {
    /// What is followed by blocks, somewhere behind it.
    const OPENS: [&str; 9] = [
        "if", "for", "while", "loop", "match", "async", "select", "join", "try_join",
    ];
    let mut head = TokenStream::new();
    let (mut has_blocks, mut is_before_block, mut is_macro) = (false, false, false);
    for tree in tokens {
        match &tree {
            TokenTree::Group(group) => {
                let is_block = group.delimiter() == Delimiter::Brace;
                if is_macro && has_blocks || is_block && (has_blocks || is_before_block) {
                    (is_before_block, is_macro) = (false, false);
                    continue;
                }
                (is_before_block, is_macro) = (false, false);
            }
            TokenTree::Ident(ident) => {
                let text = ident.to_string();
                has_blocks |= OPENS.contains(&&*text);
                is_before_block = text == "else";
                is_macro = false;
            }
            TokenTree::Punct(punct) => is_macro = punct.as_char() == '!',
            TokenTree::Literal(_) => {}
        }
        head.extend([tree]);
    }
    head
}

/// A hash of what is called, whatever the arguments.
pub(super) fn shape_of(tokens: TokenStream) -> u16 {
    let mut hash = BEGIN;
    add_shape(tokens, &mut hash);
    fold(hash)
}

fn add_shape(tokens: TokenStream, hash: &mut u32) {
    let mut trees = tokens.into_iter().peekable();
    while let Some(tree) = trees.next() {
        match tree {
            TokenTree::Ident(ident) => {
                let text = ident.to_string();
                if is_of_shape(&text, trees.peek()) {
                    *hash = add(text.as_bytes(), *hash);
                    *hash = add(b" ", *hash);
                }
            }
            TokenTree::Group(group) => add_shape(group.stream(), hash),
            _ => {}
        }
    }
}

/// Whether a word is a keyword, or the name of what is called. `next` follows it.
fn is_of_shape(word: &str, next: Option<&TokenTree>) -> bool {
    const KEYWORDS: [&str; 9] = [
        "await", "if", "for", "while", "loop", "match", "async", "return", "break",
    ];
    let is_called = match next {
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Parenthesis,
        Some(TokenTree::Punct(punct)) => punct.as_char() == '!',
        _ => false,
    };
    is_called || KEYWORDS.contains(&word)
}

const BEGIN: u32 = 0x811C_9DC5;

/// FNV-1a.
fn add(bytes: &[u8], from: u32) -> u32 {
    let step = |hash: u32, &byte: &u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    bytes.iter().fold(from, step)
}

fn fold(hash: u32) -> u16 {
    let [a, b, c, d] = hash.to_le_bytes();
    u16::from_le_bytes([a ^ c, b ^ d])
}

/// The hash of a text, and what its words have in common with those of others.
pub(super) struct Text {
    hash: u32,
    words: Words,
}

impl Text {
    pub(super) fn of(tokens: TokenStream) -> Self {
        let mut text = Text {
            hash: BEGIN,
            words: Words::default(),
        };
        text.add(tokens);
        text
    }

    pub(super) fn hash(&self) -> u32 {
        self.hash
    }

    pub(super) fn folded(&self) -> u16 {
        fold(self.hash)
    }

    /// Texts with like words have like numbers.
    pub(super) fn sketch(&self) -> u32 {
        self.words.sketch()
    }

    fn word(&mut self, word: &str) {
        self.hash = add(word.as_bytes(), self.hash);
        self.hash = add(&[0xFF], self.hash);
    }

    fn add(&mut self, tokens: TokenStream) {
        let mut trees = tokens.into_iter().peekable();
        while let Some(tree) = trees.next() {
            match tree {
                TokenTree::Ident(ident) => {
                    let word = ident.to_string();
                    self.word(&word);
                    if !is_of_shape(&word, trees.peek()) {
                        self.words.add(&word);
                    }
                }
                TokenTree::Literal(literal) => {
                    let literal = literal.to_string();
                    self.word(&literal);
                    self.words.add(&literal);
                }
                TokenTree::Punct(punct) => {
                    // Formatters add a comma at the end of what they break into lines.
                    if punct.as_char() != ',' || trees.peek().is_some() {
                        self.hash = add(&[0xFE, ascii(punct.as_char())], self.hash);
                    }
                }
                TokenTree::Group(group) => {
                    let open = match group.delimiter() {
                        Delimiter::Parenthesis => b'(',
                        Delimiter::Brace => b'{',
                        Delimiter::Bracket => b'[',
                        Delimiter::None => b' ',
                    };
                    self.hash = add(&[0xFD, open], self.hash);
                    self.add(group.stream());
                    self.hash = add(&[0xFC], self.hash);
                }
            }
        }
    }
}

/// Some words of a text, apart from what it calls: long ones first, then those with the smallest hashes. A text
/// with a few other words has mostly the same ones.
#[derive(Default)]
struct Words(Vec<(bool, u32)>);

const MOST_WORDS: usize = 5;

impl Words {
    fn add(&mut self, text: &str) {
        let parts = text.split(|c: char| !c.is_alphanumeric());
        for part in parts.filter(|part| !part.is_empty()) {
            let is_short = part.chars().count() < 5;
            let word = (is_short, mix(add(part.as_bytes(), BEGIN)));
            if let Err(at) = self.0.binary_search(&word) {
                self.0.insert(at, word);
                self.0.truncate(MOST_WORDS);
            }
        }
    }

    /// Six bits for each word, which are never 0.
    fn sketch(&self) -> u32 {
        let mut numbers: Vec<u32> = self.0.iter().map(|(_, hash)| 1 + hash % 63).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
            .iter()
            .fold(0, |sketch, number| sketch << 6 | number)
    }
}

/// Spreads a hash over all of its bits.
fn mix(mut hash: u32) -> u32 {
    hash = (hash ^ hash >> 16).wrapping_mul(0x85EB_CA6B);
    hash = (hash ^ hash >> 13).wrapping_mul(0xC2B2_AE35);
    hash ^ hash >> 16
}

fn ascii(character: char) -> u8 {
    u8::try_from(character).unwrap_or(0xFF)
}
