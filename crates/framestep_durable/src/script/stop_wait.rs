//! The wait for a request to stop.

use std::panic::{Location, resume_unwind};

use framestep::durable::{Begun, Event, EventNote, Given};

use crate::script::recorder::Polling;
use crate::script::slot::Shown;
use crate::script::{Pending, ScriptCell, Slot};

const OVER: Begun = Begun::Over(Given::Nothing);

impl ScriptCell {
    /// Whether the script, which wants to know, has been requested to stop. Then it has read the request.
    pub(crate) fn reads_request(&self) -> bool {
        let shared = self.shared();
        let is_asked = shared.stops.is_asked(self.id);
        if is_asked {
            shared.owners.note_heard(self.owner);
        }
        is_asked
    }

    /// Polls the wait, which has no ticket at first.
    pub(super) fn poll_stop_wait(
        &self,
        ticket: Option<u64>,
        call: &'static str,
        at: &'static Location<'static>,
    ) -> Begun {
        self.expect_outside_of_closures(call, at);
        let number = match ticket {
            Some(ticket) => self.expect_number_of(ticket, call),
            None => self.take_number(),
        };
        let known = self.site_of(number);
        let site = known.unwrap_or_else(|| self.site_at(call, at));
        // One that code has which was changed since a save has been dropped by the load: it begins now.
        let is_lost = known.is_none() && self.begins_new_wait(number, Some(Event::Stop));
        match self.polling(number, site) {
            Polling::Ended(_) => {
                drop(self.remove_wait(number));
                return OVER;
            }
            Polling::Failed(message) => {
                drop(self.remove_wait(number));
                resume_unwind(Box::new(message));
            }
            // It gets its state when the replay ends.
            Polling::Pending if ticket.is_none() => self.add_wait(Pending {
                number,
                site,
                slot: Slot::Replayed,
                shown: Some(Box::new(Shown {
                    event: Event::Stop,
                    note: None,
                })),
            }),
            Polling::Live if self.reads_request() => {
                self.record_end(number, &[], site);
                drop(self.remove_wait(number));
                return OVER;
            }
            Polling::Live if ticket.is_none() || is_lost => {
                let note = EventNote::begin(Event::Stop, None, at);
                self.add_wait(Pending {
                    number,
                    site,
                    slot: Slot::Stop(self.events().next_ticket()),
                    shown: Some(Box::new(Shown {
                        event: Event::Stop,
                        note,
                    })),
                });
            }
            Polling::Pending | Polling::Live => {}
        }
        Begun::Pending(self.ticket(number))
    }
}
