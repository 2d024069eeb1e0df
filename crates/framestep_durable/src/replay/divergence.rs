//! What is said about a script that does not do what it did when it was saved.

use std::fmt;

use crate::ids::ScriptId;
use crate::journal::said::{COMES, at, awaited, done};
use crate::journal::{Found, Journal, Kind, NamedWait, OtherWaits, Sites, said_at, waits};

/// A script that does not do what it did when it was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The script.
    pub script: ScriptId,
    /// Its name.
    pub name: String,
    /// The number of the journal entry, from 1. 0 if the save is of another version of the script,
    /// and `None` if its state cannot be read or it is not in the registry. If `migrate` has no state
    /// for a save of another version, [`DryRun`](crate::DryRun) says that it cannot restart.
    pub entry: Option<u32>,
    /// What the save says, with the line.
    pub recorded: String,
    /// What the script does instead, with the line.
    pub found: String,
}

impl Divergence {
    /// Whether the code that is there now has panicked.
    #[must_use]
    pub fn has_panicked(&self) -> bool {
        self.found.starts_with(PANICS)
    }
}

/// How the text about a panic begins.
const PANICS: &str = "panics: ";

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Divergence {
            script,
            name,
            recorded,
            found,
            ..
        } = self;
        write!(f, "the script `{name}` ({script}) does not fit its save")?;
        match self.entry {
            Some(0) => write!(f, ": the save has {recorded}; now it {found}"),
            Some(entry) if found.starts_with(COMES) => {
                write!(
                    f,
                    ", at entry {entry}: the save has {recorded}; now it {found}"
                )
            }
            Some(entry) => write!(
                f,
                ", at entry {entry}: the save has {recorded}; now it {found}. Either its code has \
                 changed since, or it depends on what is not recorded"
            ),
            None => write!(f, ": the save has {recorded}, and {found}"),
        }
    }
}

impl OtherWaits {
    /// What is said after the waits of the present code.
    fn why(self) -> String {
        match self {
            OtherWaits::Calls => String::new(),
            OtherWaits::Number(saved, now) => as_another_wait(saved, now),
            OtherWaits::Place => format!(", {MOVED}"),
        }
    }
}

/// Why a call is not the one that was recorded, although it is the same for the same thing.
const MOVED: &str = "which does not follow what is before it as it did: lines between the two have \
                     been added or removed";

/// Why an effect is not the one that was recorded, although it is the same call in the same line.
const EARLIER: &str = ", without the wait before it";

/// The same for a wait whose number is another one.
fn as_another_wait(saved: u32, now: u32) -> String {
    let [saved, now] = [saved, now].map(|number| number + 1);
    format!(
        ", as wait number {now} of its chapter instead of {saved}: before it, a wait has been added or \
         removed, such as that of a `timeout`"
    )
}

impl Found {
    /// The divergence of a script from a journal with these sites.
    #[expect(clippy::too_many_lines, reason = "a case for each kind")]
    pub(crate) fn of(
        self,
        script: ScriptId,
        name: &str,
        sites: &Sites,
        journal: &Journal,
    ) -> Divergence {
        let divergence = |entry, recorded, found| Divergence {
            script,
            name: name.to_owned(),
            entry,
            recorded,
            found,
        };
        let recorded_entry = |entry: u32| match journal.at(entry) {
            Some((kind, site)) => said_at(kind, site, sites),
            None => "no more entries".to_owned(),
        };
        let (entry, recorded, found) = match self {
            Found::Damaged { entry } => (
                entry,
                "an entry that cannot be read".to_owned(),
                "cannot continue".to_owned(),
            ),
            Found::NotReached { entry, now } => {
                let why = not_reached(journal, entry, &now, sites);
                let found = format!("awaits {}{why}", waits(&now, sites));
                (entry, recorded_entry(entry), found)
            }
            Found::OtherLine { entry, here } => (
                entry,
                recorded_entry(entry),
                format!("does so at {}", sites.place(here)),
            ),
            Found::OtherShift { entry, here } => (
                entry,
                recorded_entry(entry),
                format!("does so at {}, {MOVED}", sites.place(here)),
            ),
            Found::Other { entry, kind, here } => {
                let now = match kind {
                    Kind::Ended(_) | Kind::Failed(_) => {
                        format!("awaits {}", at(&awaited(here, sites), here, sites))
                    }
                    Kind::Effect | Kind::Panicked => {
                        format!("does {}", at(&done(here, sites), here, sites))
                    }
                };
                let is_same = journal.at(entry) == Some((kind, here));
                let why = if is_same { EARLIER } else { "" };
                (entry, recorded_entry(entry), format!("{now}{why}"))
            }
            Found::OtherValue { entry, type_name } => (
                entry,
                recorded_entry(entry),
                format!("reads its value as a `{type_name}`, which it is not"),
            ),
            Found::OtherLabel { entry, label } => (
                entry,
                match journal.value_at(entry).and_then(|label| label.read()) {
                    Some::<String>(label) => format!("{} as {label:?}", recorded_entry(entry)),
                    None => recorded_entry(entry),
                },
                format!("does it as {label:?}"),
            ),
            Found::Returned { entry } => (entry, recorded_entry(entry), "returns".to_owned()),
            Found::Panicked { entry, message } => {
                (entry, recorded_entry(entry), format!("{PANICS}{message}"))
            }
            Found::NotRecorded { entry, at } => {
                let place = match (at, entry.checked_sub(1)) {
                    (Some(at), _) => format!(" at {}:{}", at.file(), at.line()),
                    (None, Some(last)) => format!(", after {},", recorded_entry(last)),
                    (None, None) => String::new(),
                };
                let found = format!(
                    "awaits{place} what is not recorded, such as a signal, a watch or a semaphore of \
                     `framestep`, or a future of another crate: await those of `framestep_durable`"
                );
                (entry, recorded_entry(entry), found)
            }
            Found::OtherWaits {
                entry,
                saved,
                now,
                why,
            } => (
                entry,
                format!("it awaiting {}", waits(&saved, sites)),
                format!("awaits {}{}", waits(&now, sites), why.why()),
            ),
            Found::OtherSubject { entry, wait, says } => {
                let [saved, now] = says;
                let wait = waits(&[wait], sites);
                let recorded = format!("it awaiting {wait}, for {saved}");
                (entry, recorded, format!("is for {now}"))
            }
            Found::OtherStored {
                entry,
                what,
                type_name,
                is_one,
            } => {
                let why = if is_one {
                    "which means something else there: its fields or variants had other names or another order"
                } else {
                    "which it is not"
                };
                let found = format!("reads that as a `{type_name}`, {why}");
                (entry, what, found)
            }
            Found::Place {
                entry,
                recorded,
                found,
            } => {
                let recorded = recorded.unwrap_or_else(|| recorded_entry(entry));
                (entry, recorded, found)
            }
            Found::OtherMeaning { entry } => (
                entry,
                recorded_entry(entry),
                "reads its value as another one: fields or variants of its type were added, removed, renamed or put \
                 into another order"
                    .to_owned(),
            ),
            Found::OtherItems { entry } => (
                entry,
                recorded_entry(entry),
                "has other items in that list".to_owned(),
            ),
            Found::OtherVersion { saved, now } => {
                let recorded = format!("version {saved} of it");
                return divergence(Some(0), recorded, format!("is version {now}"));
            }
            Found::OtherState { type_name, why } => {
                let recorded = "a state with which its chapter began".to_owned();
                let found = format!("that is not a `{type_name}` any more: {why}");
                return divergence(None, recorded, found);
            }
        };
        divergence(Some(entry + 1), recorded, found)
    }
}

/// Why an entry is not reached, if the script awaits the same call for the same thing.
fn not_reached(journal: &Journal, entry: u32, now: &[NamedWait], sites: &Sites) -> String {
    let Some((Kind::Ended(saved) | Kind::Failed(saved), site)) = journal.at(entry) else {
        return String::new();
    };
    let is_like = |wait: &&NamedWait| match (sites.get(site), sites.get(wait.site)) {
        (Some(then), Some(here)) => then.is_like(here),
        _ => false,
    };
    if now.iter().any(|wait| wait.number == saved) {
        return String::new();
    }
    let same = now.iter().find(is_like);
    same.map_or_else(String::new, |wait| as_another_wait(saved, wait.number))
}
