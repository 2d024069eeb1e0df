//! The `LocalPool` of futures, which keeps its tasks in a `FuturesUnordered`.

use futures::executor::{LocalPool, LocalSpawner};
use futures::task::LocalSpawnExt as _;

use crate::systems::waker_list::Lists;
use crate::systems::woken::Woken;

impl Woken for LocalPool {
    const NAME: &'static str = "futures-localpool";
    const LISTS: Lists = Lists::LocalPool;

    fn new() -> Self {
        Self::new()
    }

    type Spawner = LocalSpawner;

    fn spawner(&self) -> LocalSpawner {
        LocalPool::spawner(self)
    }

    fn spawn(spawner: &LocalSpawner, future: impl Future<Output = ()> + 'static) {
        spawner.spawn_local(future).expect("the pool is there");
    }

    fn join(
        spawner: &LocalSpawner,
        future: impl Future<Output = u64> + 'static,
    ) -> impl Future<Output = u64> + 'static {
        spawner
            .spawn_local_with_handle(future)
            .expect("the pool is there")
    }

    fn run(&mut self) {
        self.run_until_stalled();
    }
}
