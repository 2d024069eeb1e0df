//! A script as a tree.

use std::rc::Rc;

use crate::error::Place;

#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: Rc<str>,
    pub(crate) is_async: bool,
    pub(crate) parameters: Vec<Rc<str>>,
    pub(crate) body: Block,
}

pub(crate) type Block = Rc<Statements>;

#[derive(Debug)]
pub(crate) struct Statements {
    pub(crate) all: Vec<Statement>,
    /// The expression at its end, without a semicolon.
    pub(crate) value: Option<Expression>,
}

#[derive(Debug)]
pub(crate) enum Statement {
    Let(Pattern, Expression),
    Do(Expression),
}

pub(crate) type Expression = Rc<Node>;

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Integer(i64),
    Float(f64),
    Bool(bool),
    Text(Rc<str>),
    Name(Rc<str>),
    /// Such as `Phase::LateUpdate`.
    Path(Rc<str>),
    Tuple(Vec<Expression>),
    Call(Rc<str>, Vec<Expression>),
    Method(Expression, Rc<str>, Vec<Expression>),
    Field(Expression, Rc<str>),
    Await(Expression),
    Block(Block),
    Async {
        is_move: bool,
        body: Block,
    },
    If(Expression, Block, Option<Expression>),
    IfLet(Pattern, Expression, Block, Option<Expression>),
    Match(Expression, Vec<(Pattern, Expression)>),
    Loop(Block),
    While(Expression, Block),
    For(Rc<str>, Expression, Block),
    Range {
        from: Expression,
        to: Expression,
        is_closed: bool,
    },
    Break(Option<Expression>),
    Continue,
    Return(Option<Expression>),
    /// `=`, or an operator such as `+=`.
    Assign(Expression, &'static str, Expression),
    Binary(Expression, &'static str, Expression),
    Unary(&'static str, Expression),
    /// To a float, or to an integer.
    Cast(Expression, bool),
    Closure(Vec<Rc<str>>, Expression),
    Select(Vec<Branch>),
    Join(Vec<Expression>),
    Print(Format),
    Format(Format),
}

#[derive(Debug)]
pub(crate) struct Branch {
    /// `None` for `else`.
    pub(crate) future: Option<(Pattern, Expression)>,
    pub(crate) condition: Option<Expression>,
    pub(crate) handler: Expression,
}

/// The text of `println!` and `format!`: pieces, and values between them.
#[derive(Debug)]
pub(crate) struct Format {
    pub(crate) pieces: Vec<Piece>,
}

#[derive(Debug)]
pub(crate) enum Piece {
    Text(Rc<str>),
    Value {
        value: Expression,
        /// Digits after the point.
        precision: Option<usize>,
        /// `{:?}`.
        is_debug: bool,
    },
}

#[derive(Debug)]
pub(crate) enum Pattern {
    /// `_`
    Any,
    Name(Rc<str>),
    Unit,
    Integer(i64),
    Bool(bool),
    Tuple(Vec<Pattern>),
    /// `Ok(..)` or `Err(..)`.
    Result {
        is_ok: bool,
        inner: Box<Pattern>,
    },
}
