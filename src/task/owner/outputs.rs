//! What the scripts of a durable group return, collected in their order; and the two errors of a
//! script that returns a `Result`, in one place.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Futures in an order, and the values of those that are over.
#[derive(Debug)]
pub struct Outputs<F, V> {
    /// Dropped in this order.
    outputs: Vec<Output<F, V>>,
}

#[derive(Debug)]
enum Output<F, V> {
    Future(F),
    Value(V),
}

impl<F, V> Outputs<F, V> {
    /// Of these futures.
    pub fn of(futures: Vec<F>) -> Self {
        Outputs {
            outputs: futures.into_iter().map(Output::Future).collect(),
        }
    }

    /// How many futures are not over.
    pub fn pending(&self) -> usize {
        let outputs = self.outputs.iter();
        let pending = outputs.filter(|output| matches!(output, Output::Future(_)));
        pending.count()
    }

    /// Takes the values, in the order of the futures, when [`poll`](Self::poll) was ready.
    pub fn take(&mut self) -> Vec<V> {
        let outputs = mem::take(&mut self.outputs).into_iter();
        let values = outputs.filter_map(|output| match output {
            Output::Value(value) => Some(value),
            Output::Future(_) => None,
        });
        values.collect()
    }
}

impl<F: Future + Unpin, V> Outputs<F, V> {
    /// Polls the futures that are left. Ready when none is, or with the first error. `value` is
    /// the value of an output, or an error.
    #[track_caller]
    pub fn poll<E>(
        &mut self,
        cx: &mut Context<'_>,
        value: impl Fn(F::Output) -> Result<V, E>,
    ) -> Poll<Result<(), E>> {
        let mut polled = Poll::Ready(Ok(()));
        for output in &mut self.outputs {
            let Output::Future(future) = output else {
                continue;
            };
            match Pin::new(future).poll(cx) {
                Poll::Ready(ready) => match value(ready) {
                    Ok(value) => *output = Output::Value(value),
                    Err(error) => return Poll::Ready(Err(error)),
                },
                Poll::Pending => polled = Poll::Pending,
            }
        }
        polled
    }
}

/// The output of a script that returns a `Result`, with both of its errors in one place.
///
/// # Errors
///
/// Those of the output: `Ok` is that of the script, `Err` that of its join.
pub fn flat<V, E, J>(output: Result<Result<V, E>, J>) -> Result<V, Result<E, J>> {
    match output {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(Ok(error)),
        Err(error) => Err(Err(error)),
    }
}

/// The opposite of [`flat`].
///
/// # Errors
///
/// That of the join.
pub fn nested<V, E, J>(output: Result<V, Result<E, J>>) -> Result<Result<V, E>, J> {
    match output {
        Ok(value) => Ok(Ok(value)),
        Err(Ok(error)) => Ok(Err(error)),
        Err(Err(error)) => Err(error),
    }
}
