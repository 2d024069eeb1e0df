//! Where a program runs.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::mpsc;

use framestep::Executor;
use framestep::prelude::*;

use super::Variant;
use crate::program::Program;
use crate::world::{Log, World};

/// A step in each poll of a script of another executor.
pub(super) fn in_a_script(program: &Rc<Program>) -> Log {
    let program = program.clone();
    let steps = program.steps.len() as u64;
    let mut outer = Executor::new();
    let log = outer
        .script("")
        .in_phase(Phase::LateUpdate)
        .spawn(async move {
            let world = World::new(&program, Variant::InAScript);
            for step in &program.steps {
                world.step(step);
                next_frame().await;
            }
            world.finish()
        });
    outer.run_frames(steps + 1, 0.1);
    let end = log.take_output().expect("it has ended");
    end.expect("it has not panicked")
}

/// Calls a function when it is dropped.
struct WhenDropped<F: FnMut()>(F);

impl<F: FnMut()> Drop for WhenDropped<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

pub(super) fn in_a_destructor(program: &Rc<Program>) -> Log {
    let log = Rc::new(RefCell::default());
    let (found, program) = (log.clone(), program.clone());
    let guard =
        WhenDropped(move || *found.borrow_mut() = World::run(&program, Variant::InADestructor));
    let outer = Executor::new();
    let script = outer.start(async move {
        let _guard = guard;
        std::future::pending::<()>().await;
    });
    script.stop();
    log.take()
}

pub(super) fn while_unwinding(program: &Rc<Program>) -> Log {
    let log = Cell::default();
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _guard = WhenDropped(|| log.set(World::run(program, Variant::WhileUnwinding)));
        resume_unwind(Box::new("on purpose"));
    }));
    assert!(unwound.is_err());
    log.take()
}

type AtExit = WhenDropped<Box<dyn FnMut()>>;

thread_local! {
    static LAST: RefCell<Option<AtExit>> = const { RefCell::new(None) };
}

pub(super) fn at_thread_exit(program: &Rc<Program>) -> Log {
    let (sender, receiver) = mpsc::channel();
    let program = Program::clone(program);
    let thread = std::thread::spawn(move || {
        let act = move || {
            let log = World::run(&Rc::new(program.clone()), Variant::AtThreadExit);
            sender.send(log).expect("it is awaited");
        };
        // Destructors of thread-locals run in the order of their first use, or the
        // other way round.
        LAST.set(Some(WhenDropped(Box::new(act))));
        drop(Executor::new());
    });
    let log = receiver.recv().expect("it is sent");
    thread.join().expect("it has not panicked");
    log
}

/// On two executors, step by step.
pub(super) fn twins(program: &Rc<Program>) -> Vec<Log> {
    let worlds = [(); 2].map(|()| World::new(program, Variant::Twins));
    for step in &program.steps {
        for world in &worlds {
            world.step(step);
        }
    }
    worlds.map(World::finish).into()
}
