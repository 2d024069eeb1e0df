//! Evaluates expressions. Each wait is a future of framestep, which the executor polls as it polls
//! those of compiled scripts.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context as Waking, Poll, Waker};

use framestep::prelude::*;

use crate::calls;
use crate::error::{Error, Place};
use crate::machine::World;
use crate::tree::{Block, Branch, Expression, Format, Function, Kind, Pattern, Piece, Statement};
use crate::value::{
    Broken, Closure, Context, Ended, Evaluated, Flow, Pending, PendingKind, Running, Scope, State,
    Value,
};

/// Expressions inside each other, through calls: each takes some of the stack.
const DEEPEST: u32 = 400;

pub(crate) fn wrong<T>(place: Place, words: impl Into<String>) -> Result<T, Flow> {
    Err(Flow::Error(Error::new(place, words)))
}

/// Calls an `async fn`, which does nothing until it is polled.
pub(crate) fn call(context: &Context, function: &Rc<Function>, arguments: Vec<Value>) -> Running {
    let scope = Scope::default();
    for (name, value) in function.parameters.iter().zip(arguments) {
        scope.set(name, value);
    }
    let inside = Context {
        machine: Rc::clone(&context.machine),
        scope: Rc::new(scope),
        function: Rc::clone(&function.name),
        depth: context.depth + 1,
    };
    let function = Rc::clone(function);
    Box::pin(async move { returned(block(&inside, &function.body).await) })
}

fn returned(result: Evaluated) -> Evaluated {
    match result {
        Err(Flow::Return(value)) => Ok(value),
        other => other,
    }
}

/// A script: its mistake ends it, and is recorded.
pub(crate) async fn script(context: Context, mut running: Running) -> Ended {
    let machine = Rc::clone(&context.machine);
    match poll_fn(|waking| machine.poll_script(|| running.as_mut().poll(waking))).await {
        Ok(value) => Ok(value),
        Err(Flow::Error(error)) => {
            machine.errors.borrow_mut().push((current(), error));
            Err(Broken)
        }
        // A `break` outside of a loop, which rustc would refuse.
        Err(Flow::Break(_) | Flow::Continue | Flow::Return(_)) => Ok(Value::Unit),
    }
}

/// Calls a closure, which cannot wait.
pub(crate) fn call_now(closure: &Closure, arguments: Vec<Value>) -> Evaluated {
    let scope = Scope::inside(&closure.context.scope);
    for (name, value) in closure.parameters.iter().zip(arguments) {
        scope.set(name, value);
    }
    let inside = Context {
        scope,
        depth: closure.context.depth + 1,
        ..closure.context.clone()
    };
    let mut running = pin!(evaluate(&inside, &closure.body));
    match running
        .as_mut()
        .poll(&mut Waking::from_waker(Waker::noop()))
    {
        Poll::Ready(value) => returned(value),
        Poll::Pending => wrong(closure.body.place, "a closure cannot wait"),
    }
}

/// Polls a future that a variable may hold, so that it continues after `&mut`.
fn poll(
    context: &Context,
    future: &Pending,
    waking: &mut Waking<'_>,
    place: Place,
) -> Poll<Evaluated> {
    let Ok(mut state) = future.state.try_borrow_mut() else {
        return Poll::Ready(wrong(place, "this future is being polled already"));
    };
    if let State::Wait(..) = &*state {
        let State::Wait(make, phase) = std::mem::replace(&mut *state, State::Over) else {
            unreachable!("it is a wait");
        };
        *state = State::Running(make(phase));
    }
    let State::Running(running) = &mut *state else {
        let words = format!(
            "`{}` has been awaited already; rustc refuses this, or the script panics",
            future.name
        );
        return Poll::Ready(wrong(place, words));
    };
    let result = running.as_mut().poll(waking);
    if result.is_pending() && future.kind == PendingKind::Wait {
        context.machine.note_wait();
    }
    if result.is_ready() {
        let over = std::mem::replace(&mut *state, State::Over);
        drop(state);
        drop(over);
    }
    result
}

/// Polls what an `.await` waits for.
pub(crate) fn poll_value(
    context: &Context,
    value: &Value,
    waking: &mut Waking<'_>,
    place: Place,
) -> Poll<Evaluated> {
    match value {
        Value::Future(future) => poll(context, future, waking, place),
        Value::Handle(handle) => {
            let Ok(mut slot) = handle.try_borrow_mut() else {
                return Poll::Ready(wrong(place, "this handle is being awaited already"));
            };
            let Some(coroutine) = &mut *slot else {
                return Poll::Ready(wrong(
                    place,
                    "this handle has been awaited already, or dropped",
                ));
            };
            let Poll::Ready(ended) = pin!(coroutine).poll(waking) else {
                context.machine.note_wait();
                return Poll::Pending;
            };
            *slot = None;
            Poll::Ready(Ok(Value::Result(match ended {
                Ok(Ok(value)) => Ok(Rc::new(value)),
                Ok(Err(Broken)) => Err(Rc::new(Value::Text("it panicked".into()))),
                Err(error) => Err(Rc::new(Value::Text(error.to_string().into()))),
            })))
        }
        other => {
            let words = format!("{} cannot be awaited", other.kind());
            Poll::Ready(wrong(place, words))
        }
    }
}

/// Waits at an `.await` or a macro.
async fn noted(
    context: &Context,
    place: Place,
    mut poll: impl FnMut(&mut Waking<'_>) -> Poll<Evaluated>,
) -> Evaluated {
    poll_fn(|waking| context.machine.poll_awaited(place.line, || poll(waking))).await
}

pub(crate) async fn block(context: &Context, block: &Block) -> Evaluated {
    let inside = Context {
        scope: Scope::inside(&context.scope),
        ..context.clone()
    };
    for statement in &block.all {
        match statement {
            Statement::Let(pattern, value) => {
                let place = value.place;
                let value = evaluate(&inside, value).await?;
                if !bind(&inside.scope, pattern, &value) {
                    return wrong(
                        place,
                        format!("the pattern does not match {}", value.shown(None, true)),
                    );
                }
            }
            Statement::Do(expression) => {
                let place = expression.place;
                let value = evaluate(&inside, expression).await?;
                if let Value::Future(future) = &value
                    && !matches!(*future.state.borrow(), State::Over)
                {
                    let words = format!("`{}` does nothing without `.await`", future.name);
                    return wrong(place, words);
                }
            }
        }
    }
    match &block.value {
        Some(value) => evaluate(&inside, value).await,
        None => Ok(Value::Unit),
    }
}

/// Whether the value matches; then its parts have their names.
pub(crate) fn bind(scope: &Scope, pattern: &Pattern, value: &Value) -> bool {
    match (pattern, value) {
        (Pattern::Any, _) | (Pattern::Unit, Value::Unit) => true,
        (Pattern::Name(name), value) => {
            scope.set(name, value.clone());
            true
        }
        (Pattern::Integer(wanted), Value::Integer(number)) => wanted == number,
        (Pattern::Bool(wanted), Value::Bool(is)) => wanted == is,
        (Pattern::Tuple(patterns), Value::Tuple(parts)) => {
            patterns.len() == parts.len()
                && patterns
                    .iter()
                    .zip(parts.iter())
                    .all(|(pattern, part)| bind(scope, pattern, part))
        }
        (Pattern::Result { is_ok: true, inner }, Value::Result(Ok(value)))
        | (
            Pattern::Result {
                is_ok: false,
                inner,
            },
            Value::Result(Err(value)),
        ) => bind(scope, inner, value),
        _ => false,
    }
}

fn is_true(value: &Value, place: Place) -> Result<bool, Flow> {
    match value {
        Value::Bool(is) => Ok(*is),
        other => wrong(
            place,
            format!("a condition is `true` or `false`, not {}", other.kind()),
        ),
    }
}

/// Each expression is a future of its own: those that wait do so at any depth.
pub(crate) fn evaluate(context: &Context, expression: &Expression) -> Running {
    let (mut context, expression) = (context.clone(), Rc::clone(expression));
    context.depth += 1;
    Box::pin(async move {
        let place = expression.place;
        if context.depth > DEEPEST {
            return wrong(
                place,
                "calls are too deep here: does a function call itself?",
            );
        }
        context.machine.step(place)?;
        node(&context, &expression).await
    })
}

#[expect(clippy::too_many_lines, reason = "a line or two for each kind")]
async fn node(context: &Context, expression: &Expression) -> Evaluated {
    let place = expression.place;
    let here = |expression: &Expression| evaluate(context, expression);
    Ok(match &expression.kind {
        Kind::Integer(number) => Value::Integer(*number),
        Kind::Float(number) => Value::Float(*number),
        Kind::Bool(is) => Value::Bool(*is),
        Kind::Text(text) => Value::Text(Rc::clone(text)),
        Kind::Name(name) => match context.scope.find(name) {
            Some(variable) => variable.borrow().clone(),
            None if context.machine.functions.contains_key(name) => {
                return wrong(place, format!("`{name}` is a function: write `{name}()`"));
            }
            None => return wrong(place, format!("there is no variable `{name}` here")),
        },
        Kind::Path(path) => match path.strip_prefix("Phase::").and_then(phase) {
            Some(phase) => Value::Phase(phase),
            None => return wrong(place, format!("the playground has no `{path}`")),
        },
        Kind::Tuple(parts) if parts.is_empty() => Value::Unit,
        Kind::Tuple(parts) => Value::Tuple(values(context, parts).await?.into()),
        Kind::Call(name, arguments) => {
            let arguments = values(context, arguments).await?;
            if let Some(function) = context.machine.functions.get(name) {
                return called(context, place, function, arguments).await;
            }
            calls::function(context, place, name, arguments)?
        }
        Kind::Method(receiver, name, arguments) => {
            let receiver = here(receiver).await?;
            let arguments = values(context, arguments).await?;
            calls::method(context, place, &receiver, name, arguments)?
        }
        Kind::Field(receiver, name) => calls::field(place, &here(receiver).await?, name)?,
        Kind::Await(awaited) => {
            let value = here(awaited).await?;
            noted(context, place, |waking| {
                poll_value(context, &value, waking, place)
            })
            .await?
        }
        Kind::Block(inner) => block(context, inner).await?,
        Kind::Async { is_move, body } => {
            let scope = if *is_move {
                context.scope.copy()
            } else {
                Rc::clone(&context.scope)
            };
            let inside = Context {
                scope,
                ..context.clone()
            };
            let body = Rc::clone(body);
            let running: Running = Box::pin(async move { returned(block(&inside, &body).await) });
            future(
                Rc::from(format!("{}, async block", context.function)),
                PendingKind::Code,
                running,
            )
        }
        Kind::If(condition, then, otherwise) => {
            let condition = is_true(&here(condition).await?, place)?;
            match otherwise {
                _ if condition => block(context, then).await?,
                Some(otherwise) => here(otherwise).await?,
                None => Value::Unit,
            }
        }
        Kind::IfLet(pattern, value, then, otherwise) => {
            let value = here(value).await?;
            let scope = Scope::inside(&context.scope);
            let inside = Context {
                scope,
                ..context.clone()
            };
            match otherwise {
                _ if bind(&inside.scope, pattern, &value) => block(&inside, then).await?,
                Some(otherwise) => here(otherwise).await?,
                None => Value::Unit,
            }
        }
        Kind::Match(value, arms) => {
            let value = here(value).await?;
            for (pattern, handler) in arms {
                let scope = Scope::inside(&context.scope);
                if bind(&scope, pattern, &value) {
                    return evaluate(
                        &Context {
                            scope,
                            ..context.clone()
                        },
                        handler,
                    )
                    .await;
                }
            }
            return wrong(
                place,
                format!(
                    "no pattern of this `match` matches {}",
                    value.shown(None, true)
                ),
            );
        }
        Kind::Loop(body) => loop {
            context.machine.step(place)?;
            match block(context, body).await {
                Err(Flow::Break(value)) => break value,
                Ok(_) | Err(Flow::Continue) => {}
                Err(other) => return Err(other),
            }
        },
        Kind::While(condition, body) => {
            while is_true(&here(condition).await?, place)? {
                match block(context, body).await {
                    Err(Flow::Break(_)) => break,
                    Ok(_) | Err(Flow::Continue) => {}
                    Err(other) => return Err(other),
                }
            }
            Value::Unit
        }
        Kind::For(name, range, body) => {
            let Value::Range(from, to) = here(range).await? else {
                return wrong(
                    range.place,
                    "`for` counts through a range here: `for number in 0..3 { .. }`",
                );
            };
            for number in from..to {
                context.machine.step(place)?;
                let scope = Scope::inside(&context.scope);
                scope.set(name, Value::Integer(number));
                match block(
                    &Context {
                        scope,
                        ..context.clone()
                    },
                    body,
                )
                .await
                {
                    Err(Flow::Break(_)) => break,
                    Ok(_) | Err(Flow::Continue) => {}
                    Err(other) => return Err(other),
                }
            }
            Value::Unit
        }
        Kind::Range {
            from,
            to,
            is_closed,
        } => match (here(from).await?, here(to).await?) {
            (Value::Integer(from), Value::Integer(to)) => {
                Value::Range(from, to.saturating_add(i64::from(*is_closed)))
            }
            _ => return wrong(place, "a range goes from an integer to an integer"),
        },
        Kind::Break(value) => {
            let value = match value {
                Some(value) => here(value).await?,
                None => Value::Unit,
            };
            return Err(Flow::Break(value));
        }
        Kind::Continue => return Err(Flow::Continue),
        Kind::Return(value) => {
            let value = match value {
                Some(value) => here(value).await?,
                None => Value::Unit,
            };
            return Err(Flow::Return(value));
        }
        Kind::Assign(target, operator, value) => {
            let mut value = here(value).await?;
            if let Some(operator) = operator
                .strip_suffix('=')
                .filter(|operator| !operator.is_empty())
            {
                value = binary(place, &here(target).await?, operator, &value)?;
            }
            match &target.kind {
                Kind::Name(name) => {
                    let Some(variable) = context.scope.find(name) else {
                        return wrong(place, format!("there is no variable `{name}` here"));
                    };
                    let replaced = variable.replace(value);
                    drop(replaced);
                }
                Kind::Field(receiver, name) => {
                    let receiver = here(receiver).await?;
                    calls::set_field(place, &receiver, name, &value)?;
                }
                _ => unreachable!("the parser has checked it"),
            }
            Value::Unit
        }
        Kind::Binary(left, "&&", right) => {
            Value::Bool(is_true(&here(left).await?, place)? && is_true(&here(right).await?, place)?)
        }
        Kind::Binary(left, "||", right) => {
            Value::Bool(is_true(&here(left).await?, place)? || is_true(&here(right).await?, place)?)
        }
        Kind::Binary(left, operator, right) => {
            let left = here(left).await?;
            binary(place, &left, operator, &here(right).await?)?
        }
        Kind::Unary(operator, value) => match (*operator, here(value).await?) {
            ("!", Value::Bool(is)) => Value::Bool(!is),
            ("-", Value::Integer(number)) => Value::Integer(number.saturating_neg()),
            ("-", Value::Float(number)) => Value::Float(-number),
            (operator, value) => {
                return wrong(
                    place,
                    format!("`{operator}` cannot stand before {}", value.kind()),
                );
            }
        },
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            reason = "as the script says"
        )]
        Kind::Cast(value, is_float) => match (here(value).await?, is_float) {
            (Value::Integer(number), true) => Value::Float(number as f64),
            (Value::Float(number), false) => Value::Integer(number as i64),
            (value @ (Value::Integer(_) | Value::Float(_)), _) => value,
            (value, _) => {
                return wrong(
                    place,
                    format!("`as` makes numbers of numbers, not of {}", value.kind()),
                );
            }
        },
        Kind::Closure(parameters, body) => Value::Closure(Rc::new(Closure {
            parameters: parameters.clone(),
            body: Rc::clone(body),
            context: context.clone(),
        })),
        Kind::Select(branches) => select(context, place, branches).await?,
        Kind::Join(futures) => {
            let futures = values(context, futures).await?;
            let polled = futures.into_iter().map(|value| {
                let context = context.clone();
                Box::pin(poll_fn(move |waking| {
                    poll_value(&context, &value, waking, place)
                })) as Running
            });
            let mut all = pin!(join_all(polled));
            let mut results = Vec::new();
            noted(context, place, |waking| {
                all.as_mut().poll(waking).map(|ended| {
                    results = ended;
                    Ok(Value::Unit)
                })
            })
            .await?;
            let results: Result<Vec<_>, _> = results.into_iter().collect();
            Value::Tuple(results?.into())
        }
        Kind::Print(format) => {
            let text = text(context, format).await?;
            context.machine.print(place, text)?;
            Value::Unit
        }
        Kind::Format(format) => Value::Text(text(context, format).await?.into()),
    })
}

async fn values(context: &Context, expressions: &[Expression]) -> Result<Vec<Value>, Flow> {
    let mut values = Vec::new();
    for expression in expressions {
        values.push(evaluate(context, expression).await?);
    }
    Ok(values)
}

/// Calls a function of the script: an `async` one returns its future.
async fn called(
    context: &Context,
    place: Place,
    function: &Rc<Function>,
    arguments: Vec<Value>,
) -> Evaluated {
    let (takes, gets) = (function.parameters.len(), arguments.len());
    if takes != gets {
        return wrong(
            place,
            format!("`{}` takes {takes} values, not {gets}", function.name),
        );
    }
    let running = call(context, function, arguments);
    if function.is_async {
        return Ok(future(
            Rc::clone(&function.name),
            PendingKind::Code,
            running,
        ));
    }
    running.await
}

pub(crate) fn future(name: Rc<str>, kind: PendingKind, running: Running) -> Value {
    Value::Future(Rc::new(Pending {
        name,
        kind,
        state: RefCell::new(State::Running(running)),
    }))
}

/// The first branch that is ready, from the top, whose pattern matches.
async fn select(context: &Context, place: Place, branches: &[Branch]) -> Evaluated {
    let mut futures = Vec::new();
    for branch in branches {
        let is_enabled = match &branch.condition {
            Some(condition) => is_true(&evaluate(context, condition).await?, condition.place)?,
            None => true,
        };
        if let Some((pattern, future)) = &branch.future {
            let value = evaluate(context, future).await?;
            let value = is_enabled.then_some(value);
            futures.push((pattern, value, &branch.handler));
        }
    }
    let scope = Scope::inside(&context.scope);
    let mut chosen = None;
    let result = noted(context, place, |waking| {
        let mut is_waiting = false;
        for (pattern, slot, handler) in &mut futures {
            let Some(value) = slot else { continue };
            match poll_value(context, value, waking, place) {
                Poll::Pending => is_waiting = true,
                Poll::Ready(Err(flow)) => return Poll::Ready(Err(flow)),
                Poll::Ready(Ok(output)) => {
                    if bind(&scope, pattern, &output) {
                        chosen = Some(*handler);
                        return Poll::Ready(Ok(Value::Unit));
                    }
                    *slot = None;
                }
            }
        }
        if is_waiting {
            Poll::Pending
        } else {
            Poll::Ready(Ok(Value::Unit))
        }
    })
    .await;
    // Before the handler runs, as `select!` does it.
    drop(futures);
    result?;
    let otherwise = || {
        branches
            .iter()
            .find(|branch| branch.future.is_none())
            .map(|branch| &branch.handler)
    };
    match chosen.or_else(otherwise) {
        Some(handler) => {
            evaluate(
                &Context {
                    scope,
                    ..context.clone()
                },
                handler,
            )
            .await
        }
        None => wrong(
            place,
            "all branches of this `select!` are disabled, and it has no `else`",
        ),
    }
}

async fn text(context: &Context, format: &Format) -> Result<String, Flow> {
    let mut text = String::new();
    for piece in &format.pieces {
        match piece {
            Piece::Text(piece) => text += piece,
            Piece::Value {
                value,
                precision,
                is_debug,
            } => {
                text += &evaluate(context, value).await?.shown(*precision, *is_debug);
            }
        }
    }
    Ok(text)
}

fn phase(name: &str) -> Option<Phase> {
    Phase::NAMED
        .into_iter()
        .find(|phase| phase.to_string() == name)
}

fn binary(place: Place, left: &Value, operator: &str, right: &Value) -> Evaluated {
    let kinds = || format!("{} and {}", left.kind(), right.kind());
    if let ("==" | "!=", Some(is_equal)) = (operator, left.equals(right)) {
        return Ok(Value::Bool(is_equal == (operator == "==")));
    }
    let order = match (left, right) {
        (Value::Integer(left), Value::Integer(right)) => left.partial_cmp(right),
        (Value::Float(left), Value::Float(right)) => left.partial_cmp(right),
        (Value::Integer(_), Value::Float(_)) | (Value::Float(_), Value::Integer(_)) => {
            return wrong(
                place,
                format!(
                    "rustc refuses `{operator}` between {}; write `1.0` for `1`",
                    kinds()
                ),
            );
        }
        _ => {
            return wrong(
                place,
                format!("`{operator}` cannot stand between {}", kinds()),
            );
        }
    };
    let compared = match operator {
        "<" => Some(order.is_some_and(std::cmp::Ordering::is_lt)),
        "<=" => Some(order.is_some_and(std::cmp::Ordering::is_le)),
        ">" => Some(order.is_some_and(std::cmp::Ordering::is_gt)),
        ">=" => Some(order.is_some_and(std::cmp::Ordering::is_ge)),
        _ => None,
    };
    if let Some(is) = compared {
        return Ok(Value::Bool(is));
    }
    match (left, right) {
        (Value::Integer(left), Value::Integer(right)) => {
            let result = match operator {
                "+" => left.checked_add(*right),
                "-" => left.checked_sub(*right),
                "*" => left.checked_mul(*right),
                "/" => left.checked_div(*right),
                _ => left.checked_rem(*right),
            };
            match result {
                Some(number) => Ok(Value::Integer(number)),
                None => wrong(
                    place,
                    "this panics: the number is too large, or is divided by zero",
                ),
            }
        }
        (Value::Float(left), Value::Float(right)) => Ok(Value::Float(match operator {
            "+" => left + right,
            "-" => left - right,
            "*" => left * right,
            "/" => left / right,
            _ => left % right,
        })),
        _ => unreachable!("other values have no order"),
    }
}

/// Borrows the world for the length of a closure.
pub(crate) fn lend(context: &Context, place: Place, closure: &Closure) -> Evaluated {
    if context.machine.is_lent.replace(true) {
        return wrong(
            place,
            "this panics: a `with` inside a `with` borrows the same world twice",
        );
    }
    let result = call_now(closure, vec![Value::World]);
    context.machine.is_lent.set(false);
    result
}

pub(crate) fn with_world<R>(f: impl FnOnce(&mut World) -> R) -> R {
    with(f)
}
