//! The functions and methods that scripts can call.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use framestep::prelude::*;

use crate::error::{Error, Place};
use crate::evaluate::{call_now, future, lend, poll_value, script, with_world, wrong};
use crate::machine::World;
use crate::value::{
    Closure, Context, Evaluated, Flow, Pending, PendingKind, Running, State, Value,
};

/// Functions that the playground has, for errors.
const FUNCTIONS: &str = "next_frame, wait_frames, wait_seconds, wait_until, wait_while, fixed_update, wait_steps, \
    end_of_frame, in_phase, yield_now, timeout, animate, interval, start, spawn, join, owner, with, time and drop";

// -- Arguments --------------------------------------------------------------------------------

struct Arguments<'a> {
    place: Place,
    name: &'a str,
    values: std::vec::IntoIter<Value>,
}

impl Arguments<'_> {
    fn next(&mut self, what: &str) -> Evaluated {
        match self.values.next() {
            Some(value) => Ok(value),
            None => wrong(self.place, format!("`{}` takes {what}", self.name)),
        }
    }

    fn end(mut self) -> Result<(), Flow> {
        match self.values.next() {
            None => Ok(()),
            Some(_) => wrong(self.place, format!("`{}` takes fewer values", self.name)),
        }
    }

    fn other<T>(&self, what: &str, value: &Value) -> Result<T, Flow> {
        wrong(
            self.place,
            format!("`{}` takes {what}, not {}", self.name, value.kind()),
        )
    }

    /// A number of seconds, exact to the nanosecond.
    fn seconds(&mut self) -> Result<Length, Flow> {
        match self.next("a number of seconds")? {
            Value::Integer(number) if u32::try_from(number).is_ok() => {
                Ok(Length::Whole(u32::try_from(number).unwrap_or(0)))
            }
            Value::Float(number) if !number.is_nan() => Ok(Length::Part(number)),
            Value::Integer(_) => wrong(
                self.place,
                "this number of seconds is negative, or too large",
            ),
            other => self.other("a number of seconds", &other),
        }
    }

    fn count(&mut self, what: &str) -> Result<u64, Flow> {
        match self.next(what)? {
            Value::Integer(number) => match u64::try_from(number) {
                Ok(count) => Ok(count),
                Err(_) => wrong(
                    self.place,
                    format!("`{}` takes {what}, which cannot be negative", self.name),
                ),
            },
            other => self.other(what, &other),
        }
    }

    fn closure(&mut self, what: &str) -> Result<Rc<Closure>, Flow> {
        match self.next(what)? {
            Value::Closure(closure) => Ok(closure),
            other => self.other(what, &other),
        }
    }

    fn phase(&mut self) -> Result<Phase, Flow> {
        match self.next("a phase, such as `Phase::LateUpdate`")? {
            Value::Phase(phase) => Ok(phase),
            other => self.other("a phase, such as `Phase::LateUpdate`", &other),
        }
    }

    /// A script's code, which is taken out of the future.
    fn code(&mut self) -> Result<(Rc<str>, Running), Flow> {
        let what = "the call of an `async fn`";
        match self.next(what)? {
            Value::Future(future) => match future.state.replace(State::Over) {
                State::Running(running) => Ok((Rc::clone(&future.name), running)),
                State::Wait(make, phase) => Ok((Rc::clone(&future.name), make(phase))),
                State::Over => wrong(
                    self.place,
                    format!("`{}` has been awaited or started already", future.name),
                ),
            },
            other => self.other(what, &other),
        }
    }

    fn text(&mut self) -> Result<Rc<str>, Flow> {
        match self.next("a name")? {
            Value::Text(text) => Ok(text),
            other => self.other("a name", &other),
        }
    }
}

/// A length as the script writes it: the crate converts each kind by itself.
#[derive(Clone, Copy)]
enum Length {
    Whole(u32),
    Part(f64),
}

impl Length {
    fn is_above_zero(self) -> bool {
        match self {
            Length::Whole(number) => number > 0,
            Length::Part(number) => number > 0.0,
        }
    }
}

/// Calls a function with a length, as the type that the script has.
macro_rules! with_length {
    ($length:expr, $name:ident => $call:expr) => {
        match $length {
            Length::Whole($name) => ends($call),
            Length::Part($name) => ends($call),
        }
    };
}

/// A wait whose output a script does not use.
fn ends(wait: impl Future + 'static) -> Running {
    Box::pin(async move {
        wait.await;
        Ok(Value::Unit)
    })
}

/// A wait that begins when it is polled first.
fn wait(name: &str, make: impl FnOnce(Option<Phase>) -> Running + 'static) -> Value {
    wait_of(PendingKind::Wait, name, make)
}

fn wait_of(
    kind: PendingKind,
    name: &str,
    make: impl FnOnce(Option<Phase>) -> Running + 'static,
) -> Value {
    Value::Future(Rc::new(Pending {
        name: name.into(),
        kind,
        state: RefCell::new(State::Wait(Box::new(make), None)),
    }))
}

/// `wait.in_phase(phase)`, or at home.
macro_rules! in_phase_or_home {
    ($wait:expr, $phase:expr) => {{
        let wait = $wait;
        match $phase {
            Some(phase) => wait.in_phase(phase),
            None => wait,
        }
    }};
}

/// What closures that a wait calls have done wrong. The wait ends with it.
type Mistake = Rc<Cell<Option<Flow>>>;

fn checked(mistake: Mistake, running: Running) -> Running {
    Box::pin(async move {
        let mut running = running;
        poll_fn(move |waking| {
            let result = running.as_mut().poll(waking);
            match mistake.take() {
                Some(flow) => Poll::Ready(Err(flow)),
                None => result,
            }
        })
        .await
    })
}

/// Whether the condition holds. After a mistake, it does: the wait must end.
fn holds(closure: &Closure, arguments: Vec<Value>, mistake: &Mistake) -> bool {
    match call_now(closure, arguments) {
        Ok(Value::Bool(is)) => is,
        Ok(other) => {
            let words = format!("a condition is `true` or `false`, not {}", other.kind());
            mistake.set(Some(Flow::Error(Error::new(closure.body.place, words))));
            true
        }
        Err(flow) => {
            mistake.set(Some(flow));
            true
        }
    }
}

// -- Functions --------------------------------------------------------------------------------

#[expect(clippy::too_many_lines, reason = "a few lines for each function")]
pub(crate) fn function(
    context: &Context,
    place: Place,
    name: &str,
    values: Vec<Value>,
) -> Evaluated {
    let mut arguments = Arguments {
        place,
        name,
        values: values.into_iter(),
    };
    let result = match name {
        "next_frame" => wait(name, |phase| ends(in_phase_or_home!(next_frame(), phase))),
        "wait_frames" => {
            let count = arguments.count("a number of frames")?;
            wait(name, move |phase| {
                ends(in_phase_or_home!(wait_frames(count), phase))
            })
        }
        "wait_seconds" => {
            let length = arguments.seconds()?;
            wait(
                name,
                move |phase| with_length!(length, seconds => in_phase_or_home!(wait_seconds(seconds), phase)),
            )
        }
        "wait_seconds_realtime" => {
            let length = arguments.seconds()?;
            wait(
                name,
                move |phase| with_length!(length, seconds => in_phase_or_home!(wait_seconds_realtime(seconds), phase)),
            )
        }
        "wait_until" | "wait_while" => {
            let closure = arguments.closure("a closure: `|| condition`")?;
            let is_until = name == "wait_until";
            wait(name, move |phase| {
                let mistake = Mistake::default();
                let noted = Rc::clone(&mistake);
                checked(
                    mistake,
                    if is_until {
                        let condition = move || holds(&closure, Vec::new(), &noted);
                        ends(in_phase_or_home!(wait_until(condition), phase))
                    } else {
                        let condition = move || holds(&closure, Vec::new(), &noted);
                        ends(in_phase_or_home!(wait_while(condition), phase))
                    },
                )
            })
        }
        "fixed_update" => wait(name, |_| ends(fixed_update())),
        "wait_steps" => {
            let count = arguments.count("a number of fixed steps")?;
            wait(name, move |_| ends(wait_steps(count)))
        }
        "end_of_frame" => wait(name, |_| ends(end_of_frame())),
        "in_phase" => {
            let phase = arguments.phase()?;
            wait(name, move |_| ends(in_phase(phase)))
        }
        "yield_now" => wait(name, |_| ends(yield_now())),
        "timeout" => {
            let length = arguments.seconds()?;
            let value = arguments.next("a number of seconds, and a future")?;
            let context = context.clone();
            wait_of(PendingKind::Combinator, name, move |phase| {
                // Its own timer waits beside the future.
                let machine = Rc::clone(&context.machine);
                let inner = Box::pin(poll_fn(move |waking| {
                    let result = poll_value(&context, &value, waking, place);
                    if result.is_pending() {
                        machine.note_wait();
                    }
                    result
                }));
                match length {
                    Length::Whole(seconds) => {
                        timed(in_phase_or_home!(timeout(seconds, inner), phase))
                    }
                    Length::Part(seconds) => {
                        timed(in_phase_or_home!(timeout(seconds, inner), phase))
                    }
                }
            })
        }
        "animate" => {
            let length = arguments.seconds()?;
            let closure = arguments.closure("a closure: `|part| ..`")?;
            wait(name, move |phase| {
                let mistake = Mistake::default();
                let noted = Rc::clone(&mistake);
                let apply = move |part: f32| {
                    if let Err(flow) = call_now(&closure, vec![Value::Float(part.into())]) {
                        noted.set(Some(flow));
                    }
                };
                checked(
                    mistake,
                    with_length!(length, seconds => in_phase_or_home!(animate(seconds, apply), phase)),
                )
            })
        }
        "interval" => {
            let length = arguments.seconds()?;
            if !length.is_above_zero() {
                return wrong(
                    place,
                    "this panics: the period of an interval is longer than zero",
                );
            }
            let interval = match length {
                Length::Whole(seconds) => interval(seconds),
                Length::Part(seconds) => interval(seconds),
            };
            Value::Interval(Rc::new(RefCell::new(interval)))
        }
        "start" | "spawn" => {
            context.machine.start(place)?;
            let (script_name, running) = arguments.code()?;
            let code = script(context.clone(), running);
            let script = framestep::task::script(script_name.to_string());
            let handle = if name == "start" {
                script.start(code)
            } else {
                script.spawn(code)
            };
            handle_of(context.machine.started(place, handle)?)
        }
        "join" => match arguments.next("a handle")? {
            handle @ Value::Handle(_) => handle,
            other => return arguments.other("a handle", &other),
        },
        "owner" => Value::Owner(Rc::new(RefCell::new(Some(owner())))),
        "with" => {
            let closure = arguments.closure("a closure: `|world: &mut World| ..`")?;
            lend(context, place, &closure)?
        }
        "time" => Value::Time(time()),
        "drop" => {
            match arguments.next("a value")? {
                Value::Owner(owner) => {
                    let owner = owner.take();
                    drop(owner);
                }
                Value::Handle(handle) => {
                    let handle = handle.take();
                    drop(handle);
                }
                Value::Future(future) => {
                    let state = future.state.replace(State::Over);
                    drop(state);
                }
                _ => {}
            }
            Value::Unit
        }
        "Ok" => Value::Result(Ok(Rc::new(arguments.next("a value")?))),
        "Err" => Value::Result(Err(Rc::new(arguments.next("a value")?))),
        "Signal::new" => Value::Signal(Signal::new()),
        "Watch::new" => Value::Watch(Watch::new(arguments.next("its first value")?)),
        "f32::from" | "f64::from" => match arguments.next("a number")? {
            #[expect(clippy::cast_precision_loss, reason = "as the script says")]
            Value::Integer(number) => Value::Float(number as f64),
            float @ Value::Float(_) => float,
            other => return arguments.other("a number", &other),
        },
        _ => {
            let near = context
                .machine
                .functions
                .keys()
                .find(|function| function.eq_ignore_ascii_case(name));
            return wrong(
                place,
                match near {
                    Some(function) => format!("there is no function `{name}`, but `{function}`"),
                    None => format!(
                        "there is no function `{name}` in this script, and the playground has: {FUNCTIONS}"
                    ),
                },
            );
        }
    };
    arguments.end()?;
    Ok(result)
}

fn timed(
    timeout: impl Future<Output = Result<Evaluated, impl std::fmt::Display>> + 'static,
) -> Running {
    Box::pin(async move {
        Ok(Value::Result(match timeout.await {
            Ok(value) => Ok(Rc::new(value?)),
            Err(error) => Err(Rc::new(Value::Text(error.to_string().into()))),
        }))
    })
}

fn handle_of(coroutine: Coroutine<crate::value::Ended>) -> Value {
    Value::Handle(Rc::new(RefCell::new(Some(coroutine))))
}

// -- Methods ----------------------------------------------------------------------------------

pub(crate) fn method(
    context: &Context,
    place: Place,
    receiver: &Value,
    name: &str,
    values: Vec<Value>,
) -> Evaluated {
    let mut arguments = Arguments {
        place,
        name,
        values: values.into_iter(),
    };
    let result = match receiver {
        // All of these share what they stand for.
        Value::Signal(_)
        | Value::Watch(_)
        | Value::Text(_)
        | Value::Integer(_)
        | Value::Float(_)
        | Value::Bool(_)
            if name == "clone" =>
        {
            Some(receiver.clone())
        }
        Value::Future(future) => of_future(future, name, &mut arguments)?,
        Value::Handle(handle) => of_handle(receiver, handle, name, &mut arguments)?,
        Value::Signal(signal) => of_signal(signal, name, &mut arguments)?,
        Value::Watch(watch) => of_watch(watch, name, &mut arguments)?,
        Value::Owner(owner) => of_owner(context, receiver, owner, name, &mut arguments)?,
        Value::Interval(interval) => of_interval(interval, name, place),
        Value::Result(result) => of_result(result, name, &mut arguments)?,
        Value::Integer(_) | Value::Float(_) => of_number(receiver, name, &mut arguments)?,
        Value::Text(text) if matches!(name, "to_string" | "to_owned" | "into") => {
            Some(Value::Text(Rc::clone(text)))
        }
        _ => None,
    };
    match result {
        Some(value) => {
            arguments.end()?;
            Ok(value)
        }
        None => wrong(
            place,
            format!(
                "{} has no method `{name}` in the playground",
                receiver.kind()
            ),
        ),
    }
}

type Found = Result<Option<Value>, Flow>;

fn of_future(future: &Rc<Pending>, name: &str, arguments: &mut Arguments<'_>) -> Found {
    if name != "in_phase" {
        return Ok(None);
    }
    let chosen = arguments.phase()?;
    if let State::Wait(_, phase) = &mut *future.state.borrow_mut() {
        *phase = Some(chosen);
        return Ok(Some(Value::Future(Rc::clone(future))));
    }
    wrong(
        arguments.place,
        format!("`{}` has no phase to choose", future.name),
    )
}

fn of_handle(
    value: &Value,
    handle: &Rc<RefCell<Option<Coroutine<crate::value::Ended>>>>,
    name: &str,
    arguments: &mut Arguments<'_>,
) -> Found {
    if name == "named" {
        let given = arguments.text()?;
        let coroutine = handle.take();
        *handle.borrow_mut() = coroutine.map(|coroutine| coroutine.named(given.to_string()));
        return Ok(Some(value.clone()));
    }
    let slot = handle.borrow();
    let Some(coroutine) = &*slot else {
        return wrong(
            arguments.place,
            "this handle has been awaited already, or dropped",
        );
    };
    Ok(Some(match name {
        "stop" => Value::Bool(coroutine.stop()),
        "pause" => Value::Bool(coroutine.pause()),
        "resume" => Value::Bool(coroutine.resume()),
        "is_paused" => Value::Bool(coroutine.is_paused()),
        "is_finished" => Value::Bool(coroutine.is_finished()),
        _ => return Ok(None),
    }))
}

fn of_signal(signal: &Signal<Value>, name: &str, arguments: &mut Arguments<'_>) -> Found {
    Ok(Some(match name {
        "named" => Value::Signal(signal.clone().named(arguments.text()?.to_string())),
        "emit" => {
            signal.emit(arguments.next("the value of the event, or `()`")?);
            Value::Unit
        }
        // It waits from this call on.
        "wait" => {
            let event = signal.wait();
            future(
                "wait".into(),
                PendingKind::Wait,
                Box::pin(async move { Ok(event.await) }),
            )
        }
        _ => return Ok(None),
    }))
}

fn of_watch(watch: &Watch<Value>, name: &str, arguments: &mut Arguments<'_>) -> Found {
    Ok(Some(match name {
        "named" => Value::Watch(watch.clone().named(arguments.text()?.to_string())),
        "get" => watch.get(),
        "set" => {
            watch.set(arguments.next("a value")?);
            Value::Unit
        }
        "changed" => {
            let change = watch.changed();
            future(
                "changed".into(),
                PendingKind::Wait,
                Box::pin(async move { Ok(change.await) }),
            )
        }
        "wait_for" => {
            let closure = arguments.closure("a closure: `|value| condition`")?;
            let mistake = Mistake::default();
            let noted = Rc::clone(&mistake);
            let met = watch.wait_for(move |value| holds(&closure, vec![value.clone()], &noted));
            future(
                "wait_for".into(),
                PendingKind::Wait,
                checked(mistake, Box::pin(async move { Ok(met.await) })),
            )
        }
        _ => return Ok(None),
    }))
}

fn of_owner(
    context: &Context,
    value: &Value,
    owner: &Rc<RefCell<Option<Owner>>>,
    name: &str,
    arguments: &mut Arguments<'_>,
) -> Found {
    if name == "named" {
        let given = arguments.text()?;
        let unnamed = owner.take();
        *owner.borrow_mut() = unnamed.map(|owner| owner.named(given.to_string()));
        return Ok(Some(value.clone()));
    }
    // A script that is started at once may drop the owner. So nothing is borrowed meanwhile.
    let handle = owner.borrow().as_ref().map(Owner::handle);
    let Some(handle) = handle else {
        return wrong(arguments.place, "this owner has been dropped");
    };
    if matches!(name, "start" | "spawn") {
        context.machine.start(arguments.place)?;
        let (script_name, running) = arguments.code()?;
        let code = script(context.clone(), running);
        let script = handle.script(script_name.to_string());
        let started = if name == "start" {
            script.start(code)
        } else {
            script.spawn(code)
        };
        let started = context.machine.started(arguments.place, started)?;
        return Ok(Some(handle_of(started)));
    }
    let slot = owner.borrow();
    let Some(owner) = &*slot else {
        return Ok(None);
    };
    Ok(Some(match name {
        "pause" => Value::Bool(owner.pause()),
        "resume" => Value::Bool(owner.resume()),
        "is_empty" => Value::Bool(owner.is_empty()),
        "is_paused" => Value::Bool(owner.is_paused()),
        "ended" => {
            let ended = owner.ended();
            future("ended".into(), PendingKind::Wait, ends(ended))
        }
        _ => return Ok(None),
    }))
}

fn of_interval(
    interval: &Rc<RefCell<framestep::wait::Interval>>,
    name: &str,
    place: Place,
) -> Option<Value> {
    if name != "tick" {
        return None;
    }
    let interval = Rc::clone(interval);
    Some(wait(name, move |_| {
        #[expect(
            clippy::await_holding_refcell_ref,
            reason = "a second tick finds it borrowed, and says so"
        )]
        Box::pin(async move {
            let Ok(mut interval) = interval.try_borrow_mut() else {
                return wrong(place, "this interval is being awaited already");
            };
            interval.tick().await;
            Ok(Value::Unit)
        })
    }))
}

fn of_result(
    result: &Result<Rc<Value>, Rc<Value>>,
    name: &str,
    arguments: &mut Arguments<'_>,
) -> Found {
    Ok(Some(match (name, result) {
        ("is_ok", _) => Value::Bool(result.is_ok()),
        ("is_err", _) => Value::Bool(result.is_err()),
        ("unwrap_or", Ok(value)) => {
            arguments.next("a value")?;
            (**value).clone()
        }
        ("unwrap_or", Err(_)) => arguments.next("a value")?,
        ("expect", _) => {
            let words = arguments.text()?;
            match result {
                Ok(value) => (**value).clone(),
                Err(error) => {
                    return wrong(
                        arguments.place,
                        format!("this panics: {words}: {}", error.shown(None, false)),
                    );
                }
            }
        }
        ("unwrap", Ok(value)) => (**value).clone(),
        ("unwrap", Err(error)) => {
            return wrong(
                arguments.place,
                format!(
                    "this panics: `unwrap` on an error: {}",
                    error.shown(None, false)
                ),
            );
        }
        ("unwrap_err", Err(error)) => (**error).clone(),
        _ => return Ok(None),
    }))
}

fn of_number(number: &Value, name: &str, arguments: &mut Arguments<'_>) -> Found {
    Ok(Some(match (number, name) {
        (Value::Integer(number), "abs") => Value::Integer(number.saturating_abs()),
        (Value::Float(number), "abs") => Value::Float(number.abs()),
        (Value::Float(number), "floor") => Value::Float(number.floor()),
        (Value::Float(number), "round") => Value::Float(number.round()),
        (Value::Integer(left), "min" | "max") => match arguments.next("a number")? {
            Value::Integer(right) => Value::Integer(if name == "min" {
                *left.min(&right)
            } else {
                *left.max(&right)
            }),
            other => return arguments.other("an integer", &other),
        },
        (Value::Float(left), "min" | "max") => match arguments.next("a number")? {
            Value::Float(right) => Value::Float(if name == "min" {
                left.min(right)
            } else {
                left.max(right)
            }),
            other => return arguments.other("a float", &other),
        },
        _ => return Ok(None),
    }))
}

// -- Fields -----------------------------------------------------------------------------------

pub(crate) fn field(place: Place, receiver: &Value, name: &str) -> Evaluated {
    match (receiver, name) {
        (Value::World, "hero") => Ok(Value::Float(with_world(|world| world.hero).into())),
        (Value::World, "door") => Ok(Value::Float(with_world(|world| world.door).into())),
        (Value::World, "lamp") => Ok(Value::Float(with_world(|world| world.lamp).into())),
        (Value::World, "coins") => Ok(Value::Integer(with_world(|world| world.coins))),
        (Value::World, _) => wrong(
            place,
            format!("the world has no `{name}`; it has {}", World::FIELDS),
        ),
        (Value::Time(time), "frame") => Ok(Value::Integer(
            i64::try_from(time.frame).unwrap_or(i64::MAX),
        )),
        (Value::Time(time), "elapsed") => Ok(Value::Text(shown(time.elapsed))),
        (Value::Time(time), "delta") => Ok(Value::Text(shown(time.delta))),
        (Value::Time(_), _) => wrong(
            place,
            format!(
                "a time has no `{name}` in the playground; it has `frame`, `elapsed` and `delta`"
            ),
        ),
        (Value::Tuple(parts), _) => match name
            .parse::<usize>()
            .ok()
            .and_then(|index| parts.get(index))
        {
            Some(part) => Ok(part.clone()),
            None => wrong(place, format!("this tuple has no part {name}")),
        },
        _ => wrong(place, format!("{} has no field `{name}`", receiver.kind())),
    }
}

fn shown(length: Duration) -> Rc<str> {
    format!("{length:?}").into()
}

pub(crate) fn set_field(
    place: Place,
    receiver: &Value,
    name: &str,
    value: &Value,
) -> Result<(), Flow> {
    if !matches!(receiver, Value::World) {
        return wrong(
            place,
            format!("{} has no field that can be changed", receiver.kind()),
        );
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the fields are of this type"
    )]
    match (name, value) {
        ("hero", Value::Float(number)) => with_world(|world| world.hero = *number as f32),
        ("door", Value::Float(number)) => with_world(|world| world.door = *number as f32),
        ("lamp", Value::Float(number)) => with_world(|world| world.lamp = *number as f32),
        ("coins", Value::Integer(number)) => with_world(|world| world.coins = *number),
        ("hero" | "door" | "lamp", other) => {
            return wrong(
                place,
                format!(
                    "`{name}` of the world is a float such as `1.0`, not {}",
                    other.kind()
                ),
            );
        }
        ("coins", other) => {
            return wrong(
                place,
                format!("`coins` of the world is an integer, not {}", other.kind()),
            );
        }
        _ => {
            return wrong(
                place,
                format!("the world has no `{name}`; it has {}", World::FIELDS),
            );
        }
    }
    Ok(())
}
