//! The `LocalExecutor` of async-executor, ticked until nobody is ready.

use std::rc::Rc;

use async_executor::LocalExecutor;

use crate::systems::waker_list::Lists;
use crate::systems::woken::Woken;

pub(crate) struct Local(Rc<LocalExecutor<'static>>);

impl Drop for Local {
    fn drop(&mut self) {
        WORLD.take();
    }
}

thread_local! {
    /// The executor of the world that is there. Tasks that spawn others find
    /// it here: if they owned it, neither would ever be dropped.
    static WORLD: std::cell::RefCell<Option<Rc<LocalExecutor<'static>>>> =
        const { std::cell::RefCell::new(None) };
}

impl Woken for Local {
    const NAME: &'static str = "async-executor";
    const LISTS: Lists = Lists::AsyncExecutor;

    fn new() -> Self {
        let executor = Rc::new(LocalExecutor::new());
        WORLD.set(Some(Rc::clone(&executor)));
        Self(executor)
    }

    type Spawner = ();

    fn spawner(&self) {}

    fn spawn((): &(), future: impl Future<Output = ()> + 'static) {
        WORLD.with_borrow(|world| {
            let world = world.as_ref().expect("a world");
            world.spawn(future).detach();
        });
    }

    fn join(
        (): &(),
        future: impl Future<Output = u64> + 'static,
    ) -> impl Future<Output = u64> + 'static {
        WORLD.with_borrow(|world| world.as_ref().expect("a world").spawn(future))
    }

    fn run(&mut self) {
        while self.0.try_tick() {}
    }
}
