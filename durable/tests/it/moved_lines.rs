//! A file of a build with other lines, loaded and saved again.

use framestep_durable::prelude::*;

fn reread(runtime: &Runtime) -> Snapshot {
    Snapshot::from_bytes(&runtime.snapshot().unwrap().to_bytes()).unwrap()
}

/// The same script in two builds: in other lines.
mod old_build {
    use framestep_durable::prelude::*;

    #[derive(Serialize, Deserialize)]
    pub(super) struct Quest;

    impl DurableScript for Quest {
        const NAME: &'static str = "quest";
        type Output = ();

        async fn run(self) -> Chapter<Self> {
            next_frame().await;
            wait_frames(100).await;
            Chapter::Done(())
        }
    }
}

mod new_build {
    use framestep_durable::prelude::*;

    #[derive(Serialize, Deserialize)]
    pub(super) struct Quest;

    impl DurableScript for Quest {
        const NAME: &'static str = "quest";
        type Output = ();

        async fn run(self) -> Chapter<Self> {
            next_frame().await;
            wait_frames(100).await;
            Chapter::Done(())
        }
    }
}

#[test]
fn a_file_of_another_build_that_was_loaded_can_be_saved_and_loaded_again() {
    let mut old = Runtime::new(
        Registry::new()
            .with::<old_build::Quest>()
            .for_build("last week"),
    );
    old.start(old_build::Quest).detach();
    old.run_frame(0.1);
    let new = || {
        Runtime::new(
            Registry::new()
                .with::<new_build::Quest>()
                .for_build("today"),
        )
    };
    let mut loaded = new();
    loaded.restore(&reread(&old), Policy::Fail).unwrap();
    let again = new().restore(&reread(&loaded), Policy::Fail);
    assert!(again.is_ok(), "{}", again.unwrap_err());
}
