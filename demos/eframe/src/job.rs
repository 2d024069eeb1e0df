//! A job: awaits its turn, and then the rows that a thread sends.

use std::thread;
use std::time::Duration;

use eframe::egui::{Color32, ColorImage, TextureHandle};
use framestep::prelude::*;
use futures::StreamExt;
use futures::channel::mpsc;

use crate::fractal::{self, HEIGHT, Plan, WIDTH};
use crate::world::{Places, World};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum State {
    Waiting,
    Working,
    Done(Duration),
    Stopped,
}

pub(crate) struct Job {
    pub(crate) id: usize,
    pub(crate) name: &'static str,
    pub(crate) state: State,
    pub(crate) script: Coroutine<()>,
    pub(crate) image: ColorImage,
    /// How many rows of the image there are.
    pub(crate) rows: usize,
    /// The image as it was drawn last, with that many rows.
    pub(crate) texture: Option<(TextureHandle, usize)>,
}

impl Job {
    pub(crate) fn new(id: usize, name: &'static str, script: Coroutine<()>) -> Self {
        Job {
            id,
            name,
            state: State::Waiting,
            script,
            image: ColorImage::filled([WIDTH, HEIGHT], Color32::from_gray(28)),
            rows: 0,
            texture: None,
        }
    }

    fn add_row(&mut self, row: &[Color32]) {
        let begin = self.rows * WIDTH;
        self.image.pixels[begin..begin + WIDTH].copy_from_slice(row);
        self.rows += 1;
    }
}

/// Runs a job to its end.
///
/// It may be stopped at any wait. Then its place becomes free, and the closed channel
/// ends the thread.
pub(crate) async fn run(id: usize, plan: Plan) {
    let _place = Place::take().await;
    with_job(id, |job| job.state = State::Working);
    let began = time().elapsed;

    let (sender, mut rows) = mpsc::unbounded();
    thread::spawn(move || {
        for row in fractal::rows(plan) {
            if sender.unbounded_send(row).is_err() {
                break;
            }
        }
    });
    while let Some(row) = rows.next().await {
        with_job(id, |job| job.add_row(&row));
    }

    let took = time().elapsed.saturating_sub(began);
    with_job(id, |job| job.state = State::Done(took));
    with(|world: &mut World| {
        if let Some(job) = world.jobs.iter().find(|job| job.id == id) {
            let text = format!("{} is done", job.name);
            world.toast(text);
        }
    });
}

fn with_job(id: usize, f: impl FnOnce(&mut Job)) {
    with(|world: &mut World| {
        let job = world.jobs.iter_mut().find(|job| job.id == id);
        job.map(f);
    });
}

/// A place among the running jobs. It becomes free when this is dropped.
struct Place(Watch<Places>);

impl Place {
    async fn take() -> Self {
        let places = with_ref(|world: &World| world.places.clone());
        // Waiting jobs are checked in the order they began to wait.
        places.wait_for(|places| places.taken < places.limit).await;
        places.update(|places| places.taken += 1);
        Place(places)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.update(|places| places.taken -= 1);
    }
}
