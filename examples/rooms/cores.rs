//! The threads, one for each core, and their handles.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use framestep::task::RemoteHandle;

use crate::room::{Counts, Room, TICK};

/// An order to the thread of a core.
pub(crate) enum Order {
    /// Opens a room, and answers with its remote.
    Open(u64, Sender<(u64, RemoteHandle)>),
    Close(u64),
    /// Makes so many ticks at once, and counts.
    Run(u32, Sender<Counts>),
    /// Answers with how long the ticks since the last such order took.
    Report(Sender<Vec<Duration>>),
}

/// The state of a thread.
#[derive(Default)]
pub(crate) struct Core {
    rooms: BTreeMap<u64, Room>,
    took: Vec<Duration>,
}

impl Core {
    /// Ticks 30 times a second, until the other end of `orders` is gone.
    pub(crate) fn run(mut self, orders: &Receiver<Order>) {
        let (mut began, mut ticks) = (Instant::now(), 0);
        loop {
            loop {
                match orders.try_recv() {
                    Ok(order) => self.obey(order),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return,
                }
            }
            let tick_began = Instant::now();
            self.tick();
            self.took.push(tick_began.elapsed());
            ticks += 1;
            let next = TICK * ticks;
            if began.elapsed() > next + TICK {
                // More than a tick late, for example after opening rooms: the schedule
                // restarts.
                (began, ticks) = (Instant::now(), 0);
            } else {
                thread::sleep(next.saturating_sub(began.elapsed()));
            }
        }
    }

    /// Ticks when an order says so.
    pub(crate) fn run_on_order(mut self, orders: &Receiver<Order>) {
        for order in orders {
            self.obey(order);
        }
    }

    fn tick(&mut self) {
        self.rooms.values_mut().for_each(Room::tick);
    }

    /// A send fails only if the other end is gone. Then the answer is dropped.
    fn obey(&mut self, order: Order) {
        match order {
            Order::Open(number, answer) => {
                let room = Room::new(number);
                let _ = answer.send((number, room.executor.remote()));
                self.rooms.insert(number, room);
            }
            Order::Close(number) => drop(self.rooms.remove(&number)),
            Order::Run(ticks, answer) => {
                (0..ticks).for_each(|_| self.tick());
                let mut counts = Counts::default();
                self.rooms.values().for_each(|room| counts += room.counts());
                let _ = answer.send(counts);
            }
            Order::Report(answer) => {
                let _ = answer.send(std::mem::take(&mut self.took));
            }
        }
    }
}

/// The handle of the threads. It is `Send`: any thread may open and close rooms with it.
pub(crate) struct Cores {
    cores: Vec<(Sender<Order>, JoinHandle<()>)>,
    /// The core of each room.
    places: BTreeMap<u64, usize>,
    opened: u64,
}

impl Cores {
    pub(crate) fn new(threads: usize, run: fn(Core, &Receiver<Order>)) -> Self {
        let core = |_| {
            let (orders, receiver) = mpsc::channel();
            (
                orders,
                thread::spawn(move || run(Core::default(), &receiver)),
            )
        };
        Cores {
            cores: (0..threads).map(core).collect(),
            places: BTreeMap::new(),
            opened: 0,
        }
    }

    /// Opens rooms, each on the core that has the fewest. Returns their remotes, by number.
    pub(crate) fn open(&mut self, rooms: usize) -> BTreeMap<u64, RemoteHandle> {
        let (answer, remotes) = mpsc::channel();
        for _ in 0..rooms {
            let on = |core: &usize| self.places.values().filter(|place| *place == core).count();
            let least = (0..self.cores.len()).min_by_key(on).unwrap_or(0);
            self.places.insert(self.opened, least);
            self.send(least, Order::Open(self.opened, answer.clone()));
            self.opened += 1;
        }
        drop(answer);
        remotes.iter().collect()
    }

    /// Closes the oldest room, and returns its number.
    pub(crate) fn close_oldest(&mut self) -> u64 {
        let (number, core) = self.places.pop_first().expect("there is a room");
        self.send(core, Order::Close(number));
        number
    }

    fn send(&self, core: usize, order: Order) {
        let sent = self.cores[core].0.send(order);
        assert!(sent.is_ok(), "the thread of core {core} has ended");
    }

    pub(crate) fn rooms(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn threads(&self) -> usize {
        self.cores.len()
    }

    /// Sends an order to all cores, and collects their answers.
    pub(crate) fn ask<T>(&self, order: impl Fn(Sender<T>) -> Order) -> Vec<T> {
        let (answer, answers) = mpsc::channel();
        for core in 0..self.cores.len() {
            self.send(core, order(answer.clone()));
        }
        drop(answer);
        answers.iter().collect()
    }

    pub(crate) fn end(self) {
        for (orders, thread) in self.cores {
            drop(orders);
            assert!(thread.join().is_ok(), "a thread of rooms has panicked");
        }
    }
}
