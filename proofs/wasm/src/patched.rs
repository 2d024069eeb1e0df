//! Saves of scripts whose code has changed, where panics may abort: a script that does something
//! else than its journal says must be an error that the host can handle.

use framestep_durable::prelude::*;

const PAID: Signal<u32> = signal("paid");

/// The script as the save knows it.
mod then {
    use super::*;

    #[durable(name = "merchant")]
    pub async fn merchant(_how: u32) {
        let gold = with(|gold: &mut u32| *gold);
        next_frame().await;
        let paid = PAID.wait().await;
        with(move |left: &mut u32| *left = gold + paid);
        wait_seconds(60).await;
    }
}

/// The script of today, in several versions.
mod now {
    use super::*;

    #[durable(name = "merchant")]
    pub async fn merchant(how: u32) {
        // None, one that is of another type, or another call.
        match how {
            0 => {}
            1 => drop(with(|gold: &mut u32| {
                (*gold, vec![1.0; 3], Some("gold".to_owned()))
            })),
            2 => drop(with_ref(|gold: &u32| *gold)),
            3 => assert!(time().frame < 9),
            _ => drop(with(|gold: &mut u32| *gold)),
        }
        next_frame().await;
        if how == 4 {
            // One that was not there.
            let names = with(|_: &mut u32| vec!["Anna".to_owned(), "Ben".to_owned()]);
            for name in names {
                PAID.emit(u32::try_from(name.len()).unwrap_or(0));
            }
        }
        let paid = PAID.wait().await;
        with(move |left: &mut u32| *left += paid);
        if how == 5 {
            // One more, and a loop that waits for its result.
            while with(|gold: &mut u32| *gold) > 0 {}
            start(merchant(9)).detach();
        }
        wait_seconds(60).await;
    }
}

/// Whether each divergence is an error or handled by the policy, and nothing else changes.
pub fn divergences_are_errors() -> bool {
    let mut gold = 5_u32;
    (0..6).all(|how| {
        let mut runtime = Runtime::new(Registry::new().script(then::merchant));
        runtime.spawn(then::merchant(how)).detach();
        for _ in 0..3 {
            runtime.run_frame_with(&mut gold, 0.1);
            runtime.named(&PAID).emit(3);
        }
        runtime.run_frame_with(&mut gold, 0.1);
        let file = runtime.save_state().expect("it is durable").to_bytes();
        let save = SaveState::from_bytes(&file).expect("it was just made");
        let mut runtime = Runtime::new(Registry::new().script(now::merchant));
        let failed = runtime.restore(&save, Policy::Fail);
        let is_error = matches!(failed, Err(RestoreError::Diverged(_)));
        let restored = runtime.restore(&save, Policy::Restart);
        let is_restarted = restored.is_ok_and(|restored| restored.restarted.len() == 1);
        is_error && is_restarted && runtime.scripts().len() == 1
    })
}
