//! Watching a room.

use std::fmt;

use tokio::time::{Instant, sleep, timeout};

use super::wire::{Shown, ShownView, channel, open_view};
use super::{BEGINS, ClientError, RoomClient, WATCHES};
use crate::entry::Player;
use crate::log::{Inbox, LogError};
use crate::news::Absence;
use crate::room::{Format, Room};

/// What a watcher sees after a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct View<V> {
    /// The frame of the room, from 1.
    pub frame: u64,
    /// Its view.
    pub view: V,
}

/// Watches a room.
pub struct Watch<R> {
    room: RoomClient<R>,
    inbox: Box<dyn Inbox>,
    said: Option<Instant>,
    /// The player as which it watches. `None` of one that only looks on.
    player: Option<Player>,
    /// The room and the frame of the last view.
    last: Option<(u64, u64)>,
    is_over: bool,
    skipped: u64,
}

/// What a watcher hears.
pub(super) enum Heard<V> {
    View(View<V>),
    /// There is no room, since the client has opened it.
    End(Absence),
}

impl<R> fmt::Debug for Watch<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Watch({})", self.room.room)
    }
}

impl<R> Watch<R> {
    /// How many messages were skipped that are no views. The servers send none: in an account of NATS
    /// that several players share, one of them may have named the room's views for an answer.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }
}

impl<R: Room> Watch<R> {
    /// A watch of a player, or of one that only looks on.
    pub(super) async fn begin(
        room: &RoomClient<R>,
        player: Option<Player>,
    ) -> Result<Self, ClientError> {
        let mut watch = Watch {
            room: room.clone(),
            inbox: room.hear(player.as_ref()).await?,
            said: None,
            player,
            last: None,
            is_over: false,
            skipped: 0,
        };
        watch.say().await?;
        Ok(watch)
    }

    /// Says that it watches, once in a while.
    async fn say(&mut self) -> Result<(), ClientError> {
        if self.said.is_none_or(|said| said.elapsed() >= WATCHES) {
            let is_first = self.said.replace(Instant::now()).is_none();
            let body = if is_first { BEGINS } else { b"" };
            let RoomClient { shard, room, .. } = &self.room;
            let channel = channel("watch", *shard, room, self.player.as_ref());
            let said = self.room.client.log.say(&channel, body.to_vec()).await;
            // What was lost is said again.
            if let Err(why @ LogError::NotAllowed(_)) = said {
                return Err(why.into());
            }
        }
        Ok(())
    }

    /// The next view, which is later than the one before, and mostly another one. `None` if the room is
    /// over: its last view came before. It waits while the room has no owner.
    ///
    /// Of a room that this client has not [opened](crate::Client::open), it also waits until somebody opens it.
    /// Messages that are no views are [skipped](Self::skipped).
    ///
    /// # Cancel safety
    ///
    /// No view is lost that has arrived.
    ///
    /// # Errors
    ///
    /// - [`ClientError::NoRoom`] if the room is broken, or the client's `open` had no effect.
    /// - [`LogError::NotAllowed`] if the player may not watch, after a second.
    /// - [`ClientError::Settings`] if a view is not an `R::View`: server and client differ.
    pub async fn next(&mut self) -> Result<Option<View<R::View>>, ClientError> {
        while !self.is_over {
            match self.hear().await? {
                Heard::View(view) => return Ok(Some(view)),
                Heard::End(Absence::Broken) => return Err(self.room.absent(&Absence::Broken)),
                Heard::End(_) if self.last.is_some() => self.is_over = true,
                // It was opened, and is over already.
                Heard::End(Absence::Over) if self.room.opened.is_some() => self.is_over = true,
                Heard::End(why) if self.room.opened.is_some() => {
                    return Err(self.room.absent(&why));
                }
                // It may be opened later.
                Heard::End(_) => {}
            }
        }
        Ok(None)
    }

    /// The next message of the node that runs the room.
    pub(super) async fn hear(&mut self) -> Result<Heard<R::View>, ClientError> {
        loop {
            self.say().await?;
            match timeout(WATCHES, self.inbox.next()).await {
                Ok(Some(message)) => {
                    let Some(shown) = open_view(&message.body) else {
                        self.skipped += 1;
                        continue;
                    };
                    match shown {
                        // A node that has just lost the room may still send one of before.
                        Shown::View(ShownView { at, .. })
                            if self.last.is_some_and(|last| at <= last) => {}
                        Shown::View(ShownView {
                            at,
                            last_entry,
                            view,
                        }) => {
                            let frame = at.1;
                            let RoomClient { client, shard, .. } = &self.room;
                            client.places.hear(*shard, last_entry);
                            self.last = Some(at);
                            let view = Format::read(view).map_err(|why| self.room.differs(&why))?;
                            return Ok(Heard::View(View { frame, view }));
                        }
                        // It is of the time before.
                        Shown::End(at, _) if self.room.opened.is_some_and(|opened| at < opened) => {
                        }
                        Shown::End(_, why) => return Ok(Heard::End(why)),
                    }
                }
                Ok(None) => match self.room.hear(self.player.as_ref()).await {
                    Ok(inbox) => self.inbox = inbox,
                    Err(why @ LogError::NotAllowed(_)) => return Err(why.into()),
                    Err(_) => sleep(WATCHES).await,
                },
                Err(_) => {}
            }
        }
    }
}

impl<R: Room> RoomClient<R> {
    fn differs(&self, why: &str) -> ClientError {
        ClientError::Settings(format!(
            "a view of room `{}` is not one of a `{}`: server and client are of different versions, or the \
             room is of another kind ({why})",
            self.room,
            R::NAME
        ))
    }
}
