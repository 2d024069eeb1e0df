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
    const KEYWORDS: [&str; 9] = [
        "await", "if", "for", "while", "loop", "match", "async", "return", "break",
    ];
    let mut trees = tokens.into_iter().peekable();
    while let Some(tree) = trees.next() {
        match tree {
            TokenTree::Ident(ident) => {
                let text = ident.to_string();
                let is_called = match trees.peek() {
                    Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Parenthesis,
                    Some(TokenTree::Punct(punct)) => punct.as_char() == '!',
                    _ => false,
                };
                if is_called || KEYWORDS.contains(&&*text) {
                    *hash = add(text.as_bytes(), *hash);
                    *hash = add(b" ", *hash);
                }
            }
            TokenTree::Group(group) => add_shape(group.stream(), hash),
            _ => {}
        }
    }
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

/// The hash of a text, and how its words would have the bits of a sketch.
pub(super) struct Text {
    hash: u32,
    votes: [i32; 16],
}

impl Text {
    pub(super) fn of(tokens: TokenStream) -> Self {
        let mut text = Text {
            hash: BEGIN,
            votes: [0; 16],
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

    /// Texts with like words have like bits.
    pub(super) fn sketch(&self) -> u16 {
        let bits = self.votes.iter().enumerate();
        bits.filter(|(_, vote)| **vote > 0)
            .fold(0, |sketch, (at, _)| sketch | 1 << at)
    }

    fn word(&mut self, word: &str) {
        self.hash = add(word.as_bytes(), self.hash);
        self.hash = add(&[0xFF], self.hash);
        let parts = word.split(|c: char| !c.is_alphanumeric());
        for part in parts.filter(|part| !part.is_empty()) {
            let bits = fold(add(part.as_bytes(), BEGIN).wrapping_mul(0x9E37_79B9));
            for (at, vote) in self.votes.iter_mut().enumerate() {
                *vote += if bits >> at & 1 == 1 { 1 } else { -1 };
            }
        }
    }

    fn add(&mut self, tokens: TokenStream) {
        let mut trees = tokens.into_iter().peekable();
        while let Some(tree) = trees.next() {
            match tree {
                TokenTree::Ident(ident) => self.word(&ident.to_string()),
                TokenTree::Literal(literal) => self.word(&literal.to_string()),
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

fn ascii(character: char) -> u8 {
    u8::try_from(character).unwrap_or(0xFF)
}
