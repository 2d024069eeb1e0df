//! A closure for each item of a stream.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures::Stream;

/// Calls a closure with each item. Unlike an `async fn`, it tells the stream the line of the
/// `.await`.
pub(super) struct ForEach<S, F> {
    stream: S,
    f: F,
}

impl<S, F> ForEach<S, F> {
    pub(super) fn new(stream: S, f: F) -> Self {
        ForEach { stream, f }
    }
}

// Neither is pinned.
impl<S: Unpin, F> Unpin for ForEach<S, F> {}

impl<S: Stream + Unpin, F: FnMut(S::Item)> Future for ForEach<S, F> {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        loop {
            match Pin::new(&mut this.stream).poll_next(cx) {
                Poll::Ready(Some(item)) => (this.f)(item),
                Poll::Ready(None) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}
