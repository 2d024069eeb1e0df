//! What GGRS needs from a game: it requests saves, loads and steps.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use ggrs::{
    Config, DesyncDetection, Frame, GgrsError, GgrsEvent, GgrsRequest, P2PSession, PlayerType,
    PredictRepeatLast, SessionBuilder, SessionState,
};

use crate::game::{Game, Saved};
use crate::network::{Network, Quality, Socket};
use crate::random::mix;
use crate::world::Buttons;

/// The types of this game.
#[derive(Debug)]
pub(crate) struct Rollback;

impl Config for Rollback {
    type Input = Buttons;
    type InputPredictor = PredictRepeatLast;
    type State = Saved;
    type Address = usize;
}

/// How many frames GGRS may go back.
pub(crate) const PREDICTION: usize = 8;
pub(crate) const INPUT_DELAY: usize = 1;
/// How many saves a peer keeps.
const KEPT: usize = 600;

/// The buttons that a player holds in a frame: new random ones every eight frames, and always
/// fire.
pub(crate) fn buttons_of(seed: u64, player: usize, frame: Frame) -> Buttons {
    let moment = u64::from(frame.unsigned_abs()) / 8;
    let held = mix(&[seed, player as u64, moment]);
    Buttons(held.to_le_bytes()[0] | Buttons::FIRE)
}

impl Game {
    /// Carries out the requests of GGRS. Returns the checksums of the saved frames.
    pub(crate) fn fulfil(&mut self, requests: Vec<GgrsRequest<Rollback>>) -> Fulfilled {
        let mut fulfilled = Fulfilled::default();
        for request in requests {
            match request {
                GgrsRequest::SaveGameState { cell, frame } => {
                    let saved = self.save();
                    let checksum = saved.checksum();
                    cell.save(frame, Some(saved.clone()), Some(checksum));
                    fulfilled.saved.push((frame, saved, checksum));
                }
                GgrsRequest::LoadGameState { cell, .. } => {
                    self.go_back_to(&cell.data().expect("it was saved"));
                    fulfilled.has_loaded = true;
                }
                GgrsRequest::AdvanceFrame { inputs } => {
                    self.advance([inputs[0].0, inputs[1].0]);
                    fulfilled.advanced += 1;
                }
            }
        }
        fulfilled
    }
}

/// What has been done for GGRS.
#[derive(Debug, Default)]
pub(crate) struct Fulfilled {
    pub(crate) saved: Vec<(Frame, Saved, u128)>,
    pub(crate) has_loaded: bool,
    pub(crate) advanced: u32,
}

/// What happened to a peer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    pub(crate) rollbacks: u32,
    /// Frames that were simulated again.
    pub(crate) again: u32,
    pub(crate) deepest: u32,
    /// Ticks without a frame, because no packet of the other peer had arrived for too long.
    pub(crate) stalls: u32,
    /// The frame in which GGRS has found that the peers differ.
    pub(crate) desync: Option<Frame>,
}

pub(crate) struct Peer {
    player: usize,
    seed: u64,
    session: P2PSession<Rollback>,
    pub(crate) game: Game,
    pub(crate) told: Told,
    /// The checksum of each frame in its last save.
    checksums: Vec<u128>,
    /// The last saves of the last [`KEPT`] frames: they tell what differs if the peers do.
    saves: BTreeMap<usize, Saved>,
}

impl Peer {
    fn new(seed: u64, player: usize, network: &Rc<RefCell<Network>>) -> Result<Self, GgrsError> {
        let socket = Socket {
            of: player,
            network: Rc::clone(network),
        };
        // Nobody is disconnected by a slow machine.
        let long = Duration::from_secs(3_600);
        let session = SessionBuilder::new()
            .with_num_players(2)?
            .with_max_prediction_window(PREDICTION)
            .with_input_delay(INPUT_DELAY)
            .with_desync_detection_mode(DesyncDetection::On { interval: 10 })
            .with_disconnect_timeout(long)
            .with_disconnect_notify_delay(long)
            .add_player(PlayerType::Local, player)?
            .add_player(PlayerType::Remote(1 - player), 1 - player)?
            .start_p2p_session(socket)?;
        Ok(Peer {
            player,
            seed,
            session,
            game: Game::new(seed),
            told: Told::default(),
            checksums: Vec::new(),
            saves: BTreeMap::new(),
        })
    }

    pub(crate) fn frame(&self) -> Frame {
        self.session.current_frame()
    }

    /// Plays a frame, if GGRS lets it.
    fn tick(&mut self) {
        let buttons = buttons_of(self.seed, self.player, self.frame());
        let added = self.session.add_local_input(self.player, buttons);
        added.expect("the player is local");
        let requests = match self.session.advance_frame() {
            Ok(requests) => requests,
            Err(GgrsError::PredictionThreshold) => return self.told.stalls += 1,
            Err(error) => panic!("{error}"),
        };
        for event in self.session.events() {
            if let GgrsEvent::DesyncDetected { frame, .. } = event {
                self.told.desync.get_or_insert(frame);
            }
        }
        let fulfilled = self.game.fulfil(requests);
        for (frame, saved, checksum) in fulfilled.saved {
            let frame = usize::try_from(frame).expect("no frame before the first");
            self.checksums.truncate(frame);
            self.checksums.push(checksum);
            self.saves.insert(frame, saved);
            if self.saves.len() > KEPT {
                self.saves.pop_first();
            }
        }
        if fulfilled.has_loaded {
            let depth = fulfilled.advanced - 1;
            self.told.rollbacks += 1;
            self.told.again += depth;
            self.told.deepest = self.told.deepest.max(depth);
        }
    }

    /// The checksums of the frames that no input can change any more.
    pub(crate) fn confirmed(&self) -> &[u128] {
        let confirmed = usize::try_from(self.session.confirmed_frame()).unwrap_or(0);
        &self.checksums[..confirmed.min(self.checksums.len())]
    }

    /// The first confirmed frame in which the scripts of both differ, and what differs. Of two
    /// machines, each would write its save of the frame to a file.
    pub(crate) fn difference(&self, other: &Peer) -> Option<(usize, String)> {
        let confirmed = self.confirmed().len().min(other.confirmed().len());
        self.saves.range(..confirmed).find_map(|(&frame, mine)| {
            let difference = mine.difference(other.saves.get(&frame)?)?;
            Some((frame, difference))
        })
    }

    /// Compares the confirmed frames of both. Returns how many there are.
    pub(crate) fn compare_with(&self, other: &Peer) -> usize {
        let pairs = || self.confirmed().iter().zip(other.confirmed());
        let different = pairs().position(|(mine, others)| mine != others);
        assert_eq!(different, None, "the first frame in which the peers differ");
        pairs().count()
    }
}

/// Two peers and the network between them.
pub(crate) struct Pair {
    pub(crate) peers: [Peer; 2],
    network: Rc<RefCell<Network>>,
    pub(crate) ticks: u32,
}

impl Pair {
    /// Connects two peers over a perfect network, because GGRS repeats lost greetings by the
    /// wall clock. Then the network gets the given quality.
    pub(crate) fn connect(seed: u64, quality: Quality) -> Self {
        let network = Network::new(seed, Quality::perfect(1));
        let peer = |player| Peer::new(seed, player, &network).expect("valid settings");
        let mut peers = [peer(0), peer(1)];
        let is_running = |peer: &Peer| peer.session.current_state() == SessionState::Running;
        while !peers.iter().all(is_running) {
            network.borrow_mut().tick += 1;
            assert!(network.borrow().tick < 100, "the peers do not connect");
            for peer in &mut peers {
                peer.session.poll_remote_clients();
            }
        }
        network.borrow_mut().set_quality(quality);
        Pair {
            peers,
            network,
            ticks: 0,
        }
    }

    /// Plays until both peers have confirmed this many frames.
    pub(crate) fn play(&mut self, frames: u32) {
        let frames = frames as usize;
        let goes_on = |peer: &Peer| peer.confirmed().len() < frames;
        while self.peers.iter().any(goes_on) {
            self.network.borrow_mut().tick += 1;
            self.peers.iter_mut().for_each(Peer::tick);
            self.ticks += 1;
            assert!(self.ticks as usize <= 2 * frames, "the peers hang");
        }
    }

    pub(crate) fn sent(&self) -> u32 {
        self.network.borrow().sent
    }

    pub(crate) fn lost(&self) -> u32 {
        self.network.borrow().lost
    }
}
