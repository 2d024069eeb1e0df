//! The state of the tool, which the host lends to the scripts.

use eframe::egui;
use framestep::prelude::*;

use crate::dialogue::{self, Dialogue};
use crate::fractal::{PLACES, Plan};
use crate::job::{self, Job, State};
use crate::toast::{self, Toast};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    /// How many jobs run at the same time.
    pub(crate) at_once: usize,
    /// Samples of a pixel, along each side.
    pub(crate) samples: u8,
    /// How long a toast stays, in seconds.
    pub(crate) toasts: f32,
}

/// How many jobs are at work, and how many may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    pub(crate) taken: usize,
    pub(crate) limit: usize,
}

pub(crate) struct World {
    pub(crate) settings: Settings,
    pub(crate) jobs: Vec<Job>,
    /// How many there were, with those that are gone.
    pub(crate) added: usize,
    pub(crate) places: Watch<Places>,
    pub(crate) dialogue: Option<Dialogue>,
    pub(crate) toasts: Vec<Toast>,
    /// How many there were.
    pub(crate) toasted: u64,
    /// Owns the scripts of the jobs.
    pub(crate) queue: Owner,
    /// Owns all other scripts.
    pub(crate) scripts: Owner,
    pub(crate) context: egui::Context,
}

impl World {
    pub(crate) fn new(executor: &Executor, context: &egui::Context) -> Self {
        let settings = Settings {
            at_once: 2,
            samples: 4,
            toasts: 3.0,
        };
        let places = Places {
            taken: 0,
            limit: settings.at_once,
        };
        World {
            settings,
            jobs: Vec::new(),
            added: 0,
            places: Watch::new(places).named("places"),
            dialogue: None,
            toasts: Vec::new(),
            toasted: 0,
            queue: executor.owner(),
            scripts: executor.owner(),
            context: context.clone(),
        }
    }

    // Code of the user interface calls what follows between two frames, when nothing is
    // lent. So these spawn, and do not start.

    pub(crate) fn add_job(&mut self) {
        let id = self.added;
        let (name, at, width) = PLACES[id % PLACES.len()];
        self.added += 1;
        let plan = Plan {
            at,
            width,
            samples: self.settings.samples,
        };
        let script = self.queue.spawn(job::run(id, plan)).named(name);
        self.jobs.push(Job::new(id, name, script));
    }

    /// Stops a job. Its place is free when this returns, and its thread ends soon.
    pub(crate) fn stop_job(&mut self, id: usize) {
        let job = self.jobs.iter_mut().find(|job| job.id == id);
        if let Some(job) = job.filter(|job| job.script.stop()) {
            job.state = State::Stopped;
            let text = format!("{} was stopped", job.name);
            self.toast(text);
        }
    }

    /// Removes the jobs that have ended.
    pub(crate) fn clear(&mut self) {
        self.jobs.retain(|job| !job.script.is_finished());
    }

    pub(crate) fn pause_or_resume(&mut self) {
        if self.queue.is_paused() {
            self.queue.resume();
        } else {
            self.queue.pause();
        }
    }

    pub(crate) fn open_settings(&mut self) {
        if self.dialogue.is_none() {
            self.scripts.spawn(dialogue::settings()).named("settings");
        }
    }

    pub(crate) fn toast(&mut self, text: String) {
        self.scripts.spawn(toast::show(text)).named("toast");
    }

    pub(crate) fn apply(&mut self, settings: Settings) {
        self.settings = settings;
        self.places.update(|places| places.limit = settings.at_once);
    }
}
