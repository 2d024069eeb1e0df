//! What is shown for a moment.

use framestep_durable::prelude::*;

use super::World;

/// Large letters for two seconds.
#[durable]
pub(crate) async fn banner(text: String) {
    struct Take;

    impl Drop for Take {
        fn drop(&mut self) {
            drop(defer(|world: &mut World| world.banner = None));
        }
    }

    let _take = Take;
    animate(2, |t| {
        with(|world: &mut World| {
            // In, and out again.
            let visible = (4.0 * t).min(1.0).min(4.0 - 4.0 * t);
            world.banner = Some((text.clone(), visible));
        });
    })
    .await;
}
