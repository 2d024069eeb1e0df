//! Where an executor sends its jobs, and the order in which it takes their results.
//!
//! A job that has ended sends a [`Delivery`] to the executor: the next run takes it as it begins. If the
//! order of the calls counts, it stands in a line until those before it have arrived. A delivery is made
//! when it is dropped. So whatever happens to it, no script waits for a result that there is.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::{fmt, io, thread};

use crate::core::Core;
use crate::core::base::call::{self, Foreign};
use crate::core::base::cell::Guarded;
use crate::core::scope;
use crate::core::wake::waker::sync::Arc;
use crate::core::wake::waker::{InjectionQueue, Message};

use super::work::Delivery;

/// A job of [`offload`](super::offload), as the pool of
/// [`Builder::offload`](crate::Builder::offload) receives it: a call for any thread. It never unwinds.
pub type Job = Box<dyn FnOnce() + Send>;

/// The function of the host that receives jobs. A call of it may end the executor, which drops it.
type HostPool = Foreign<Box<dyn Fn(Job)>>;

/// What the host does with jobs.
#[derive(Clone, Default)]
pub(crate) enum Workers {
    /// A thread for each job.
    #[default]
    Threads,
    Pool(Rc<HostPool>),
    /// The executor has ended, and with it the pool.
    Nobody,
}

impl Workers {
    pub(crate) fn pool(pool: impl Fn(Job) + 'static) -> Self {
        Workers::Pool(Rc::new(Foreign::new(Box::new(pool))))
    }
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Workers::Threads => "Threads",
            Workers::Pool(_) => "Pool",
            Workers::Nobody => "Nobody",
        })
    }
}

/// The jobs of an executor.
pub(crate) struct Pool {
    workers: RefCell<Workers>,
    /// If their results arrive in the order of the calls.
    line: Option<Guarded<Line>>,
}

/// The jobs whose results have not arrived in order.
#[derive(Default)]
struct Line {
    /// The number of the first.
    first: u64,
    places: VecDeque<Place>,
}

enum Place {
    /// Its job has not ended.
    Open,
    /// Its job has ended, but not all before it.
    Ended(Delivery),
    /// Nothing waits for it any more.
    Left,
}

impl Pool {
    pub(crate) fn new(workers: Workers, in_order: bool) -> Self {
        Pool {
            workers: RefCell::new(workers),
            line: in_order.then(Guarded::default),
        }
    }

    /// Gives a call its place.
    pub(super) fn ticket(&self, core: &Core) -> Ticket {
        let number = self.line.as_ref().map(|line| {
            let line = &mut *line.borrow_mut();
            line.places.push_back(Place::Open);
            line.first + line.places.len() as u64 - 1
        });
        Ticket {
            injected: core.host.injected.clone(),
            number,
        }
    }

    /// Sends a job. Calls user code. `fail` receives the error if no thread could be started.
    pub(super) fn send(&self, job: Job, fail: &dyn Fn(io::Error)) {
        let workers = self.workers.borrow().clone();
        match workers {
            Workers::Threads => {
                let thread = thread::Builder::new().name("offload".into());
                if let Err(error) = thread.spawn(job) {
                    fail(error);
                }
            }
            Workers::Pool(pool) => call::out(|| pool.get()(job)),
            Workers::Nobody => drop(job),
        }
    }

    /// Drops the pool, which may own handles of the executor that ends, and delivers what has arrived.
    pub(crate) fn close(&self) {
        let workers = self.workers.replace(Workers::Nobody);
        let line = self.line.as_ref().map(Guarded::take);
        drop((workers, line));
    }
}

impl Line {
    /// Notes that a place is open no more. Returns what is not needed: nothing waits there.
    fn note(&mut self, number: u64, place: Place) -> Option<Place> {
        let index = number.checked_sub(self.first);
        let index = index.and_then(|index| usize::try_from(index).ok());
        match index.and_then(|index| self.places.get_mut(index)) {
            Some(open @ Place::Open) => {
                *open = place;
                None
            }
            _ => Some(place),
        }
    }

    /// Takes the first place, unless it is open.
    fn next(&mut self) -> Option<Place> {
        if let Place::Open = self.places.front()? {
            return None;
        }
        self.first += 1;
        self.places.pop_front()
    }
}

/// Takes what arrives in a line, when a run begins. Calls user code: the wakers of those whose turn it is.
fn take(core: &Core, number: u64, place: Place) {
    let Some(line) = &core.pool.line else {
        return;
    };
    let unneeded = line.borrow_mut().note(number, place);
    drop(unneeded);
    loop {
        let next = line.borrow_mut().next();
        match next {
            Some(Place::Ended(delivery)) => drop(delivery),
            Some(_) => {}
            None => return,
        }
    }
}

/// Notes that nothing waits for the result of this call any more, when the next run begins.
pub(super) fn leave(core: &Core, number: u64) {
    let order = scope::order(move |core| take(core, number, Place::Left));
    let pushed = core.host.injected.push(Message::Call(order));
    drop(pushed);
}

/// The way back from a job to its executor.
pub(super) struct Ticket {
    injected: Arc<InjectionQueue>,
    number: Option<u64>,
}

impl Ticket {
    pub(super) fn number(&self) -> Option<u64> {
        self.number
    }

    /// Sends a delivery to the executor. If that has ended, it is made here.
    pub(super) fn arrive(&mut self, delivery: Delivery) {
        let order = match self.number {
            Some(number) => scope::order(move |core| take(core, number, Place::Ended(delivery))),
            None => scope::order(move |_| drop(delivery)),
        };
        let pushed = self.injected.push(Message::Call(order));
        drop(pushed);
    }
}
