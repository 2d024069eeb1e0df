//! A script that only waits, and a question, for tests that need any.

use framestep_durable::prelude::*;

#[derive(Serialize, Deserialize)]
pub(crate) struct Sleeps;

impl DurableScript for Sleeps {
    const NAME: &'static str = "sleeps";
    type Output = u32;

    async fn run(self) -> Chapter<Self> {
        wait_frames(9).await;
        Chapter::Done(1)
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Riddle;

impl Request for Riddle {
    const NAME: &'static str = "riddle";
    type Answer = u32;
}

/// A runtime that knows this script alone.
pub(crate) fn blank() -> Runtime {
    Runtime::new(Registry::new().with::<Sleeps>())
}

/// The save state in a file of the runtime.
pub(crate) fn reread(runtime: &Runtime) -> SaveState {
    SaveState::from_bytes(&runtime.save_state().unwrap().to_bytes()).unwrap()
}
