//! `select!`: waiting for the first of several futures.

/// Waits until the first of several futures is ready, drops the others, and
/// runs the handler of that branch.
///
/// ```text
/// select! {
///     pattern = future => handler,
///     pattern = future, if condition => handler,
///     else => handler,
/// }
/// ```
///
/// The syntax is that of `tokio::select!`. There may be up to 64 branches. The
/// comma after a handler in braces may be left out. `else` is optional and comes
/// last.
///
/// A future is a coroutine handle, a wait, an `async` block, or any other value
/// that implements [`IntoFuture`]. The futures may borrow local variables, and need
/// neither `pin!` nor `fuse()`. `select!` allocates nothing. Use it wherever
/// `.await` is allowed.
///
/// It runs in these steps:
///
/// 1. The conditions are evaluated. A branch whose condition is false is
///    disabled.
/// 2. The future expressions are evaluated, including those of disabled branches.
///    The futures of disabled branches are never polled.
/// 3. The futures are polled in order from the top, in each poll of the
///    coroutine, until one is ready with an output that matches its pattern. A
///    branch whose output does not match is disabled, and the next one is
///    polled.
/// 4. All futures are dropped, in order from the top.
/// 5. The handler runs. It may use the variables that the futures borrowed.
///    `.await`, `?`, `break`, `continue` and `return` work in it as they do around
///    `select!`.
///
/// If all branches are disabled, the `else` handler runs in place of step 5.
///
/// If two branches are ready in one poll, the upper branch wins. The order is fixed, so
/// a replay takes the same branch. (tokio uses this order after a first line `biased;`.
/// That line is accepted here, and changes nothing.) In a loop, put a branch that may be
/// ready each time below the others.
///
/// # Resumes
///
/// As soon as the first future is ready, in the phase in which that future resumes.
///
/// # Output
///
/// The value of the handler. All handlers have the same type.
///
/// # Cancel safety
///
/// The futures of the other branches are dropped before the handler runs. Their
/// waits are removed in O(1), and their progress is lost. In a loop:
///
/// - `select!` starts each wait anew. To keep a wait, create it before the loop and
///   pass `&mut wait`.
/// - A branch with a coroutine handle drops the handle. The coroutine keeps
///   running, unless it [stops on drop](crate::Coroutine::stop_on_drop). To keep
///   the handle, pass `&mut handle`.
/// - A future must not be polled again after it was ready. Disable its branch with
///   a condition.
///
/// # Panics
///
/// If all branches are disabled and there is no `else`.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// /// Opens when the lever is pulled within three seconds.
/// async fn gate(lever: &Signal<()>) -> bool {
///     select! {
///         () = lever.wait() => {
///             wait_seconds(0.5).await; // it creaks
///             true
///         }
///         _ = wait_seconds(3) => false,
///     }
/// }
///
/// let mut executor = Executor::new();
/// let lever = Signal::new();
/// let pull = lever.clone();
/// executor.start(async move {
///     wait_seconds(1).await;
///     pull.emit(());
/// });
/// assert!(executor.run_until(async move { gate(&lever).await }, 0.25));
/// assert_eq!(executor.time().elapsed.as_millis(), 1_500);
/// ```
///
/// A loop that keeps one wait, and disables the branch of another after it was
/// ready:
///
/// ```
/// use framestep::prelude::*;
///
/// let mut executor = Executor::new();
/// executor.run_until(
///     async {
///         let mut walk = start(async {
///             wait_seconds(1).await;
///             "there"
///         });
///         let mut end = wait_seconds(2);
///         let (mut place, mut steps) = ("on the way", 0);
///         loop {
///             select! {
///                 _ = &mut end => break,
///                 Ok(arrived) = &mut walk, if place != "there" => place = arrived,
///                 _ = wait_seconds(0.25) => steps += 1,
///             }
///         }
///         assert_eq!((place, steps), ("there", 6));
///     },
///     0.25,
/// );
/// ```
///
/// # Source
///
/// `tokio::select!`, with `biased;`; `UniTask.WhenAny`.
#[doc(alias = "WhenAny")]
#[macro_export]
macro_rules! select {
    ($($branches:tt)*) => {
        $crate::__select!($($branches)*)
    };
}

/// What a poll of [`select!`] returns: the output of one branch, or `()` below all
/// branches if all are disabled.
#[derive(Debug)]
pub enum Selected<A, B> {
    /// The output of this branch.
    This(A),
    /// A branch below this one.
    Below(B),
}

/// Expands [`select!`]: `@parse` parses the branches, one at a time; `@run` is the
/// code. Each step names its variables `future` and `is_enabled`. Each name comes
/// from its own expansion, so hygiene keeps the names apart.
#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    // {branches} {futures, the last one first} {a `_` for each branch} handler of `else`
    (@run
        {$((
            $future:ident $is_enabled:ident {$($above:tt)*}
            $pattern:pat, $expression:expr, {$($condition:expr)?}, $handler:expr
        ))+}
        {$($last_first:ident)+}
        {$($all:tt)+}
        $else:expr
    ) => {{
        $( let mut $is_enabled: bool = true $(&& $condition)?; )+
        // The futures are dropped at the end of this block. If one of them panics then,
        // Rust drops the output of a variable, and would leak that of the block.
        #[allow(unused_mut, clippy::needless_late_init)]
        let mut output;
        {
            // `let` extends the lifetime of the temporaries that an expression
            // borrows.
            $( let $future = $expression; )+
            // In reverse order, because local variables are dropped in reverse.
            // Each `let` moves the future, and one more move is measurable.
            $( let mut $last_first = ::core::pin::pin!(
                ::core::future::IntoFuture::into_future($last_first)
            ); )+
            output = ::core::future::poll_fn(move |cx| {
                let mut is_pending = false;
                $(
                    if $is_enabled {
                        match ::core::future::Future::poll($future.as_mut(), cx) {
                            ::core::task::Poll::Pending => is_pending = true,
                            #[allow(unused_mut)]
                            ::core::task::Poll::Ready(mut output) => {
                                $is_enabled = false;
                                let mut is_match = false;
                                // A pattern moves nothing while its guard runs, and
                                // this guard is never true. So any pattern can be
                                // tried, including one with `mut` or `ref`.
                                #[allow(unused, clippy::all, clippy::pedantic)]
                                match output {
                                    $pattern if {
                                        is_match = true;
                                        false
                                    } =>
                                    {
                                        ::core::unreachable!()
                                    }
                                    _ => {}
                                }
                                if is_match {
                                    return ::core::task::Poll::Ready($crate::__select!(
                                        @at {$($above)*} $crate::__expansion::Selected::This(output)
                                    ));
                                }
                            }
                        }
                    }
                )+
                if is_pending {
                    ::core::task::Poll::Pending
                } else {
                    ::core::task::Poll::Ready($crate::__select!(@at {$($all)+} ()))
                }
            })
            .await;
        }
        match output {
            $(
                // `_` is the usual pattern of a wait, which returns `()`.
                #[allow(clippy::ignored_unit_patterns)]
                $crate::__select!(
                    @at {$($above)*} $crate::__expansion::Selected::This($pattern)
                ) => $handler,
            )+
            $crate::__select!(@at {$($all)+} ()) => $else,
            #[allow(unreachable_patterns)]
            _ => ::core::unreachable!("the pattern matched before"),
        }
    }};

    // Wraps a value or a pattern in one `Below` for each `_`. Four at a time,
    // because the recursion depth of macros is limited.
    (@at {} $($inner:tt)+) => {
        $($inner)+
    };
    (@at {_ _ _ _ $($above:tt)*} $($inner:tt)+) => {
        $crate::__select!(@at {$($above)*} $crate::__expansion::Selected::Below(
            $crate::__expansion::Selected::Below($crate::__expansion::Selected::Below(
                $crate::__expansion::Selected::Below($($inner)+)
            ))
        ))
    };
    (@at {_ $($above:tt)*} $($inner:tt)+) => {
        $crate::__select!(@at {$($above)*} $crate::__expansion::Selected::Below($($inner)+))
    };

    // {branches} {futures, the last one first} {a `_` for each branch} the remaining tokens
    (@parse {} {} {}) => {
        ::core::compile_error!(
            "`select!` needs at least one branch: `pattern = future => handler,`"
        )
    };
    (@parse {} {} {} else => $else:expr $(,)?) => {
        $else
    };
    (@parse {$($branches:tt)+} {$($last_first:ident)+} {$($all:tt)+}) => {
        $crate::__select!(
            @run {$($branches)+} {$($last_first)+} {$($all)+}
            ::core::panic!("all branches of `select!` are disabled, and it has no `else`")
        )
    };
    (@parse {$($branches:tt)+} {$($last_first:ident)+} {$($all:tt)+} else => $else:expr $(,)?) => {
        $crate::__select!(@run {$($branches)+} {$($last_first)+} {$($all)+} $else)
    };
    (@parse {$($branches:tt)*} {$($last_first:ident)*} {$($all:tt)*} else $($rest:tt)*) => {
        ::core::compile_error!("`else => handler` is the last branch of `select!`, and there is at most one")
    };
    (@parse {$($branches:tt)*} {$($last_first:ident)*} {$($all:tt)*}
        $pattern:pat = $expression:expr $(, if $condition:expr)? => $handler:block, $($rest:tt)*
    ) => {
        $crate::__select!(@parse
            {$($branches)* (
                future is_enabled {$($all)*} $pattern, $expression, {$($condition)?}, $handler
            )}
            {future $($last_first)*}
            {$($all)* _}
            $($rest)*
        )
    };
    (@parse {$($branches:tt)*} {$($last_first:ident)*} {$($all:tt)*}
        $pattern:pat = $expression:expr $(, if $condition:expr)? => $handler:block $($rest:tt)*
    ) => {
        $crate::__select!(@parse
            {$($branches)* (
                future is_enabled {$($all)*} $pattern, $expression, {$($condition)?}, $handler
            )}
            {future $($last_first)*}
            {$($all)* _}
            $($rest)*
        )
    };
    (@parse {$($branches:tt)*} {$($last_first:ident)*} {$($all:tt)*}
        $pattern:pat = $expression:expr $(, if $condition:expr)? => $handler:expr, $($rest:tt)*
    ) => {
        $crate::__select!(@parse
            {$($branches)* (
                future is_enabled {$($all)*} $pattern, $expression, {$($condition)?}, $handler
            )}
            {future $($last_first)*}
            {$($all)* _}
            $($rest)*
        )
    };
    (@parse {$($branches:tt)*} {$($last_first:ident)*} {$($all:tt)*}
        $pattern:pat = $expression:expr $(, if $condition:expr)? => $handler:expr
    ) => {
        $crate::__select!(@parse
            {$($branches)* (
                future is_enabled {$($all)*} $pattern, $expression, {$($condition)?}, $handler
            )}
            {future $($last_first)*}
            {$($all)* _}
        )
    };
    (@parse {$($branches:tt)*} {$($last_first:ident)*} {$($all:tt)*} $($rest:tt)+) => {
        ::core::compile_error!(::core::concat!(
            "`select!` expects `pattern = future => handler,` or \
             `pattern = future, if condition => handler,` here: `",
            ::core::stringify!($($rest)+),
            "`"
        ))
    };

    (biased; $($branches:tt)*) => {
        $crate::__select!(@parse {} {} {} $($branches)*)
    };
    ($($branches:tt)*) => {
        $crate::__select!(@parse {} {} {} $($branches)*)
    };
}
