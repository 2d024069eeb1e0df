//! How long a test waits for what has to happen: no absolute time, which a busy machine may spend on other work.

use std::time::Duration;

use tokio::time::sleep;

/// The length of a beat, at least.
const BEAT: Duration = Duration::from_millis(100);
/// A test gives up after so many beats of its runtime. A machine that is slow, or stands still, has fewer of them.
const BEATS: u32 = 1_200;

/// Waits for what has to happen. `None` if it does not.
pub(crate) fn patient<T>(future: impl Future<Output = T>) -> impl Future<Output = Option<T>> {
    // Those of a server are large.
    let mut future = Box::pin(future);
    async move {
        for _ in 0..BEATS {
            tokio::select! {
                biased;
                value = &mut future => return Some(value),
                () = sleep(BEAT) => {}
            }
        }
        None
    }
}
