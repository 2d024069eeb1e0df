//! Reads a script: the part of Rust that the playground knows.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::error::{Error, Place};
use crate::token::{Token, tokens};
use crate::tree::{
    Block, Branch, Expression, Format, Function, Kind, Node, Pattern, Piece, Statement, Statements,
};

/// Parentheses, blocks and calls inside each other. More would not fit on a small stack.
const DEEPEST: u32 = 60;

/// The functions of a script, by name.
pub(crate) fn parse(text: &str) -> Result<BTreeMap<Rc<str>, Rc<Function>>, Error> {
    let mut parser = Parser::new(text)?;
    let mut functions = BTreeMap::new();
    loop {
        while parser.is("#") {
            parser.skip_attribute()?;
        }
        if parser.token() == &Token::End {
            return Ok(functions);
        }
        if parser.is_word("use") {
            while !parser.is(";") {
                parser.next()?;
            }
            parser.expect(";")?;
            continue;
        }
        let place = parser.place();
        let function = parser.function()?;
        if functions
            .insert(Rc::clone(&function.name), Rc::new(function))
            .is_some()
        {
            return Err(Error::new(place, "there are two functions of this name"));
        }
    }
}

struct Parser {
    tokens: Vec<(Token, Place)>,
    at: usize,
    depth: u32,
    /// Inside a closure, where nothing can be awaited.
    closures: u32,
    /// Inside an `async fn` or an `async` block.
    is_async: bool,
}

type Parsed<T> = Result<T, Error>;

impl Parser {
    fn new(text: &str) -> Parsed<Self> {
        Ok(Parser {
            tokens: tokens(text)?,
            at: 0,
            depth: 0,
            closures: 0,
            is_async: false,
        })
    }

    // -- Tokens -------------------------------------------------------------------------------

    fn token(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn place(&self) -> Place {
        self.tokens[self.at].1
    }

    fn next(&mut self) -> Parsed<Token> {
        let token = self.token().clone();
        if token == Token::End {
            return Err(self.error(""));
        }
        self.at += 1;
        Ok(token)
    }

    fn is(&self, mark: &str) -> bool {
        matches!(self.token(), Token::Mark(here) if *here == mark)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.token(), Token::Word(here) if here == word)
    }

    /// Takes the mark, if it is next.
    fn takes(&mut self, mark: &str) -> bool {
        let is = self.is(mark);
        self.at += usize::from(is);
        is
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, mark: &str) -> Parsed<()> {
        if self.takes(mark) {
            return Ok(());
        }
        Err(self.error(format!(
            "`{mark}` belongs here, before {}",
            self.token().shown()
        )))
    }

    fn error(&self, words: impl Into<String>) -> Error {
        match self.token() {
            Token::End => Error::new(
                self.place(),
                "the script ends here, but a `}` or `;` is missing",
            ),
            _ => Error::new(self.place(), words),
        }
    }

    fn name(&mut self) -> Parsed<Rc<str>> {
        match self.token() {
            Token::Word(word) if !KEYWORDS.contains(&word.as_str()) && !word.ends_with('!') => {
                let name = Rc::from(word.as_str());
                self.at += 1;
                Ok(name)
            }
            other => Err(self.error(format!("a name belongs here, not {}", other.shown()))),
        }
    }

    fn skip_attribute(&mut self) -> Parsed<()> {
        self.expect("#")?;
        self.takes("!");
        self.expect("[")?;
        while !self.takes("]") {
            self.next()?;
        }
        Ok(())
    }

    /// Types are for rustc.
    fn skip_type(&mut self, ends: &[&str]) -> Parsed<()> {
        let mut open = 0_u32;
        loop {
            if open == 0 && ends.iter().any(|end| self.is(end)) {
                return Ok(());
            }
            match self.next()? {
                Token::Mark("(" | "[" | "<") => open += 1,
                Token::Mark(")" | "]" | ">") => {
                    open = open
                        .checked_sub(1)
                        .ok_or_else(|| self.error("a type has no end like this"))?;
                }
                _ => {}
            }
        }
    }

    // -- Functions and blocks -----------------------------------------------------------------

    fn function(&mut self) -> Parsed<Function> {
        if self.takes_word("pub") && self.takes("(") {
            self.skip_type(&[")"])?;
            self.expect(")")?;
        }
        let is_async = self.takes_word("async");
        if !self.takes_word("fn") {
            let what = self.token().shown();
            return Err(self.error(format!(
                "a script of the playground consists of `async fn`s and `fn`s; it has no {what} here"
            )));
        }
        let name = self.name()?;
        self.expect("(")?;
        let mut parameters = Vec::new();
        while !self.takes(")") {
            self.takes_word("mut");
            parameters.push(self.name()?);
            self.expect(":")?;
            self.skip_type(&[",", ")"])?;
            if !self.is(")") {
                self.expect(",")?;
            }
        }
        if self.takes("->") {
            self.skip_type(&["{"])?;
        }
        self.is_async = is_async;
        let body = self.block()?;
        Ok(Function {
            name,
            is_async,
            parameters,
            body,
        })
    }

    fn block(&mut self) -> Parsed<Block> {
        self.enter()?;
        self.expect("{")?;
        let mut all = Vec::new();
        let mut value = None;
        while !self.takes("}") {
            if self.takes(";") {
                continue;
            }
            while self.is("#") {
                self.skip_attribute()?;
            }
            if self.takes_word("let") {
                all.push(self.variable()?);
                continue;
            }
            let expression = self.expression()?;
            let is_block = matches!(
                expression.kind,
                Kind::Block(_)
                    | Kind::If(..)
                    | Kind::IfLet(..)
                    | Kind::Match(..)
                    | Kind::Loop(_)
                    | Kind::While(..)
                    | Kind::For(..)
                    | Kind::Select(_)
            );
            if self.takes(";") {
                all.push(Statement::Do(expression));
            } else if self.is("}") {
                value = Some(expression);
            } else if is_block {
                all.push(Statement::Do(expression));
            } else {
                return Err(
                    self.error(format!("`;` belongs here, before {}", self.token().shown()))
                );
            }
        }
        self.depth -= 1;
        Ok(Rc::new(Statements { all, value }))
    }

    fn variable(&mut self) -> Parsed<Statement> {
        let pattern = self.pattern()?;
        if self.takes(":") {
            self.skip_type(&["=", ";"])?;
        }
        self.expect("=")?;
        let value = self.expression()?;
        if self.is_word("else") {
            return Err(self.error("the playground has no `let .. else`; use `if let` or `match`"));
        }
        self.expect(";")?;
        Ok(Statement::Let(pattern, value))
    }

    fn pattern(&mut self) -> Parsed<Pattern> {
        self.enter()?;
        self.takes("&");
        self.takes_word("mut");
        let pattern = match self.token().clone() {
            Token::Mark("(") => {
                self.at += 1;
                let mut parts = Vec::new();
                while !self.takes(")") {
                    parts.push(self.pattern()?);
                    if !self.is(")") {
                        self.expect(",")?;
                    }
                }
                if parts.is_empty() {
                    Pattern::Unit
                } else {
                    Pattern::Tuple(parts)
                }
            }
            Token::Integer(number) => {
                self.at += 1;
                Pattern::Integer(number)
            }
            Token::Word(word) => match word.as_str() {
                "_" => {
                    self.at += 1;
                    Pattern::Any
                }
                "true" | "false" => {
                    self.at += 1;
                    Pattern::Bool(word == "true")
                }
                "Ok" | "Err" => {
                    self.at += 1;
                    self.expect("(")?;
                    let inner = Box::new(self.pattern()?);
                    self.expect(")")?;
                    Pattern::Result {
                        is_ok: word == "Ok",
                        inner,
                    }
                }
                _ => Pattern::Name(self.name()?),
            },
            other => return Err(self.error(format!("a pattern has no {} here", other.shown()))),
        };
        self.depth -= 1;
        Ok(pattern)
    }

    // -- Expressions --------------------------------------------------------------------------

    fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(
                self.error("this is too deep for the playground: too many parts inside each other")
            );
        }
        Ok(())
    }

    fn expression(&mut self) -> Parsed<Expression> {
        self.enter()?;
        let left = self.range()?;
        let place = self.place();
        let result = match self.token() {
            Token::Mark(mark @ ("=" | "+=" | "-=" | "*=" | "/=" | "%=")) => {
                let mark = *mark;
                if !matches!(left.kind, Kind::Name(_) | Kind::Field(..)) {
                    return Err(
                        self.error("only a variable or a field of the world can be changed")
                    );
                }
                self.at += 1;
                let right = self.expression()?;
                node(place, Kind::Assign(left, mark, right))
            }
            _ => left,
        };
        self.depth -= 1;
        Ok(result)
    }

    fn range(&mut self) -> Parsed<Expression> {
        let from = self.operators(0)?;
        let place = self.place();
        let is_closed = self.is("..=");
        if !is_closed && !self.is("..") {
            return Ok(from);
        }
        self.at += 1;
        let to = self.operators(0)?;
        Ok(node(
            place,
            Kind::Range {
                from,
                to,
                is_closed,
            },
        ))
    }

    /// Operators that bind at least as strongly as `least`.
    fn operators(&mut self, least: usize) -> Parsed<Expression> {
        const LEVELS: [&[&str]; 5] = [
            &["||"],
            &["&&"],
            &["==", "!=", "<", ">", "<=", ">="],
            &["+", "-"],
            &["*", "/", "%"],
        ];
        let mut left = self.unary()?;
        loop {
            let Token::Mark(mark) = *self.token() else {
                return Ok(left);
            };
            let level = LEVELS.iter().position(|marks| marks.contains(&mark));
            let Some(level) = level.filter(|level| *level >= least) else {
                return Ok(left);
            };
            let place = self.place();
            self.at += 1;
            let right = self.operators(level + 1)?;
            left = node(place, Kind::Binary(left, mark, right));
        }
    }

    fn unary(&mut self) -> Parsed<Expression> {
        let place = self.place();
        self.enter()?;
        let mut result = match self.token() {
            Token::Mark(mark @ ("-" | "!")) => {
                let mark = *mark;
                self.at += 1;
                node(place, Kind::Unary(mark, self.unary()?))
            }
            // A reference is the value itself: the playground checks no borrows.
            Token::Mark("&" | "&&" | "*") => {
                self.at += 1;
                self.takes_word("mut");
                self.unary()?
            }
            _ => self.postfix()?,
        };
        while self.is_word("as") {
            let place = self.place();
            self.at += 1;
            let name = self.name()?;
            result = node(place, Kind::Cast(result, matches!(&*name, "f32" | "f64")));
        }
        self.depth -= 1;
        Ok(result)
    }

    fn postfix(&mut self) -> Parsed<Expression> {
        let mut value = self.primary()?;
        loop {
            if self.is("?") {
                return Err(
                    self.error("the playground has no `?`; use `match`, `if let` or `unwrap()`")
                );
            }
            if !self.takes(".") {
                return Ok(value);
            }
            let place = self.place();
            if self.takes_word("await") {
                self.check_await(place, "`.await`")?;
                value = node(place, Kind::Await(value));
                continue;
            }
            let name = self.name()?;
            value = if self.is("(") {
                let arguments = self.arguments()?;
                node(place, Kind::Method(value, name, arguments))
            } else {
                node(place, Kind::Field(value, name))
            };
        }
    }

    /// Whether a script can wait here.
    fn check_await(&self, place: Place, what: &str) -> Parsed<()> {
        let words = if self.closures > 0 {
            format!("{what} cannot stand in a closure; an `async move {{ .. }}` in it can wait")
        } else if !self.is_async {
            format!("{what} needs an `async fn`: this `fn` is not `async`")
        } else {
            return Ok(());
        };
        Err(Error::new(place, words))
    }

    /// In parentheses.
    fn arguments(&mut self) -> Parsed<Vec<Expression>> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.takes(")") {
            arguments.push(self.expression()?);
            if !self.is(")") {
                self.expect(",")?;
            }
        }
        Ok(arguments)
    }

    fn primary(&mut self) -> Parsed<Expression> {
        let place = self.place();
        let kind = match self.token().clone() {
            Token::Integer(number) => {
                self.at += 1;
                Kind::Integer(number)
            }
            Token::Float(number) => {
                self.at += 1;
                Kind::Float(number)
            }
            Token::Text(text) => {
                self.at += 1;
                Kind::Text(text.into())
            }
            Token::Mark("(") => {
                let at = self.at;
                let mut parts = self.arguments()?;
                let is_tuple =
                    parts.len() != 1 || matches!(self.tokens[self.at - 2].0, Token::Mark(","));
                debug_assert!(self.at > at);
                if !is_tuple {
                    return Ok(parts.swap_remove(0));
                }
                Kind::Tuple(parts)
            }
            Token::Mark("{") => Kind::Block(self.block()?),
            Token::Mark("|" | "||") => self.closure()?,
            Token::Word(word) => return self.word(place, &word),
            other => {
                return Err(self.error(format!("an expression has no {} here", other.shown())));
            }
        };
        Ok(node(place, kind))
    }

    fn word(&mut self, place: Place, word: &str) -> Parsed<Expression> {
        if !KEYWORDS.contains(&word) && !word.ends_with('!') {
            return self.named(place);
        }
        self.at += 1;
        let kind = match word {
            "true" | "false" => Kind::Bool(word == "true"),
            "move" => self.closure()?,
            "async" => {
                let is_move = self.takes_word("move");
                let (closures, is_async) = (self.closures, self.is_async);
                (self.closures, self.is_async) = (0, true);
                let body = self.block()?;
                (self.closures, self.is_async) = (closures, is_async);
                Kind::Async { is_move, body }
            }
            "if" => self.condition()?,
            "match" => self.choice()?,
            "loop" => Kind::Loop(self.block()?),
            "while" => {
                if self.is_word("let") {
                    return Err(
                        self.error("the playground has no `while let`; use `loop` and `match`")
                    );
                }
                let condition = self.expression()?;
                Kind::While(condition, self.block()?)
            }
            "for" => {
                let name = if self.takes_word("_") {
                    "_".into()
                } else {
                    self.name()?
                };
                if !self.takes_word("in") {
                    return Err(self.error("`in` belongs here: `for number in 0..3 { .. }`"));
                }
                let range = self.expression()?;
                Kind::For(name, range, self.block()?)
            }
            "break" => {
                let is_alone = self.is(";") || self.is("}") || self.is(",");
                Kind::Break(if is_alone {
                    None
                } else {
                    Some(self.expression()?)
                })
            }
            "continue" => Kind::Continue,
            "return" => {
                let is_alone = self.is(";") || self.is("}") || self.is(",");
                Kind::Return(if is_alone {
                    None
                } else {
                    Some(self.expression()?)
                })
            }
            "println!" => Kind::Print(self.format()?),
            "format!" => Kind::Format(self.format()?),
            "join!" | "select!" => {
                self.check_await(place, &format!("`{word}`"))?;
                if word == "join!" {
                    Kind::Join(self.arguments()?)
                } else {
                    Kind::Select(self.branches()?)
                }
            }
            _ if word.ends_with('!') => {
                let words = format!(
                    "the playground has no `{word}`; it has `println!`, `format!`, `select!` and `join!`"
                );
                return Err(Error::new(place, words));
            }
            _ => {
                return Err(Error::new(
                    place,
                    format!("an expression does not begin with `{word}` here"),
                ));
            }
        };
        Ok(node(place, kind))
    }

    /// A variable, a path, or a call.
    fn named(&mut self, place: Place) -> Parsed<Expression> {
        let mut path = self.name()?.to_string();
        while self.takes("::") {
            if self.takes("<") {
                self.skip_type(&[">"])?;
                self.expect(">")?;
                continue;
            }
            path = format!("{path}::{}", self.name()?);
        }
        let path = path.trim_start_matches("framestep::");
        let kind = if self.is("(") {
            Kind::Call(path.into(), self.arguments()?)
        } else if path.contains("::") {
            Kind::Path(path.into())
        } else {
            Kind::Name(path.into())
        };
        Ok(node(place, kind))
    }

    fn closure(&mut self) -> Parsed<Kind> {
        let mut parameters = Vec::new();
        if !self.takes("||") {
            self.expect("|")?;
            while !self.takes("|") {
                self.takes("&");
                self.takes_word("mut");
                if self.takes("(") {
                    self.expect(")")?;
                    parameters.push("_".into());
                } else if self.takes_word("_") {
                    parameters.push("_".into());
                } else {
                    parameters.push(self.name()?);
                }
                if self.takes(":") {
                    self.skip_type(&[",", "|"])?;
                }
                if !self.is("|") {
                    self.expect(",")?;
                }
            }
        }
        self.closures += 1;
        let body = self.expression()?;
        self.closures -= 1;
        Ok(Kind::Closure(parameters, body))
    }

    /// After `if`.
    fn condition(&mut self) -> Parsed<Kind> {
        let pattern = if self.takes_word("let") {
            let pattern = self.pattern()?;
            self.expect("=")?;
            Some(pattern)
        } else {
            None
        };
        let condition = self.expression()?;
        let then = self.block()?;
        let place = self.place();
        let otherwise = if self.takes_word("else") {
            let place_of_else = self.place();
            Some(if self.takes_word("if") {
                node(place_of_else, self.condition()?)
            } else {
                node(place, Kind::Block(self.block()?))
            })
        } else {
            None
        };
        Ok(match pattern {
            Some(pattern) => Kind::IfLet(pattern, condition, then, otherwise),
            None => Kind::If(condition, then, otherwise),
        })
    }

    /// After `match`.
    fn choice(&mut self) -> Parsed<Kind> {
        let value = self.expression()?;
        self.expect("{")?;
        let mut arms = Vec::new();
        while !self.takes("}") {
            let pattern = self.pattern()?;
            self.expect("=>")?;
            arms.push((pattern, self.handler()?));
        }
        Ok(Kind::Match(value, arms))
    }

    /// What is behind `=>`, with its comma.
    fn handler(&mut self) -> Parsed<Expression> {
        let handler = self.expression()?;
        let is_block = matches!(handler.kind, Kind::Block(_));
        if !self.takes(",") && !is_block && !self.is("}") {
            return Err(self.error(format!("`,` belongs here, before {}", self.token().shown())));
        }
        Ok(handler)
    }

    fn branches(&mut self) -> Parsed<Vec<Branch>> {
        self.expect("{")?;
        let mut branches = Vec::new();
        while !self.takes("}") {
            if self.takes_word("biased") {
                self.expect(";")?;
                continue;
            }
            let (future, condition) = if self.takes_word("else") {
                (None, None)
            } else {
                let pattern = self.pattern()?;
                self.expect("=")?;
                let future = self.expression()?;
                let has_condition = self.takes(",");
                if has_condition && !self.takes_word("if") {
                    return Err(self.error("`=>` belongs here, or `, if` and a condition"));
                }
                let condition = if has_condition {
                    Some(self.expression()?)
                } else {
                    None
                };
                (Some((pattern, future)), condition)
            };
            self.expect("=>")?;
            branches.push(Branch {
                future,
                condition,
                handler: self.handler()?,
            });
        }
        Ok(branches)
    }

    // -- Texts --------------------------------------------------------------------------------

    /// In parentheses: a text with `{name}` and `{}`, and values.
    fn format(&mut self) -> Parsed<Format> {
        self.expect("(")?;
        let place = self.place();
        let text = match self.token().clone() {
            Token::Text(text) => {
                self.at += 1;
                text
            }
            Token::Mark(")") => String::new(),
            other => return Err(self.error(format!("a text belongs here, not {}", other.shown()))),
        };
        let mut values = Vec::new();
        while !self.takes(")") {
            self.expect(",")?;
            if !self.is(")") {
                values.push(self.expression()?);
            }
        }
        let mut values = values.into_iter();
        let pieces = pieces(&text, place, &mut values)?;
        if values.next().is_some() {
            return Err(Error::new(
                place,
                "the text has fewer `{}` than there are values",
            ));
        }
        Ok(Format { pieces })
    }
}

fn pieces(
    text: &str,
    place: Place,
    values: &mut impl Iterator<Item = Expression>,
) -> Parsed<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, mark) = rest.split_at(at);
        pieces.push(Piece::Text(before.into()));
        if mark.starts_with("{{") || mark.starts_with("}}") {
            pieces.push(Piece::Text(mark[..1].into()));
            rest = &mark[2..];
            continue;
        }
        let end = mark.find('}').filter(|_| mark.starts_with('{'));
        let Some(end) = end else {
            return Err(Error::new(
                place,
                "a brace in a text stands alone: write `{{` or `}}` for a brace itself",
            ));
        };
        let (name, options) = mark[1..end].split_once(':').unwrap_or((&mark[1..end], ""));
        let precision = options
            .strip_prefix('.')
            .and_then(|digits| digits.parse().ok());
        if !options.is_empty() && options != "?" && precision.is_none() {
            let words = format!(
                "the playground has no `{{:{options}}}`; it has `{{}}`, `{{:?}}` and `{{:.2}}`"
            );
            return Err(Error::new(place, words));
        }
        let value = if name.is_empty() {
            values
                .next()
                .ok_or_else(|| Error::new(place, "the text has more `{}` than there are values"))?
        } else if name
            .chars()
            .all(|letter| letter.is_alphanumeric() || letter == '_')
        {
            node(place, Kind::Name(name.into()))
        } else {
            let words = format!(
                "braces in a text contain a name: write `{{}}`, and `{name}` behind the text"
            );
            return Err(Error::new(place, words));
        };
        pieces.push(Piece::Value {
            value,
            precision: precision.map(|digits: usize| digits.min(9)),
            is_debug: options == "?",
        });
        rest = &mark[end + 1..];
    }
    pieces.push(Piece::Text(rest.into()));
    Ok(pieces)
}

fn node(place: Place, kind: Kind) -> Expression {
    Rc::new(Node { place, kind })
}

const KEYWORDS: [&str; 30] = [
    "_", "as", "async", "await", "break", "const", "continue", "else", "enum", "false", "fn",
    "for", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "return",
    "static", "struct", "trait", "true", "unsafe", "use", "while",
];
