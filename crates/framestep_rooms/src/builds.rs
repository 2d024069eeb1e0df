//! Which build runs the shards: the one of the highest generation, which is in the log.
//!
//! A build gets its generation when its first node starts: one more than all builds before it. It
//! keeps it, so a node that restarts changes nothing, whatever its build and its clock. Only
//! [`prefer`], an order of the operator, lets an earlier build run the shards again.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::entry::{Build, Generation};
use crate::log::{Log, LogError};

/// The key of the list.
const KEY: &str = "builds";
/// How long a change is tried.
const PATIENCE: Duration = Duration::from_secs(10);

/// The generation of each build, from 1.
type Builds = BTreeMap<Build, Generation>;

/// The generation of a build, which gets the next one if the log does not know the build yet.
///
/// `known` is the generation that this node has read before, 0 for none: if the tail of the log
/// is lost, the build gets the same one again.
pub(crate) async fn register(
    log: &dyn Log,
    build: Build,
    known: Generation,
) -> Result<Generation, LogError> {
    let builds = change(log, |builds| {
        let next = if known > 0 { known } else { next(builds) };
        let own = builds.entry(build).or_insert(next);
        *own = known.max(*own);
    });
    Ok(builds.await?.get(&build).copied().unwrap_or(known))
}

/// Lets the nodes of a build run the shards, also if another build was started later: the way back
/// after an upgrade. Nodes learn it with a heartbeat, within some seconds. The order stays in the log until a build
/// starts that the log does not know yet, or another build is preferred.
///
/// `rooms top` shows the number of each build, and does this as `rooms top --prefer BUILD`. A build that cannot
/// read the saves of the other one is not offered its shards.
///
/// # Errors
///
/// If the log cannot be reached, or knows no such build: then none of its nodes was ever started.
///
/// # Examples
///
/// ```
/// use framestep_rooms::log::{LogError, MemoryLog};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let unknown = framestep_rooms::prefer(&MemoryLog::new(), 0x1b).await;
/// assert!(matches!(unknown, Err(LogError::Failed(_))));
/// # });
/// ```
pub async fn prefer(log: &dyn Log, build: u64) -> Result<(), LogError> {
    let builds = change(log, |builds| {
        let next = next(builds);
        if let Some(own) = builds.get_mut(&build)
            && *own + 1 < next
        {
            *own = next;
        }
    });
    let builds = builds.await?;
    if builds.contains_key(&build) {
        return Ok(());
    }
    let known: Vec<String> = builds.keys().map(|build| format!("{build:x}")).collect();
    Err(LogError::Failed(format!(
        "the log knows no build {build:x}, but: {}. A build is known once a node of it was started",
        known.join(", ")
    )))
}

fn next(builds: &Builds) -> Generation {
    builds.values().max().copied().unwrap_or(0) + 1
}

/// Changes the list in one step. Returns it.
async fn change(log: &dyn Log, change: impl Fn(&mut Builds)) -> Result<Builds, LogError> {
    let until = Instant::now() + PATIENCE;
    loop {
        let changed = async {
            let kept = log.kept(KEY).await?;
            let revision = kept.as_ref().map_or(0, |kept| kept.revision);
            let builds = kept.map(|kept| serde_json::from_slice(&kept.body));
            let builds: Builds = builds
                .transpose()
                .map_err(|error| {
                    LogError::Failed(format!("the list of builds cannot be read: {error}"))
                })?
                .unwrap_or_default();
            let mut changed = builds.clone();
            change(&mut changed);
            if changed != builds {
                let body = serde_json::to_vec(&changed).unwrap_or_default();
                log.keep(KEY, revision, &body).await?;
            }
            Ok(changed)
        };
        match changed.await {
            // Another node changes it at the same time, or the log is away for a moment.
            Err(LogError::Refused | LogError::Unreachable(_)) if Instant::now() < until => {
                sleep(Duration::from_millis(50)).await;
            }
            changed => return changed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::MemoryLog;

    #[tokio::test]
    async fn a_build_keeps_the_generation_of_its_first_start_until_it_is_preferred() {
        let log = MemoryLog::new();
        log.prepare(1, 4_096).await.unwrap();
        assert_eq!(register(&log, 70, 0).await, Ok(1));
        assert_eq!(register(&log, 60, 0).await, Ok(2));
        assert_eq!(register(&log, 70, 0).await, Ok(1)); // it restarts
        prefer(&log, 70).await.unwrap();
        prefer(&log, 70).await.unwrap();
        assert_eq!(register(&log, 70, 1).await, Ok(3));
        assert_eq!(register(&log, 60, 2).await, Ok(2));
        assert_eq!(register(&log, 50, 0).await, Ok(4)); // the next upgrade
        let unknown = prefer(&log, 10).await.unwrap_err().to_string();
        assert!(
            unknown.contains("knows no build a, but: 32, 3c, 46"),
            "{unknown}"
        );
    }

    #[tokio::test]
    async fn a_list_that_was_lost_gets_the_generations_that_nodes_know() {
        let log = MemoryLog::new();
        log.prepare(1, 4_096).await.unwrap();
        assert_eq!(register(&log, 70, 1).await, Ok(1));
        assert_eq!(register(&log, 60, 5).await, Ok(5));
        assert_eq!(register(&log, 50, 0).await, Ok(6));
    }
}
