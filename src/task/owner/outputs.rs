//! The two errors of a script that returns a `Result`, in one place: for groups of such scripts.

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
