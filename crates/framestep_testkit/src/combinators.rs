//! The table of combinators: those of the crate, and others that games use.

use futures::future::{self, FutureExt, LocalBoxFuture, ready};
use futures::stream::{self, FuturesUnordered, StreamExt};

use framestep::prelude::*;

use super::{entered, swallow};

type Local = LocalBoxFuture<'static, ()>;

/// What a combinator is made of.
#[derive(Clone, Copy)]
pub enum Of {
    /// Two futures, and it ends with the last of them.
    All(fn(Local, Local) -> Local),
    /// Two futures, and it ends with the first of them.
    First(fn(Local, Local) -> Local),
    One(fn(Local) -> Local),
}

pub struct Combinator {
    pub name: &'static str,
    pub of: Of,
    /// It polls a future only once that has called its waker.
    pub waits_for_wakes: bool,
    /// It passes on no waker.
    pub swallows_wakers: bool,
    /// Of a combinator of the crate.
    pub ours: Option<Ours>,
}

pub struct Ours {
    /// Its line in this file.
    pub line: u32,
    /// Awaits it in that line: with two waits for the next frame, and
    pub frames: fn() -> Local,
    /// with waits for one and two seconds.
    pub seconds: fn() -> Local,
    /// What a snapshot then shows.
    pub shown: [&'static str; 2],
}

impl Combinator {
    /// The file of the lines.
    pub const FILE: &'static str = file!();

    /// A future that ends with `wait`.
    pub fn wrap(&self, wait: Local) -> Local {
        match self.of {
            Of::All(two) => two(wait, ready(()).boxed_local()),
            Of::First(two) => two(future::pending().boxed_local(), wait),
            Of::One(one) => one(wait),
        }
    }

    const fn waits_for_wakes(self) -> Self {
        Combinator {
            waits_for_wakes: true,
            ..self
        }
    }

    const fn swallows_wakers(self) -> Self {
        Combinator {
            swallows_wakers: true,
            ..self
        }
    }
}

/// A combinator of another crate.
const fn other(name: &'static str, of: Of) -> Combinator {
    Combinator {
        name,
        of,
        waits_for_wakes: false,
        swallows_wakers: false,
        ours: None,
    }
}

/// A combinator of the crate: `ours!(name, All, |one, other| future)`.
macro_rules! ours {
    ($name:literal, $of:ident, |$($wait:ident),*| $future:expr) => {
        ours!($name, $of, |$($wait),*| $future, ["1s, until 1s", "2s, until 2s"])
    };
    ($name:literal, $of:ident, |$($wait:ident),*| $future:expr, $shown:expr) => {
        Combinator {
            ours: Some(Ours {
                line: line!(),
                frames: || {
                    Box::pin(async {
                        $(let $wait = next_frame();)*
                        $future
                    })
                },
                seconds: || {
                    Box::pin(async {
                        let seconds = 0;
                        $(let seconds = seconds + 1; let $wait = wait_seconds(seconds);)*
                        $future
                    })
                },
                shown: $shown,
            }),
            ..other($name, Of::$of(|$($wait),*| Box::pin(async { $future })))
        }
    };
}

/// All combinators.
#[rustfmt::skip]
pub const COMBINATORS: &[Combinator] = &[
    ours!("join!", All, |one, other| _ = framestep::join!(one, other)),
    ours!("select!", First, |one, other| select! { () = one => {} () = other => {} }),
    ours!("join_all", All, |one, other| _ = join_all([one, other]).await),
    ours!("race", First, |one, other| _ = race([one, other]).await),
    ours!("try_join_all", All, |one, other| _ = try_join_all([one, other].map(async |one| { let _: () = one.await; Ok::<(), ()>(()) })).await),
    ours!("when_each", All, |one, other| { let mut each = when_each([one, other]); while each.next().await.is_some() {} })
        .waits_for_wakes(),
    ours!("timeout", One, |one| _ = timeout(99, one).await, ["99s, until 99s", "1s, until 1s"]),
    ours!("on_error", One, |one| () = on_error(timeout(99, one), drop).await, ["99s, until 99s", "1s, until 1s"]),
    other("a box", Of::One(|one| one)),
    other("futures' join", Of::All(|one, other| future::join(one, other).map(drop).boxed_local())),
    other("futures' select", Of::First(|one, other| future::select(one, other).map(drop).boxed_local())),
    other("FuturesUnordered, the first", Of::First(|one, other| {
        async { _ = FuturesUnordered::from_iter([one, other]).next().await }.boxed_local()
    }))
    .waits_for_wakes(),
    other("FuturesUnordered, all", Of::All(|one, other| {
        FuturesUnordered::from_iter([one, other]).for_each(ready).boxed_local()
    }))
    .waits_for_wakes(),
    other("buffer_unordered", Of::All(|one, other| {
        stream::iter([one, other]).buffer_unordered(2).for_each(ready).boxed_local()
    }))
    .waits_for_wakes(),
    // Of so many futures, it is a `FuturesUnordered`.
    other("join_all of many", Of::One(|one| {
        let others = (0..40).map(|_| ready(()).boxed_local());
        future::join_all(others.chain([one])).map(drop).boxed_local()
    }))
    .waits_for_wakes(),
    other("a future without a waker", Of::One(|one| swallow(one).boxed_local()))
        .swallows_wakers(),
    other("a future that enters", Of::One(|one| entered(one).boxed_local())),
    other("one that enters, without a waker", Of::One(|one| entered(swallow(one)).boxed_local()))
        .swallows_wakers(),
];
