//! The pace of the game, and what the user does to scripts.

use framestep::task::CoroutineId;

use super::Panel;
use crate::model::control::{Dt, Once, Pace};
use crate::model::frame::Frame;

/// The commands of the user. The next look carries them out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Command {
    Stop(CoroutineId),
    Pause(CoroutineId),
    Resume(CoroutineId),
}

impl Panel {
    /// The dt for the executor in this frame, or `None` if it must not run. Returns the
    /// argument while the panel is closed.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_panel::Panel;
    ///
    /// let mut panel = Panel::new();
    /// assert_eq!(panel.dt(0.5_f32), Some(0.5));
    /// panel.open();
    /// panel.set_paused(true);
    /// assert_eq!(panel.dt(0.5_f32), None);
    /// panel.one_frame();
    /// assert_eq!(panel.dt(0.5_f32), Some(0.5));
    /// assert_eq!(panel.dt(0.5_f32), None);
    /// ```
    pub fn dt<D: Dt>(&mut self, dt: D) -> Option<D> {
        if !self.is_open {
            return Some(dt);
        }
        let time = self.frames.back().map(Frame::time);
        self.pace.dt(dt, time)
    }

    /// Like [`dt`](Panel::dt), for engines that have their own clock: the factor of this
    /// frame's length, or `None` if the game is paused in this frame. Returns 1 while the
    /// panel is closed.
    ///
    /// A single step runs frames up to the engine's next fixed step.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_panel::Panel;
    ///
    /// let mut panel = Panel::new();
    /// assert_eq!(panel.speed_of_frame(), Some(1.0));
    /// panel.open();
    /// panel.set_speed(0.25);
    /// assert_eq!(panel.speed_of_frame(), Some(0.25));
    /// panel.one_frame();
    /// assert_eq!(panel.speed_of_frame(), Some(0.25));
    /// assert_eq!(panel.speed_of_frame(), None);
    /// ```
    pub fn speed_of_frame(&mut self) -> Option<f64> {
        if !self.is_open {
            return Some(1.0);
        }
        let time = self.frames.back().map(Frame::time);
        self.pace.speed_of_frame(time)
    }

    /// Whether the game is paused, and how fast it runs otherwise.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// Pauses or resumes the game.
    pub fn set_paused(&mut self, paused: bool) {
        self.pace.paused = paused;
        if !paused {
            self.shown = None;
        }
    }

    /// Runs one frame, and pauses.
    pub fn one_frame(&mut self) {
        self.set_once(Once::Frame);
    }

    /// Runs one frame that ends at the next fixed step, and pauses.
    pub fn one_step(&mut self) {
        self.set_once(Once::Step);
    }

    fn set_once(&mut self, once: Once) {
        self.pace.paused = true;
        self.pace.once = Some(once);
        self.shown = None;
    }

    /// Sets the factor of each dt. Numbers that are not finite, or not above 0, are
    /// ignored.
    pub fn set_speed(&mut self, speed: f64) {
        if speed.is_finite() && speed > 0.0 {
            self.pace.speed = speed;
        }
    }

    /// The next speed of [`Pace::SPEEDS`].
    pub fn shift_speed(&mut self, faster: bool) {
        self.pace.shift(faster);
    }

    /// Stops a script in the next look.
    pub fn stop(&mut self, id: CoroutineId) {
        self.orders.push(Command::Stop(id));
    }

    /// Pauses a script in the next look.
    pub fn pause(&mut self, id: CoroutineId) {
        self.orders.push(Command::Pause(id));
    }

    /// Resumes a script in the next look. If an owner is paused, it stays so.
    pub fn resume(&mut self, id: CoroutineId) {
        self.orders.push(Command::Resume(id));
    }

    /// Tells the panel that the host can restart the game. The views then have a button for
    /// it.
    pub fn offer_restart(&mut self) {
        self.can_restart = true;
    }

    /// Whether the host has offered to restart the game.
    pub fn can_restart(&self) -> bool {
        self.can_restart
    }

    /// Asks the host to restart the game.
    pub fn restart(&mut self) {
        self.wants_restart = self.can_restart;
    }

    /// Whether the user has asked for a restart since the last call.
    pub fn take_restart(&mut self) -> bool {
        std::mem::take(&mut self.wants_restart)
    }
}
