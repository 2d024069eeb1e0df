//! `join!`: waiting for several futures of different types.

/// Waits until all of the futures are ready, and returns their outputs as a
/// tuple.
///
/// `join!(a, b, c)` takes up to 64 futures, or other values that implement
/// [`IntoFuture`]; [`join_all`](crate::combine::join_all()) takes any number of futures of one
/// type. It runs them concurrently inside the coroutine that awaits it, and
/// allocates nothing. The futures may borrow local variables, and need neither
/// `pin!` nor `fuse()`. Use it wherever `.await` is allowed.
///
/// # Resumes
///
/// As soon as the last of the futures is ready, in the phase in which that future
/// resumes. Each poll of the coroutine polls the pending futures, in the order they
/// are written. A future is dropped as soon as it is ready.
///
/// # Output
///
/// The outputs, in the order the futures are written. A coroutine handle yields a
/// `Result`; an `Err` does not end the wait for the others.
///
/// # Cancel safety
///
/// When the coroutine is stopped, or the future that contains `join!` is dropped,
/// the futures are dropped in the order they are written. Their waits are removed
/// in O(1). Coroutines whose handles are among the futures keep running, unless
/// they [stop on drop](crate::Coroutine::stop_on_drop). The outputs of ready
/// futures are lost.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// async fn walk(steps: &mut Vec<&'static str>) {
///     wait_seconds(1).await;
///     steps.push("there");
/// }
///
/// let mut executor = Executor::new();
/// executor.run_until(
///     async {
///         let mut steps = Vec::new();
///         let door = start(async {
///             wait_seconds(2).await;
///             "open"
///         });
///         let ((), door) = framestep::join!(walk(&mut steps), door);
///         assert_eq!((steps, door.unwrap()), (vec!["there"], "open"));
///         assert_eq!(time().elapsed.as_secs(), 2);
///     },
///     0.25,
/// );
/// ```
///
/// # Source
///
/// `tokio::join!`, with the `biased` order; `UniTask.WhenAll`.
#[doc(alias = "WhenAll")]
#[macro_export]
macro_rules! join {
    ($($future:expr),* $(,)?) => {
        $crate::__join!(@name {} {} $($future,)*)
    };
}

/// Expands [`join!`]. Each step names one future `future`. Each name comes from its
/// own expansion, so hygiene keeps the names apart.
#[doc(hidden)]
#[macro_export]
macro_rules! __join {
    (@name {} {}) => {
        ()
    };
    (@name {$($named:tt)*} {$($last_first:ident)*} $expression:expr, $($rest:tt)*) => {
        $crate::__join!(
            @name {$($named)* (future $expression)} {future $($last_first)*} $($rest)*
        )
    };
    (@name {$(($future:ident $expression:expr))+} {$($last_first:ident)+}) => {{
        // `let` extends the lifetime of the temporaries that an expression borrows.
        $( let $future = $expression; )+
        // In reverse order, because local variables are dropped in reverse. Each
        // `let` moves the future, and one more move is measurable.
        $( let mut $last_first = ::core::pin::pin!($crate::__expansion::Branch::Pending(
            ::core::future::IntoFuture::into_future($last_first)
        )); )+
        let outputs = ::core::future::poll_fn(move |cx| {
            let mut all_ready = true;
            $( all_ready &= $future.as_mut().poll_ready(cx); )+
            if all_ready {
                ::core::task::Poll::Ready(($( $future.as_mut().take(), )+))
            } else {
                ::core::task::Poll::Pending
            }
        })
        .await;
        outputs
    }};
}
