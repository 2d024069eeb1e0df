//! How long pauses are, against a model that is obviously right.

use super::*;
use crate::timeline::UNLIMITED;

/// What a coroutine counts on.
#[derive(Clone, Copy, Debug)]
enum On {
    Game,
    Realtime,
    Slow,
    Slower,
    Fixed,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Owner(usize),
    Coroutine(usize),
    Scale(usize, u64),
}

/// Something that the host does in a frame.
#[derive(Clone, Copy, Debug)]
struct Deed {
    frame: u64,
    when: u8,
    what: What,
}

const OWNERS: usize = 4;
/// All times are a number of units, of which a 64th is a whole number.
const UNIT_NS: u64 = 16_000_000;
/// A fixed step, in units.
const STEP: u64 = 2;

/// No owner, or one of a tree: 0, 1 below 0, 2 below 1, 3 alone.
fn is_below(owner: Option<usize>, above: usize) -> bool {
    match owner {
        Some(3) => above == 3,
        Some(owner) => above <= owner,
        None => false,
    }
}

#[derive(Clone, Debug)]
struct Script {
    owner: Option<usize>,
    on: On,
    /// In units, one after another.
    lengths: Vec<u64>,
    /// Behind a combinator, which makes records.
    wrapped: bool,
}

#[derive(Clone, Debug)]
struct Program {
    scripts: Vec<Script>,
    deeds: Vec<Deed>,
    /// In units.
    frames: Vec<u64>,
}

/// Resumed: which script, in which frame, at which fixed time in nanoseconds.
type Trace = Vec<(usize, u64, u64)>;

fn units(n: u64) -> Duration {
    Duration::from_nanos(n * UNIT_NS)
}

/// The points of a frame at which the host does things.
const BEFORE: u8 = 0;
const BEGUN: u8 = 1;
const IN_FIRST_STEP: u8 = 2;
const STEPPED: u8 = 3;
const UPDATED: u8 = 4;

fn actual(program: &Program) -> Trace {
    let mut executor = Executor::builder()
        .max_delta(UNLIMITED)
        .fixed_delta(units(STEP))
        .build();
    let top = executor.owner();
    let middle = top.child();
    let low = middle.child();
    let owners: [Owner; OWNERS] = [top, middle, low, executor.owner()];
    let slow = executor.clock().child();
    let slower = slow.child();
    let clocks: [Clock; 3] = [executor.clock(), slow, slower];
    let trace = Rc::new(RefCell::new(Trace::new()));
    let started = program.scripts.iter().enumerate().map(|(index, script)| {
        let (trace, clocks, of) = (trace.clone(), clocks.clone(), script.clone());
        let run = async move {
            for length in of.lengths {
                let length = units(length);
                let wait = match of.on {
                    On::Game => wait_seconds(length).boxed_local(),
                    On::Realtime => wait_seconds_realtime(length).boxed_local(),
                    On::Slow => clocks[1].wait_seconds(length).boxed_local(),
                    On::Slower => clocks[2].wait_seconds(length).boxed_local(),
                    On::Fixed => wait_seconds(length)
                        .in_phase(Phase::FixedUpdate)
                        .boxed_local(),
                };
                if of.wrapped {
                    let mut one: FuturesUnordered<_> = [wait].into_iter().collect();
                    one.next().await.unwrap();
                } else {
                    wait.await;
                }
                let fixed_ns = u64::try_from(time().fixed_elapsed.as_nanos()).unwrap();
                trace.borrow_mut().push((index, time().frame, fixed_ns));
            }
        };
        match script.owner {
            Some(owner) => owners[owner].start(run),
            None => executor.start(run),
        }
    });
    let coroutines: Vec<Coroutine<()>> = started.collect();
    let act = |frame: u64, when: u8| {
        let now = program.deeds.iter();
        for deed in now.filter(|deed| deed.frame == frame && deed.when == when) {
            match deed.what {
                What::Owner(owner) => {
                    let owner = &owners[owner];
                    assert!(owner.pause() || owner.resume());
                }
                What::Coroutine(index) => {
                    let one = &coroutines[index];
                    assert!(one.pause() || one.resume() || one.is_finished());
                }
                What::Scale(clock, quarters) => {
                    clocks[clock].set_scale(f64::from(u32::try_from(quarters).unwrap()) / 4.0);
                }
            }
        }
    };
    for (frame, &dt) in (1..).zip(&program.frames) {
        act(frame, BEFORE);
        executor.begin_frame(units(dt));
        act(frame, BEGUN);
        let mut first = true;
        while executor.begin_fixed_step() {
            if first {
                act(frame, IN_FIRST_STEP);
            }
            first = false;
            executor.run_phase(Phase::FixedUpdate);
        }
        act(frame, STEPPED);
        executor.run_phase(Phase::Update);
        act(frame, UPDATED);
    }
    let mut trace = trace.borrow().clone();
    trace.sort_unstable();
    trace
}

/// Each coroutine has clocks of its own, which go on while it is not paused.
#[derive(Clone, Default)]
struct Model {
    paused: bool,
    now_ns: u64,
    deadline_ns: u64,
    began: u64,
    next: usize,
}

fn expected(program: &Program) -> Trace {
    let mut trace = Trace::new();
    let mut models = vec![Model::default(); program.scripts.len()];
    let mut owner_paused = [false; OWNERS];
    let mut scales = [4_u64; 3];
    let (mut game_ns, mut fixed_ns) = (0, 0);
    for (model, script) in models.iter_mut().zip(&program.scripts) {
        model.deadline_ns = script.lengths[0] * UNIT_NS;
    }
    for (frame, &dt) in (1..).zip(&program.frames) {
        macro_rules! act {
            ($when:expr) => {
                for deed in &program.deeds {
                    if (deed.frame, deed.when) == (frame, $when) {
                        match deed.what {
                            What::Owner(owner) => owner_paused[owner] ^= true,
                            What::Coroutine(index) => models[index].paused ^= true,
                            What::Scale(clock, quarters) => scales[clock] = quarters,
                        }
                    }
                }
            };
        }
        macro_rules! each_awake {
            (|$model:ident, $script:ident, $index:ident| $do:expr) => {
                for $index in 0..models.len() {
                    let $script = &program.scripts[$index];
                    let above = (0..OWNERS).any(|o| owner_paused[o] && is_below($script.owner, o));
                    let $model = &mut models[$index];
                    if !above && !$model.paused && $model.next < $script.lengths.len() {
                        $do
                    }
                }
            };
        }
        macro_rules! resume_due {
            ($phase:pat) => {
                each_awake!(|model, script, index| {
                    // Several in a frame, as there are several steps.
                    let later = matches!(script.on, On::Fixed) || frame > model.began;
                    let due = model.now_ns >= model.deadline_ns && later;
                    if matches!(script.on, $phase) && due {
                        trace.push((index, frame, fixed_ns));
                        model.next += 1;
                        model.began = frame;
                        if let Some(length) = script.lengths.get(model.next) {
                            model.deadline_ns = model.now_ns + length * UNIT_NS;
                        }
                    }
                })
            };
        }
        act!(BEFORE);
        let dt_ns = dt * UNIT_NS;
        let game = dt_ns * scales[0] / 4;
        let slow = game * scales[1] / 4;
        let slower = slow * scales[2] / 4;
        game_ns += game;
        each_awake!(|model, script, index| {
            model.now_ns += match script.on {
                On::Game => game,
                On::Realtime => dt_ns,
                On::Slow => slow,
                On::Slower => slower,
                On::Fixed => 0,
            };
        });
        act!(BEGUN);
        let mut first = true;
        while fixed_ns + STEP * UNIT_NS <= game_ns {
            fixed_ns += STEP * UNIT_NS;
            each_awake!(|model, script, index| {
                if matches!(script.on, On::Fixed) {
                    model.now_ns += STEP * UNIT_NS;
                }
            });
            if first {
                act!(IN_FIRST_STEP);
            }
            first = false;
            resume_due!(On::Fixed);
        }
        act!(STEPPED);
        resume_due!(On::Game | On::Realtime | On::Slow | On::Slower);
        act!(UPDATED);
    }
    trace.sort_unstable();
    trace
}

fn any_program() -> impl Strategy<Value = Program> {
    let on = prop_oneof![
        Just(On::Game),
        Just(On::Realtime),
        Just(On::Slow),
        Just(On::Slower),
        Just(On::Fixed),
    ];
    let lengths = prop::collection::vec(0_u64..40, 1..8);
    let script = (prop::option::of(0..OWNERS), on, lengths, any::<bool>());
    let script = script.prop_map(|(owner, on, lengths, wrapped)| Script {
        owner,
        on,
        lengths,
        wrapped,
    });
    let what = prop_oneof![
        4 => (0..OWNERS).prop_map(What::Owner),
        4 => (0_usize..8).prop_map(What::Coroutine),
        1 => (0_usize..3, 0_u64..9).prop_map(|(clock, scale)| What::Scale(clock, scale)),
    ];
    let deed = (1_u64..60, 0_u8..5, what);
    let deed = deed.prop_map(|(frame, when, what)| Deed { frame, when, what });
    (
        prop::collection::vec(script, 8),
        prop::collection::vec(deed, 0..60),
        prop::collection::vec(0_u64..12, 60),
    )
        .prop_map(|(scripts, deeds, frames)| Program {
            scripts,
            deeds,
            frames,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn seconds_pass_only_while_a_coroutine_is_not_paused(program in any_program()) {
        prop_assert_eq!(actual(&program), expected(&program));
    }
}
