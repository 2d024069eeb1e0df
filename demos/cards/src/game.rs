//! The game: each player has a hand that nobody else sees. In each of five rounds, the highest card wins.
//! Then there may be a rematch.

use framestep_durable::prelude::*;
use framestep_rooms::{Player, Presence, Room};

/// The most players of a table.
const SEATS: usize = 4;
/// The cards of a hand, and so the rounds of a match.
const HAND: usize = 5;
/// How long a round lasts at most, in seconds. Then the lowest card of a hand is played.
const ROUND: u32 = 20;
/// How long a table waits for a rematch, in seconds.
const REMATCH: u32 = 30;

/// All who are there have done what the table waits for.
const ALL: Signal<()> = signal("all");

/// What a player does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Act {
    /// Wants to play, or to play again.
    Ready,
    /// Puts a card of its hand down.
    Play(u8),
}

/// What a table does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Phase {
    /// Waits for two players at least who are ready.
    Lobby,
    /// A round, from 1.
    Round(u8),
    /// Shows who has won, and waits for a rematch.
    Ended,
    /// Nobody wants another one.
    Closed,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Seat {
    player: Player,
    hand: Vec<u8>,
    played: Option<u8>,
    won: u32,
    is_here: bool,
    is_ready: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Table {
    seats: Vec<Seat>,
    phase: Phase,
    seconds_left: u32,
    /// The state of the generator of random numbers, which nobody sees.
    seed: u64,
    matches: u32,
    said: String,
}

/// What is seen of a player.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SeatView {
    pub(crate) player: String,
    pub(crate) cards: usize,
    pub(crate) has_played: bool,
    pub(crate) won: u32,
    pub(crate) is_here: bool,
    pub(crate) is_ready: bool,
}

/// What is seen of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct View {
    pub(crate) seats: Vec<SeatView>,
    pub(crate) phase: Phase,
    pub(crate) seconds_left: u32,
    pub(crate) matches: u32,
    pub(crate) said: String,
    /// The hand of the player whose view it is, and nobody else's.
    pub(crate) hand: Vec<u8>,
}

/// Waits, second by second, until all have done their part or the time is over.
#[durable]
async fn countdown(seconds: u32) {
    for left in (1..=seconds).rev() {
        let is_complete = with(move |table: &mut Table| {
            table.seconds_left = left;
            table.is_complete()
        });
        if is_complete || timeout(1, ALL.wait()).await.is_ok() {
            break;
        }
    }
    with(|table: &mut Table| table.seconds_left = 0);
}

/// A round of a match, from 1. The round 0 waits for players.
#[durable]
async fn play(round: u8) -> Chapter {
    if round == 0 {
        ALL.wait().await;
        with(Table::deal);
        return Chapter::Next(play(1));
    }
    with(move |table: &mut Table| table.begin(round));
    let _ = join(spawn(countdown(ROUND))).await;
    with(Table::score);
    wait_seconds(1.5).await; // so that all see who has won
    if usize::from(round) < HAND {
        return Chapter::Next(play(round + 1));
    }
    with(Table::end);
    let _ = join(spawn(countdown(REMATCH))).await;
    if with(|table: &mut Table| table.is_rematch()) {
        with(Table::deal);
        return Chapter::Next(play(1));
    }
    with(|table: &mut Table| table.phase = Phase::Closed);
    Chapter::Done(())
}

impl Table {
    fn seat(&mut self, player: &Player) -> Option<&mut Seat> {
        self.seats.iter_mut().find(|seat| seat.player == *player)
    }

    /// A random number below a bound: the same on each node.
    fn random(&mut self, below: usize) -> usize {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.seed >> 33).unwrap_or(0) % below
    }

    fn deal(&mut self) {
        self.seats.retain(|seat| seat.is_here && seat.is_ready);
        let mut deck: Vec<u8> = (1..=40).collect();
        for place in (1..deck.len()).rev() {
            let other = self.random(place + 1);
            deck.swap(place, other);
        }
        for seat in &mut self.seats {
            seat.hand = deck.split_off(deck.len() - HAND);
            seat.hand.sort_unstable();
            (seat.won, seat.is_ready) = (0, false);
        }
        self.matches += 1;
        "the cards are dealt".clone_into(&mut self.said);
    }

    fn begin(&mut self, round: u8) {
        self.phase = Phase::Round(round);
        for seat in &mut self.seats {
            seat.played = None;
        }
    }

    fn score(&mut self) {
        for seat in &mut self.seats {
            if seat.played.is_none() && !seat.hand.is_empty() {
                seat.played = Some(seat.hand.remove(0));
            }
        }
        if let Some(best) = self.seats.iter_mut().max_by_key(|seat| seat.played) {
            best.won += 1;
            let card = best.played.unwrap_or(0);
            self.said = format!("{} wins the round with {card}", best.player);
        }
    }

    fn end(&mut self) {
        self.phase = Phase::Ended;
        let most = self.seats.iter().map(|seat| seat.won).max().unwrap_or(0);
        let winners = self.seats.iter().filter(|seat| seat.won == most);
        let names: Vec<String> = winners.map(|seat| seat.player.to_string()).collect();
        self.said = format!("{} with {most} rounds. A rematch?", names.join(" and "));
    }

    fn is_rematch(&self) -> bool {
        let ready = self
            .seats
            .iter()
            .filter(|seat| seat.is_here && seat.is_ready);
        ready.count() >= 2
    }

    /// Whether the table waits for nobody any more.
    fn is_complete(&self) -> bool {
        let mut here = self.seats.iter().filter(|seat| seat.is_here);
        match self.phase {
            Phase::Lobby | Phase::Ended => {
                here.clone().count() >= 2 && here.all(|seat| seat.is_ready)
            }
            Phase::Round(_) => here.all(|seat| seat.played.is_some()),
            Phase::Closed => false,
        }
    }

    fn look(&self, runtime: &Runtime) {
        if self.is_complete() {
            runtime.named(&ALL).emit(());
        }
    }
}

impl Room for Table {
    const NAME: &'static str = "table";
    const VIEW_PER_PLAYER: bool = true;
    /// The seed of the cards. The log has it, which players cannot read.
    type Args = u64;
    type Input = Act;
    type View = View;

    fn registry() -> Registry {
        Registry::new().script(countdown).script(play)
    }

    fn open(runtime: &Runtime, seed: u64) -> Self {
        runtime.spawn(play(0)).detach();
        Table {
            seats: Vec::new(),
            phase: Phase::Lobby,
            seconds_left: 0,
            seed,
            matches: 0,
            said: "waits for players".to_owned(),
        }
    }

    fn input(&mut self, runtime: &Runtime, player: Player, act: Act) {
        let is_round = matches!(self.phase, Phase::Round(_));
        let Some(seat) = self.seat(&player) else {
            return;
        };
        match act {
            Act::Ready => seat.is_ready = true,
            Act::Play(card) if is_round && seat.played.is_none() => {
                if let Some(place) = seat.hand.iter().position(|it| *it == card) {
                    seat.played = Some(seat.hand.remove(place));
                }
            }
            Act::Play(_) => {}
        }
        self.look(runtime);
    }

    fn presence(&mut self, runtime: &Runtime, player: Player, presence: Presence) {
        let is_here = matches!(presence, Presence::Joined | Presence::Returned);
        self.said = format!("{player}: {presence:?}");
        let is_free = self.seats.len() < SEATS && self.phase == Phase::Lobby;
        if let Some(seat) = self.seat(&player) {
            seat.is_here = is_here;
        } else if is_here && is_free {
            self.seats.push(Seat {
                player,
                hand: Vec::new(),
                played: None,
                won: 0,
                is_here,
                is_ready: false,
            });
        }
        self.look(runtime);
    }

    fn view(&self) -> View {
        let seen = |seat: &Seat| SeatView {
            player: seat.player.to_string(),
            cards: seat.hand.len(),
            has_played: seat.played.is_some(),
            won: seat.won,
            is_here: seat.is_here,
            is_ready: seat.is_ready,
        };
        View {
            seats: self.seats.iter().map(seen).collect(),
            phase: self.phase,
            seconds_left: self.seconds_left,
            matches: self.matches,
            said: self.said.clone(),
            hand: Vec::new(),
        }
    }

    fn view_for(&self, player: &Player) -> View {
        let own = self.seats.iter().find(|seat| seat.player == *player);
        View {
            hand: own.map_or(Vec::new(), |seat| seat.hand.clone()),
            ..self.view()
        }
    }

    fn is_over(&self) -> bool {
        self.phase == Phase::Closed
    }
}
