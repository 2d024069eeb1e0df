//! Where a program runs.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::mpsc;

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::program::{Program, Trace};

use super::Variant;

/// A step in each poll of a script of another executor.
pub(super) fn in_a_script(program: &Rc<Program>) -> Trace {
    let program = program.clone();
    let steps = program.steps.len() as u64;
    let mut outer = Executor::new();
    let trace = outer
        .script("")
        .in_phase(Phase::LateUpdate)
        .spawn(async move {
            let world = Variant::InAScript.world(&program);
            for step in &program.steps {
                world.step(step);
                next_frame().await;
            }
            world.finish().0
        });
    outer.run_frames(steps + 1, 0.1);
    let end = trace.take_output().expect("it has ended");
    end.expect("it has not panicked")
}

/// Calls a function when it is dropped.
struct WhenDropped<F: FnMut()>(F);

impl<F: FnMut()> Drop for WhenDropped<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

pub(super) fn in_a_destructor(program: &Rc<Program>) -> Trace {
    let trace = Rc::new(RefCell::default());
    let (found, program) = (trace.clone(), program.clone());
    let guard = WhenDropped(move || *found.borrow_mut() = Variant::InADestructor.run(&program));
    let outer = Executor::new();
    let script = outer.start(async move {
        let _guard = guard;
        std::future::pending::<()>().await;
    });
    script.stop();
    trace.take()
}

pub(super) fn while_unwinding(program: &Rc<Program>) -> Trace {
    let trace = Cell::default();
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _guard = WhenDropped(|| trace.set(Variant::WhileUnwinding.run(program)));
        resume_unwind(Box::new("on purpose"));
    }));
    assert!(unwound.is_err());
    trace.take()
}

type AtExit = WhenDropped<Box<dyn FnMut()>>;

thread_local! {
    static LAST: RefCell<Option<AtExit>> = const { RefCell::new(None) };
}

pub(super) fn at_thread_exit(program: &Rc<Program>) -> Trace {
    let (sender, receiver) = mpsc::channel();
    let program = Program::clone(program);
    let thread = std::thread::spawn(move || {
        let act = move || {
            let trace = Variant::AtThreadExit.run(&Rc::new(program.clone()));
            sender.send(trace).expect("it is awaited");
        };
        // Destructors of thread-locals run in the order of their first use, or the
        // other way round.
        LAST.set(Some(WhenDropped(Box::new(act))));
        drop(Executor::new());
    });
    let trace = receiver.recv().expect("it is sent");
    thread.join().expect("it has not panicked");
    trace
}

/// On two executors, step by step.
pub(super) fn twins(program: &Rc<Program>) -> Vec<Trace> {
    let worlds = [(); 2].map(|()| Variant::Twins.world(program));
    for step in &program.steps {
        for world in &worlds {
            world.step(step);
        }
    }
    worlds.map(|world| world.finish().0).into()
}
