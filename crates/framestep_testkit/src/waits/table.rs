//! The rows: every wait.

use futures::StreamExt;
use futures::future::pending;

use framestep::prelude::*;

use super::boxed::{AllTicks, Events, Item, Spent, Ticks};
use super::given::once;
use super::row::StaysOnItsThread;
use super::{Arg, Boxed, Length, OnClock, Place, Row, Rule};

pub(super) const FILE: &str = file!();

use Phase::{Custom, EndOfFrame, FixedUpdate, LateUpdate};

/// All waits.
#[rustfmt::skip]
pub const WAITS: &[Row] = &[
    row!(next_frame -> NextFrame, Rule::NextFrame, in_phase, |given| next_frame())
        .due(&[(Arg::None, 1)])
        .shown(&["the next frame"]),
    row!(wait_frames -> WaitFrames, Rule::Frames, in_phase, |given| wait_frames(given.count))
        .due(&[(Arg::Count(0), 1), (Arg::Count(3), 3)])
        .shown(&["3 frames"]),
    row!(wait_steps -> WaitSteps, Rule::Runs, Place::Always(FixedUpdate), |given| wait_steps(given.count))
        .due(&[(Arg::Count(0), 1), (Arg::Count(3), 3)])
        .shown(&["3 steps, in FixedUpdate"]),
    row!(fixed_update -> InPhase, Rule::Run, Place::Always(FixedUpdate), |given| fixed_update())
        .due(&[(Arg::None, 1)])
        .shown(&["the next FixedUpdate"]),
    row!(end_of_frame -> InPhase, Rule::Run, Place::Always(EndOfFrame), |given| end_of_frame())
        .due(&[(Arg::None, 1)])
        .shown(&["the next EndOfFrame"]),
    row!(in_phase -> InPhase, Rule::Run, Place::Argument, |given| in_phase(given.phase.unwrap_or(LateUpdate)))
        .due(&[(Arg::Phase(Custom(7)), 1)])
        .shown(&["the next LateUpdate"]),
    row!(wait_seconds -> WaitSeconds, Rule::Time(OnClock::Own), in_phase, |given, length| wait_seconds(length))
        .due(&[(Arg::Length(0.5), 2), (Arg::Length(0.0), 1), (Arg::Length(-1.0), 1)])
        .shown(&["1s, until 1s"]),
    row!(wait_seconds -> WaitSeconds, Rule::Time(OnClock::Given), in_phase, |given, length| given.clock.wait_seconds(length))
        .due(&[(Arg::Length(0.25), 2)])
        .shown(&["1s, until 1s of clock 1"]),
    row!(wait_until -> WaitSeconds, Rule::Time(OnClock::Given), in_phase, |given| given.clock.wait_until(given.point()))
        .due(&[(Arg::Length(0.25), 2)])
        .shown(&["1s, until 1s of clock 1"])
        .made_of_others(),
    row!(wait_seconds_realtime -> WaitSecondsRealtime, Rule::Time(OnClock::Realtime), in_phase, |given, length| wait_seconds_realtime(length))
        .due(&[(Arg::Length(0.3), 2), (Arg::Length(0.0), 1)])
        .shown(&["1s, until 1s of realtime"]),
    row!(wait_until -> WaitUntil, Rule::Condition, in_phase, |given| { StaysOnItsThread::check(&wait_until(|| true)); wait_until(given.asked()) })
        .due(&[(Arg::Holds(|| true), 1), (Arg::Holds(|| time().frame >= 2), 2)])
        .shown(&["a condition"])
        .asks(),
    row!(wait_while -> WaitWhile, Rule::Condition, in_phase, |given| { StaysOnItsThread::check(&wait_while(|| true)); let holds = given.asked(); wait_while(move || !holds()) })
        .due(&[(Arg::Holds(|| true), 1), (Arg::Holds(|| time().frame >= 2), 2)])
        .shown(&["a condition"])
        .asks(),
    row!(animate -> Animate, Rule::Time(OnClock::Own), in_phase, |given, length| { StaysOnItsThread::check(&animate(length, |_| ())); animate(length, given.applied()) })
        .due(&[(Arg::Length(0.5), 2)])
        .shown(&["the next frame", "1s, until 1s"])
        .asks()
        .made_of_others(),
    row!(repeat -> Tween, Rule::Time(OnClock::Own), in_phase, |given, length| { StaysOnItsThread::check(&animate(length, |_| ()).repeat(1)); animate(length, given.applied()).repeat(1) })
        .due(&[(Arg::Length(0.5), 2)])
        .shown(&["the next frame", "1s, until 1s"])
        .asks()
        .made_of_others(),
    row!(then -> Sequence, Rule::Time(OnClock::Own), in_phase, |given, length| { StaysOnItsThread::check(&animate(length, |_| ()).then(animate(0, |_| ()))); animate(0, drop as fn(f32)).then(animate(length, given.applied())) })
        .due(&[(Arg::Length(0.5), 2)])
        .shown(&["the next frame", "1s, until 1s"])
        .asks()
        .made_of_others(),
    row!(timeout -> Timeout, Rule::Time(OnClock::Own), in_phase, |given, length| timeout(length, pending::<()>()))
        .due(&[(Arg::Length(0.5), 2)])
        .shown(&["1s, until 1s"])
        .made_of_others(),
    row!(timeout -> Timeout, Rule::NextFrame, Place::Always(LateUpdate), |given| timeout(9, next_frame().in_phase(LateUpdate)))
        .due(&[(Arg::None, 1)])
        .shown(&["9s, until 9s", "the next frame, in LateUpdate"])
        .made_of_others(),
    row!(timeout_at -> Timeout, Rule::Time(OnClock::Own), in_phase, |given| timeout_at(given.game_point(), pending::<()>()))
        .due(&[(Arg::Length(0.5), 2), (Arg::Length(0.0), 1)])
        .shown(&["1s, until 1s"])
        .made_of_others(),
    row!(on_clock -> On, Rule::Time(OnClock::Given), Place::Home, |given, length| on_clock(&given.clock, wait_seconds(length)))
        .due(&[(Arg::Length(0.25), 2)])
        .shown(&["1s, until 1s of clock 1"])
        .made_of_others(),
    row!(interval -> Interval, Rule::Time(OnClock::Own), Place::InPhase, |given| in_phase_of!(given, made!(given, length, interval(length))).next(),
        boxed Item(in_phase_of!(given, made!(given, length, interval(length)))))
        .due(&[(Arg::Length(0.5), 2)])
        .shown(&["1s, until 1s"])
        .made_of_others()
        .period()
        .repeats()
        .without_line(),
    row!(tick -> NextTick, Rule::Time(OnClock::Own), Place::InPhase, |given| in_phase_of!(given, made!(given, length, interval(length))).tick(),
        boxed Ticks::of(in_phase_of!(given, made!(given, length, interval(length)))))
        .due(&[(Arg::Length(0.5), 2)])
        .shown(&["1s, until 1s"])
        .made_of_others()
        .period()
        .repeats(),
    row!(ticks -> NextTicks, Rule::Time(OnClock::Own), Place::InPhase, |given| in_phase_of!(given, made!(given, length, interval(length))).ticks(),
        boxed AllTicks::of(in_phase_of!(given, made!(given, length, interval(length)))))
        .due(&[(Arg::Length(0.5), 2)])
        .shown(&["1s, until 1s"])
        .made_of_others()
        .period()
        .repeats(),
    row!(frames -> Frames, Rule::NextFrame, Place::InPhase, |given| in_phase_of!(given, frames()).next(),
        boxed Item(in_phase_of!(given, frames())))
        .due(&[(Arg::None, 1)])
        .shown(&["the next frame"])
        .made_of_others()
        .repeats()
        .without_line(),
    row!(every_frames -> EveryFrames, Rule::Frames, Place::InPhase, |given| in_phase_of!(given, every_frames(given.count)).next(),
        boxed Item(in_phase_of!(given, every_frames(given.count))))
        .due(&[(Arg::Count(0), 1), (Arg::Count(3), 3)])
        .shown(&["3 frames"])
        .made_of_others()
        .repeats(),
    row!(changes_of -> ChangesOf, Rule::Other, Place::InPhase, |given| in_phase_of!(given, changes_of(|| time().frame)).next(),
        boxed Item(in_phase_of!(given, changes_of(|| time().frame))))
        .due(&[(Arg::None, 1)])
        .shown(&["a condition"])
        .made_of_others()
        .repeats(),
    row!(debounce -> Debounce, Rule::Time(OnClock::Own), Place::Home, |given| made!(given, length, debounce(length, once())).next(),
        boxed Item(made!(given, length, debounce(length, once()))))
        .due(&[(Arg::Length(0.5), 2), (Arg::Length(0.0), 1)])
        .shown(&["1s, until 1s"])
        .made_of_others()
        .repeats(),
    row!(debounce_by_key -> DebounceByKey, Rule::Time(OnClock::Own), Place::Home, |given| made!(given, length, debounce_by_key(length, once(), <()>::clone)).next(),
        boxed Item(made!(given, length, debounce_by_key(length, once(), <()>::clone))))
        .due(&[(Arg::Length(0.5), 2), (Arg::Length(0.0), 1)])
        .shown(&["1s, until 1s"])
        .made_of_others()
        .allocates()
        .repeats(),
    row!(sample -> Sample, Rule::Time(OnClock::Own), Place::Home, |given| made!(given, length, sample(length, once())).next(),
        boxed Item(made!(given, length, sample(length, once()))))
        .due(&[(Arg::Length(0.5), 2)])
        .shown(&["1s, until 1s"])
        .made_of_others()
        .period()
        .repeats(),
    row!(throttle -> Throttle, Rule::NextFrame, Place::Home, |given| throttle(0, frames()).next(),
        boxed Item(throttle(0, frames())))
        .due(&[(Arg::None, 1)])
        .shown(&["the next frame"])
        .made_of_others()
        .repeats(),
    // The budget has one unit for each frame.
    row!(checkpoint -> Checkpoint, Rule::Other, in_phase, |given| given.budget.checkpoint_cost(2), boxed Spent::of(given))
        .due(&[(Arg::None, 1)])
        .shown(&["the next frame", "a wake"]),
    row!(checkpoint_cost -> Checkpoint, Rule::Other, in_phase, |given| given.budget.checkpoint_cost(2), boxed Spent::of(given))
        .due(&[(Arg::None, 1)])
        .shown(&["the next frame", "a wake"]),
    row!(yield_now -> YieldNow, Rule::Other, Place::Home, |given| yield_now())
        .due(&[(Arg::None, 1)])
        .shown(&["the next Update"]),
    row!(join_all -> JoinAll, Rule::Other, Place::Always(LateUpdate), |given| join_all([in_phase(LateUpdate), in_phase(LateUpdate)]))
        .due(&[(Arg::None, 1)])
        .shown(&["the next LateUpdate", "the next LateUpdate"])
        .made_of_others()
        .allocates(),
    row!(race -> Race, Rule::Other, Place::Always(FixedUpdate), |given| race([in_phase(LateUpdate), in_phase(FixedUpdate)]))
        .due(&[(Arg::None, 1)])
        .shown(&["the next FixedUpdate", "the next LateUpdate"])
        .made_of_others()
        .allocates(),
    row!(on_error -> OnError, Rule::Other, Place::Always(LateUpdate), |given| on_error(timeout(9, in_phase(LateUpdate)), drop))
        .due(&[(Arg::None, 1)])
        .shown(&["9s, until 9s", "the next LateUpdate"])
        .made_of_others(),
    // The other script ends in this phase.
    row!(try_join_all -> TryJoinAll, Rule::Join, Place::Always(LateUpdate), |given| try_join_all([given.script()]))
        .due(&[(Arg::None, 1)])
        .shown(&["the end of 1v1"])
        .made_of_others()
        .allocates(),
    row!(join -> Coroutine, Rule::Join, Place::Always(LateUpdate), |given| join(given.script()))
        .due(&[(Arg::None, 1)])
        .shown(&["the end of 1v1"]),
    row!(start -> Coroutine, Rule::Join, Place::Always(LateUpdate), |given| given.script().stop_on_drop())
        .due(&[(Arg::None, 1)])
        .shown(&["the end of 1v1"]),
    row!(ended -> Ended, Rule::Join, Place::Always(LateUpdate), |given| given.crowd().ended())
        .due(&[(Arg::None, 1)])
        .shown(&["the end of the scripts of crowd"])
        .allocates(),
    row!(stop_within -> StopWithin, Rule::Join, Place::Always(LateUpdate), |given| given.crowd().stop_within(9))
        .due(&[(Arg::None, 1)])
        .shown(&["the end of the scripts of crowd"])
        .made_of_others()
        .allocates(),
    row!(join -> JoinGroup, Rule::Join, Place::Always(LateUpdate), |given| given.group(|| ()).join())
        .due(&[(Arg::None, 1)])
        .shown(&["the end of 1v1", "a wake"])
        .made_of_others()
        .allocates()
        .hides(),
    row!(try_join -> TryJoinGroup, Rule::Join, Place::Always(LateUpdate), |given| given.group(|| Ok::<(), ()>(())).try_join())
        .due(&[(Arg::None, 1)])
        .shown(&["the end of 1v1", "a wake"])
        .made_of_others()
        .allocates()
        .hides(),
    row!(when_each -> WhenEach, Rule::Other, Place::Always(LateUpdate), |given| when_each([in_phase(LateUpdate)]).next(),
        boxed Item(when_each([in_phase(LateUpdate)])))
        .due(&[(Arg::None, 1)])
        .shown(&["the next LateUpdate", "a wake"])
        .made_of_others()
        .allocates()
        .repeats()
        .hides()
        .without_line(),
    row!(finished -> Finished, Rule::Join, Place::Always(LateUpdate), |given| { let script = given.script(); script.finished() })
        .due(&[(Arg::None, 1)])
        .shown(&["the end of 1v1"])
        .repeats(),
    row!(wait -> WaitSignal, Rule::Event, Place::Home, |given| given.signal.wait())
        .due(&[(Arg::None, 2)])
        .shown(&["signal bell"]),
    row!(or_closed -> OrClosed, Rule::Event, Place::Home, |given| given.signal.wait().or_closed())
        .due(&[(Arg::None, 2)])
        .shown(&["signal bell"])
        .made_of_others(),
    row!(wait_for -> WaitSignalFor, Rule::Event, Place::Home, |given| { let accepts = given.accepts; given.signal.wait_for(move |&event| accepts(event)) })
        .due(&[(Arg::None, 2)])
        .shown(&["signal bell"]),
    row!(subscribe -> Subscription, Rule::Event, Place::Home, |given| StreamExt::next(&mut given.signal.subscribe()),
        boxed Item(given.signal.subscribe()))
        .due(&[(Arg::None, 2)])
        .shown(&["signal bell"])
        .repeats()
        .without_line(),
    row!(next -> NextItem, Rule::Event, Place::Home, |given| given.signal.subscribe().next(), boxed Events::of(given.signal.subscribe()))
        .due(&[(Arg::None, 2)])
        .shown(&["signal bell"])
        .repeats(),
    row!(changed -> Changed, Rule::Event, Place::Home, |given| given.watch.changed())
        .due(&[(Arg::None, 2)])
        .shown(&["watch health"]),
    row!(wait_for -> WaitWatch, Rule::Event, Place::Home, |given| { let accepts = given.accepts; given.watch.wait_for(move |&value| accepts(value)) })
        .due(&[(Arg::None, 2)])
        .shown(&["watch health"]),
    row!(subscribe -> Changes, Rule::Event, Place::Home, |given| StreamExt::next(&mut given.changes()), boxed Item(given.changes()))
        .due(&[(Arg::None, 2)])
        .shown(&["watch health"])
        .repeats()
        .without_line(),
    row!(acquire -> Acquire, Rule::Event, Place::Home, |given| given.permits.acquire())
        .due(&[(Arg::None, 2)])
        .shown(&["a permit of tokens"]),
    row!(acquire_many -> Acquire, Rule::Event, Place::Home, |given| given.permits.acquire_many(2))
        .due(&[(Arg::None, 2)])
        .shown(&["a permit of tokens"]),
];
