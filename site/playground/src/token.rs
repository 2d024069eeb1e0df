//! The words of a script.

use crate::error::{Error, Place};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// A name, a keyword, or a macro's name with its `!`.
    Word(String),
    Integer(i64),
    Float(f64),
    Text(String),
    /// Punctuation: up to three characters that belong together.
    Mark(&'static str),
    End,
}

impl Token {
    /// How an error names it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Token::Word(word) => format!("`{word}`"),
            Token::Integer(_) | Token::Float(_) => "a number".into(),
            Token::Text(_) => "a text".into(),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::End => "the end".into(),
        }
    }
}

/// The longer ones first.
const MARKS: [&str; 42] = [
    "..=", "..", "=>", "->", "::", "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "*=", "/=",
    "%=", "(", ")", "{", "}", "[", "]", "<", ">", "=", "+", "-", "*", "/", "%", "!", "&", "|", ",",
    ";", ":", ".", "#", "?", "'", "@", "$",
];

/// Splits a text into tokens, each with its place.
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, Place)>, Error> {
    let mut reader = Reader {
        rest: text,
        place: Place { line: 1, column: 1 },
    };
    let mut tokens = Vec::new();
    loop {
        reader.skip_blanks()?;
        let place = reader.place;
        let token = reader.token()?;
        let is_end = token == Token::End;
        tokens.push((token, place));
        if is_end {
            return Ok(tokens);
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
    place: Place,
}

impl<'a> Reader<'a> {
    /// Takes so many bytes.
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        for letter in taken.chars() {
            if letter == '\n' {
                self.place.line += 1;
                self.place.column = 1;
            } else {
                self.place.column += 1;
            }
        }
        self.rest = rest;
        taken
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let length = self.rest.find(|letter| !is_part(letter));
        self.take(length.unwrap_or(self.rest.len()))
    }

    fn skip_blanks(&mut self) -> Result<(), Error> {
        loop {
            self.take_while(char::is_whitespace);
            if self.rest.starts_with("//") {
                self.take_while(|letter| letter != '\n');
            } else if self.rest.starts_with("/*") {
                let place = self.place;
                let Some(end) = self.rest.find("*/") else {
                    return Err(Error::new(place, "this comment has no end"));
                };
                self.take(end + 2);
            } else {
                return Ok(());
            }
        }
    }

    fn token(&mut self) -> Result<Token, Error> {
        let place = self.place;
        let Some(first) = self.rest.chars().next() else {
            return Ok(Token::End);
        };
        if first.is_alphabetic() || first == '_' {
            let word = self.take_while(|letter| letter.is_alphanumeric() || letter == '_');
            let is_macro = self.rest.starts_with('!') && !self.rest.starts_with("!=");
            if is_macro {
                self.take(1);
                return Ok(Token::Word(format!("{word}!")));
            }
            return Ok(Token::Word(word.to_owned()));
        }
        if first.is_ascii_digit() {
            return self.number(place);
        }
        if first == '"' {
            return self.text(place);
        }
        let mark = MARKS.iter().find(|mark| self.rest.starts_with(**mark));
        let Some(mark) = mark else {
            return Err(Error::new(
                place,
                format!("a script has no character like {first:?}"),
            ));
        };
        self.take(mark.len());
        Ok(Token::Mark(mark))
    }

    fn number(&mut self, place: Place) -> Result<Token, Error> {
        let mut digits = self
            .take_while(|letter| letter.is_ascii_digit() || letter == '_')
            .replace('_', "");
        let mut letters = self.rest.chars();
        let is_float = letters.next() == Some('.')
            && letters
                .next()
                .is_none_or(|next| next != '.' && !next.is_alphabetic() && next != '_');
        if is_float {
            digits += self.take(1);
            digits += &self
                .take_while(|letter| letter.is_ascii_digit() || letter == '_')
                .replace('_', "");
        }
        // A suffix, as in `1_u32` or `0.5_f32`.
        let suffix = self.take_while(char::is_alphanumeric);
        let is_float = is_float || matches!(suffix, "f32" | "f64");
        if !matches!(
            suffix,
            "" | "f32"
                | "f64"
                | "u8"
                | "u16"
                | "u32"
                | "u64"
                | "usize"
                | "i8"
                | "i16"
                | "i32"
                | "i64"
        ) {
            return Err(Error::new(
                place,
                format!("a number does not end with `{suffix}`"),
            ));
        }
        let token = if is_float {
            digits.parse().map(Token::Float).ok()
        } else {
            digits.parse().map(Token::Integer).ok()
        };
        token.ok_or_else(|| Error::new(place, "this number is too large"))
    }

    fn text(&mut self, place: Place) -> Result<Token, Error> {
        self.take(1);
        let mut text = String::new();
        loop {
            text += self.take_while(|letter| letter != '"' && letter != '\\');
            match self.rest.chars().next() {
                None => return Err(Error::new(place, "this text has no end: `\"` is missing")),
                Some('"') => {
                    self.take(1);
                    return Ok(Token::Text(text));
                }
                Some(_) => {
                    let escape = self.place;
                    self.take(1);
                    let Some(letter) = self.rest.chars().next() else {
                        continue;
                    };
                    self.take(letter.len_utf8());
                    text.push(match letter {
                        'n' => '\n',
                        't' => '\t',
                        '"' | '\\' | '\'' => letter,
                        _ => {
                            let words = format!("`\\{letter}` is no letter of a text here");
                            return Err(Error::new(escape, words));
                        }
                    });
                }
            }
        }
    }
}
