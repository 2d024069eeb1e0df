//! A behaviour that acts in one of its callbacks.

use std::any::Any;

use futures::future::LocalBoxFuture;

use framestep::scene::{Behaviour, SceneContext};

pub struct Actor {
    /// The name of the callback, and its act.
    acts_in: &'static str,
    act: fn(),
    /// Started in `start`.
    script: Option<LocalBoxFuture<'static, ()>>,
    _held: Option<Box<dyn Any>>,
}

impl Actor {
    pub fn new(acts_in: &'static str, act: fn()) -> Self {
        Actor {
            acts_in,
            act,
            script: None,
            _held: None,
        }
    }

    /// The same, with something to hold and a script to start.
    pub fn with(self, held: impl Any, script: impl Future<Output = ()> + 'static) -> Self {
        Actor {
            script: Some(Box::pin(script)),
            _held: Some(Box::new(held)),
            ..self
        }
    }

    fn act(&self, callback: &str) {
        if self.acts_in == callback {
            (self.act)();
        }
    }
}

impl Behaviour for Actor {
    fn start(&mut self, context: &SceneContext<'_, Self>) {
        if let Some(script) = self.script.take() {
            context.start(script);
        }
        self.act("start");
    }

    fn fixed_update(&mut self, _: &SceneContext<'_, Self>) {
        self.act("fixed_update");
    }

    fn update(&mut self, context: &SceneContext<'_, Self>) {
        self.act("update");
        if self.acts_in == "on_destroy" {
            context.destroy_self();
        }
    }

    fn late_update(&mut self, _: &SceneContext<'_, Self>) {
        self.act("late_update");
    }

    fn on_destroy(&mut self, _: &SceneContext<'_, Self>) {
        self.act("on_destroy");
    }
}
