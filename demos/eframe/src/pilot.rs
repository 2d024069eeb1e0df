//! The user of the demo: adds jobs, changes the settings, waits, and checks the results.

use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use eframe::egui::{Color32, ColorImage, ViewportCommand};
use framestep::prelude::*;
use futures::channel::oneshot;

use crate::fractal::HEIGHT;
use crate::job::State;
use crate::world::World;

/// No step of the demo takes this long, on any machine.
const TOO_LONG: Duration = Duration::from_mins(10);

pub(crate) async fn play(folder: PathBuf) {
    wait_seconds(0.5).await;
    with(|world: &mut World| (0..6).for_each(|_| world.add_job()));
    work().await;
    stop_one(&folder).await;
    change_settings(&folder).await;
    sleep().await;
    be_woken().await;
    println!("{} frames in all", time().frame);
    with_ref(|world: &World| world.context.clone()).send_viewport_cmd(ViewportCommand::Close);
}

fn count(state: fn(&State) -> bool) -> usize {
    with_ref(|world: &World| world.jobs.iter().filter(|job| state(&job.state)).count())
}

/// Checks after the Update of each frame, where jobs begin and end, so it misses none.
async fn work() {
    let half = wait_until(|| {
        let done = count(|state| matches!(state, State::Done(_)));
        done >= 3 && count(|state| *state == State::Working) > 0
    });
    let crowd = wait_until(|| count(|state| *state == State::Working) > 2);
    select! {
        half = timeout(TOO_LONG, half.in_phase(Phase::LateUpdate)) => {
            half.expect("the threads answer");
        }
        () = crowd.in_phase(Phase::LateUpdate) => panic!("three jobs at once"),
    }
}

/// Stops a running job: the next one takes its place, so all others end.
async fn stop_one(folder: &Path) {
    with(|world: &mut World| {
        let job = world.jobs.iter().find(|job| job.state == State::Working);
        let id = job.expect("`work` has seen it in this very poll").id;
        world.stop_job(id);
    });
    wait_seconds(0.4).await; // the toasts have slid in
    take_picture(folder, "queue").await;
    let ended = wait_until(|| count(|state| matches!(state, State::Done(_))) == 5);
    timeout(TOO_LONG, ended).await.expect("all others end");
    with_ref(|world: &World| {
        let done = world.jobs.iter().filter(|job| job.state != State::Stopped);
        assert!(done.clone().all(|job| job.rows == HEIGHT));
        assert_eq!(done.count(), 5);
        assert_eq!(world.places.get().taken, 0, "all places are free");
    });
    wait_seconds(0.5).await;
    take_picture(folder, "done").await;
}

async fn change_settings(folder: &Path) {
    with(World::open_settings);
    wait_seconds(0.5).await;
    with(|world: &mut World| {
        let dialogue = world.dialogue.as_mut().expect("it is open");
        dialogue.draft.at_once = 3;
    });
    take_picture(folder, "settings").await;
    with_ref(|world: &World| {
        let dialogue = world.dialogue.as_ref().expect("it is open");
        dialogue.answered.emit(true);
    });
    wait_seconds(0.5).await;
    with_ref(|world: &World| {
        assert!(world.dialogue.is_none());
        assert_eq!(world.settings.at_once, 3);
        assert_eq!(world.places.get().limit, 3);
    });
}

/// Once the toasts have gone, the only timer is that of this script.
async fn sleep() {
    let gone = wait_until(|| with_ref(|world: &World| world.toasts.is_empty()));
    timeout(TOO_LONG, gone).await.expect("toasts disappear");
    wait_seconds(0.5).await; // egui has settled
    let before = time().frame;
    wait_seconds(1.5).await;
    // egui may repaint once more for its own reasons.
    let frames = time().frame - before;
    assert!(frames <= 3, "{frames} frames while asleep");
}

/// No script needs a frame: only the rows that the thread sends end the sleep.
async fn be_woken() {
    let began = time().elapsed;
    let done = with(|world: &mut World| {
        world.clear();
        world.add_job();
        world.jobs[0].script.finished()
    });
    let result = timeout(TOO_LONG, done).await;
    result.expect("the thread answers");
    assert!(time().elapsed < began + TOO_LONG, "the rows wake egui");
}

/// egui answers with a callback, which ends a wait like any other.
async fn take_picture(folder: &Path, name: &str) {
    let (send, taken) = oneshot::channel();
    with_ref(|world: &World| {
        // An error says that the script was stopped.
        world
            .context
            .request_screenshot(|image| drop(send.send(image)));
    });
    let image = taken.await.expect("egui takes the picture");
    let path = folder.join(name).with_extension("png");
    save(&image, &path).expect("the folder can be written to");
}

fn save(image: &ColorImage, path: &Path) -> Result<(), Box<dyn Error>> {
    let [width, height] = image.size;
    let file = File::create(path)?;
    let mut encoder = png::Encoder::new(file, width.try_into()?, height.try_into()?);
    encoder.set_color(png::ColorType::Rgba);
    let bytes: Vec<u8> = image.pixels.iter().flat_map(Color32::to_array).collect();
    encoder.write_header()?.write_image_data(&bytes)?;
    Ok(())
}
