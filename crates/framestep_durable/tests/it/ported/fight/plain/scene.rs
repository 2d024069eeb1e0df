//! What is shown for a moment.

use framestep::prelude::*;

use super::World;

/// Large letters for two seconds.
pub(crate) async fn banner(text: String) {
    struct Take;

    impl Drop for Take {
        fn drop(&mut self) {
            with_deferred(|world: &mut World| world.banner = None);
        }
    }

    let _take = Take;
    animate(2, |t| {
        // In, and out again.
        let visible = (4.0 * t).min(1.0).min(4.0 - 4.0 * t);
        with(|world: &mut World| world.banner = Some((text.clone(), visible)));
    })
    .await;
}
