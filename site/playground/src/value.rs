//! What the variables of a script hold.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use framestep::Time;
use framestep::prelude::*;
use framestep::wait::Interval;

use crate::error::Error;
use crate::machine::Machine;
use crate::tree::Expression;

#[derive(Clone)]
pub(crate) enum Value {
    Unit,
    Integer(i64),
    Float(f64),
    Bool(bool),
    Text(Rc<str>),
    Tuple(Rc<[Value]>),
    Result(Result<Rc<Value>, Rc<Value>>),
    Range(i64, i64),
    Phase(Phase),
    Time(Time),
    /// The world, inside a closure of `with`.
    World,
    Closure(Rc<Closure>),
    Future(Rc<Pending>),
    Handle(Rc<RefCell<Option<Coroutine<Ended>>>>),
    Signal(Signal<Value>),
    Watch(Watch<Value>),
    /// `None` once it has been dropped.
    Owner(Rc<RefCell<Option<Owner>>>),
    Interval(Rc<RefCell<Interval>>),
}

/// What a script returns: a value, or nothing, because it has made a mistake.
pub(crate) type Ended = Result<Value, Broken>;

/// A script that has made a mistake, which the machine has recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Broken;

/// A way out of an expression other than its value.
pub(crate) enum Flow {
    Break(Value),
    Continue,
    Return(Value),
    Error(Error),
}

impl From<Error> for Flow {
    fn from(error: Error) -> Self {
        Flow::Error(error)
    }
}

pub(crate) type Evaluated = Result<Value, Flow>;
pub(crate) type Running = Pin<Box<dyn Future<Output = Evaluated>>>;

pub(crate) struct Closure {
    pub(crate) parameters: Vec<Rc<str>>,
    pub(crate) body: Expression,
    pub(crate) context: Context,
}

/// A future that has not been awaited to its end.
pub(crate) struct Pending {
    pub(crate) name: Rc<str>,
    pub(crate) kind: PendingKind,
    pub(crate) state: RefCell<State>,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum PendingKind {
    /// An `async fn` or block: the lines where it waits are inside it.
    Code,
    /// A wait of framestep.
    Wait,
    /// A wait for another future, which may be code.
    Combinator,
}

pub(crate) enum State {
    /// A wait that is made when it is polled first, in a phase or at home.
    Wait(Box<dyn FnOnce(Option<Phase>) -> Running>, Option<Phase>),
    Running(Running),
    Over,
}

/// Where an expression is evaluated.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) machine: Rc<Machine>,
    pub(crate) scope: Rc<Scope>,
    pub(crate) function: Rc<str>,
    /// Expressions around this one.
    pub(crate) depth: u32,
}

/// The variables of a block.
#[derive(Default)]
pub(crate) struct Scope {
    variables: RefCell<HashMap<Rc<str>, Rc<RefCell<Value>>>>,
    around: Option<Rc<Scope>>,
}

impl Scope {
    pub(crate) fn inside(around: &Rc<Scope>) -> Rc<Scope> {
        Rc::new(Scope {
            variables: RefCell::default(),
            around: Some(Rc::clone(around)),
        })
    }

    pub(crate) fn set(&self, name: &Rc<str>, value: Value) {
        let replaced = self
            .variables
            .borrow_mut()
            .insert(Rc::clone(name), Rc::new(RefCell::new(value)));
        // An owner in it stops its scripts, which may look at variables.
        drop(replaced);
    }

    pub(crate) fn find(&self, name: &str) -> Option<Rc<RefCell<Value>>> {
        let found = self.variables.borrow().get(name).cloned();
        found.or_else(|| self.around.as_ref()?.find(name))
    }

    /// The names that can be used here.
    pub(crate) fn names(&self) -> Vec<Rc<str>> {
        let mut names: Vec<_> = self.variables.borrow().keys().cloned().collect();
        if let Some(around) = &self.around {
            names.extend(around.names());
        }
        names
    }

    /// A copy of all variables, for an `async move` block.
    pub(crate) fn copy(&self) -> Rc<Scope> {
        let copy = Scope::default();
        for name in self.names() {
            if let Some(variable) = self.find(&name) {
                copy.set(&name, variable.borrow().clone());
            }
        }
        Rc::new(copy)
    }
}

impl Value {
    /// As `println!` shows it.
    pub(crate) fn shown(&self, precision: Option<usize>, is_debug: bool) -> String {
        match self {
            Value::Unit => "()".into(),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => match precision {
                Some(digits) => format!("{number:.digits$}"),
                None if is_debug => format!("{number:?}"),
                None => number.to_string(),
            },
            Value::Bool(is) => is.to_string(),
            Value::Text(text) if is_debug => format!("{text:?}"),
            Value::Text(text) => text.to_string(),
            Value::Tuple(parts) => {
                let parts: Vec<_> = parts
                    .iter()
                    .map(|part| part.shown(precision, is_debug))
                    .collect();
                format!("({})", parts.join(", "))
            }
            Value::Result(Ok(value)) => format!("Ok({})", value.shown(precision, is_debug)),
            Value::Result(Err(value)) => format!("Err({})", value.shown(precision, is_debug)),
            Value::Phase(phase) => phase.to_string(),
            other => format!("<{}>", other.kind()),
        }
    }

    /// What it is, for an error.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Value::Unit => "()",
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Bool(_) => "a bool",
            Value::Text(_) => "a text",
            Value::Tuple(_) => "a tuple",
            Value::Result(_) => "a result",
            Value::Range(..) => "a range",
            Value::Phase(_) => "a phase",
            Value::Time(_) => "a time",
            Value::World => "the world",
            Value::Closure(_) => "a closure",
            Value::Future(_) => "a future",
            Value::Handle(_) => "a handle of a script",
            Value::Signal(_) => "a signal",
            Value::Watch(_) => "a watch",
            Value::Owner(_) => "an owner",
            Value::Interval(_) => "an interval",
        }
    }

    /// Whether two values are equal, if they can be compared.
    pub(crate) fn equals(&self, other: &Value) -> Option<bool> {
        Some(match (self, other) {
            (Value::Unit, Value::Unit) => true,
            (Value::Integer(left), Value::Integer(right)) => left == right,
            #[expect(clippy::float_cmp, reason = "as the script says")]
            (Value::Float(left), Value::Float(right)) => left == right,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Text(left), Value::Text(right)) => left == right,
            (Value::Phase(left), Value::Phase(right)) => left == right,
            (Value::Tuple(left), Value::Tuple(right)) if left.len() == right.len() => {
                for (left, right) in left.iter().zip(right.iter()) {
                    if !left.equals(right)? {
                        return Some(false);
                    }
                }
                true
            }
            _ => return None,
        })
    }
}
