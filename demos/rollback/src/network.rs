//! A network between two peers that loses and delays packets, the same packets in every run.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use ggrs::{Message, NonBlockingSocket};

use crate::random::mix;

/// How good a network is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quality {
    /// How many ticks a packet takes.
    fastest: u32,
    slowest: u32,
    loss_percent: u32,
}

impl Quality {
    pub(crate) fn new(fastest: u32, slowest: u32, loss_percent: u32) -> Self {
        Quality {
            fastest,
            slowest,
            loss_percent,
        }
    }

    pub(crate) fn perfect(delay: u32) -> Self {
        Self::new(delay, delay, 0)
    }
}

impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Quality {
            fastest, slowest, ..
        } = self;
        let ms = |ticks: u32| ticks * 1_000 / 60;
        write!(f, "{} to {} ms, ", ms(*fastest), ms(*slowest))?;
        write!(f, "{} % loss", self.loss_percent)
    }
}

#[derive(Debug)]
pub(crate) struct Network {
    quality: Quality,
    seed: u64,
    pub(crate) tick: u32,
    in_flight: Vec<Packet>,
    pub(crate) sent: u32,
    pub(crate) lost: u32,
}

#[derive(Debug)]
struct Packet {
    arrives: u32,
    to: usize,
    message: Message,
}

impl Network {
    pub(crate) fn new(seed: u64, quality: Quality) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Network {
            quality,
            seed,
            tick: 0,
            in_flight: Vec::new(),
            sent: 0,
            lost: 0,
        }))
    }

    pub(crate) fn set_quality(&mut self, quality: Quality) {
        self.quality = quality;
    }

    /// All packets of a peer in one tick are lost or delayed together. GGRS sends some packets
    /// by the wall clock, and these must not affect other packets.
    fn send(&mut self, from: usize, to: usize, message: Message) {
        let fate = mix(&[self.seed, u64::from(self.tick), from as u64]);
        let Quality {
            fastest,
            slowest,
            loss_percent,
        } = self.quality;
        self.sent += 1;
        if fate % 100 < u64::from(loss_percent) {
            self.lost += 1;
            return;
        }
        let spread = (fate >> 32) % u64::from(slowest - fastest + 1);
        self.in_flight.push(Packet {
            arrives: self.tick + fastest + u32::try_from(spread).expect("a few ticks"),
            to,
            message,
        });
    }

    fn receive(&mut self, to: usize) -> Vec<(usize, Message)> {
        let tick = self.tick;
        let (arrived, in_flight) = std::mem::take(&mut self.in_flight)
            .into_iter()
            .partition(|packet| packet.to == to && packet.arrives <= tick);
        self.in_flight = in_flight;
        let arrived: Vec<Packet> = arrived;
        let arrived = arrived.into_iter().map(|packet| (1 - to, packet.message));
        arrived.collect()
    }
}

/// A peer's end of the network.
#[derive(Clone, Debug)]
pub(crate) struct Socket {
    pub(crate) of: usize,
    pub(crate) network: Rc<RefCell<Network>>,
}

impl NonBlockingSocket<usize> for Socket {
    fn send_to(&mut self, message: &Message, to: &usize) {
        self.network
            .borrow_mut()
            .send(self.of, *to, message.clone());
    }

    fn receive_all_messages(&mut self) -> Vec<(usize, Message)> {
        self.network.borrow_mut().receive(self.of)
    }
}
