//! Scripts that have ended by a panic since code was exchanged: mended code does not bring them back.

use framestep_durable::{Runtime, ScriptId};

/// What is known of them.
#[derive(Debug, Default)]
pub(crate) struct Panics {
    /// How many panics of the runtime have been looked at.
    heard: u64,
    /// The scripts that have panicked since the latest exchange, each with its frame. In a loop of the history, the
    /// same one does so again and again.
    since: Vec<(ScriptId, u64)>,
    exchanges: u32,
    /// The frame of the latest exchange.
    frame: u64,
}

impl Panics {
    /// How many scripts have panicked since the latest exchange, or since the start.
    pub(crate) fn count(&self) -> usize {
        self.since.len()
    }

    /// Notes that code was exchanged in this frame.
    pub(crate) fn exchanged(&mut self, runtime: &Runtime) {
        self.since.clear();
        self.exchanges += 1;
        self.frame = runtime.time().frame;
    }

    /// Says which scripts have panicked since it was called last, if code was exchanged before. `history` is how many
    /// frames one can go back.
    pub(crate) fn news(&mut self, runtime: &Runtime, history: Option<usize>) -> Option<String> {
        let now = runtime.time().frame;
        let mut news = Vec::new();
        for panicked in runtime.panicked_since(self.heard) {
            self.heard = panicked.count;
            let script = (panicked.script, panicked.frame);
            // Frames that are only looked at lie ahead.
            if panicked.frame > now || self.since.contains(&script) {
                continue;
            }
            self.since.push(script);
            if self.exchanges == 0 {
                continue;
            }
            let at = panicked
                .statement
                .map_or(String::new(), |at| format!(" at {at}"));
            let since = panicked.frame.saturating_sub(self.frame);
            let back = usize::try_from(now - panicked.frame + 1).unwrap_or(usize::MAX);
            let remedy = match history {
                Some(frames) if frames >= back => {
                    format!("`History::go_back` by {back} frames goes back to before the panic")
                }
                Some(_) => "the history does not reach to before the panic".to_owned(),
                None => "with a `History`, the game could go back to before the panic".to_owned(),
            };
            news.push(format!(
                "`{}` ({}) has panicked{at} in frame {}, {since} frames after exchange {} in frame {}: {}. It has \
                 ended, and new code does not bring it back: {remedy}",
                panicked.name, panicked.script, panicked.frame, self.exchanges, self.frame, panicked.text
            ));
        }
        (!news.is_empty()).then(|| news.join("\n"))
    }
}
