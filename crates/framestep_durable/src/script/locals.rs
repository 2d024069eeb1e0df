//! Closures that a replay does not call, and the local variables around them.

/// A closure that changes no local variable around it: all closures that are `Clone`.
///
/// A script that is restored takes the result of a [`with`](crate::with()) from its journal, and does
/// not call the closure again. If the closure changed a local variable of the script, that variable
/// would be another one after the restore. Such a closure holds a `&mut`, which is not `Clone`, so it
/// does not compile:
///
/// ```compile_fail,E0277
/// # use framestep_durable::prelude::*;
/// # async fn script() {
/// let mut seen = Vec::new();
/// with(|gold: &mut u32| seen.push(*gold));
/// # let _ = seen;
/// # }
/// ```
///
/// Return what the script needs, which is recorded:
///
/// ```
/// # use framestep_durable::prelude::*;
/// # async fn script() {
/// let mut seen = Vec::new();
/// seen.push(with(|gold: &mut u32| *gold));
/// # }
/// ```
///
/// What a closure moves into the world has to be `Clone`, too. Only the closure of [`ask`](crate::ask()) is ever
/// cloned, in a load that has to tell several questions apart.
///
/// A helper that passes a closure on has the same bound:
///
/// ```
/// # use framestep_durable::prelude::*;
/// use framestep_durable::ChangesNoLocal;
///
/// # struct World { gold: u32 }
/// fn change(f: impl FnOnce(&mut World) + ChangesNoLocal) {
///     with(f);
/// }
/// ```
///
/// A local variable with interior mutability, such as a `Cell`, is not found by the compiler.
/// The [sync test](crate::RuntimeBuilder::sync_test) finds it.
#[diagnostic::on_unimplemented(
    message = "this closure may change a local variable of the script: a script that is restored does \
               not call it again",
    label = "it borrows a local variable mutably, or moves a value that is not `Clone`",
    note = "return the value from the closure, and change the variable with the result: \
            `seen.push(with(|world: &mut World| world.gold))`",
    note = "a value that is moved into the world must be `Clone`, and so must the closure that a helper \
            passes on: `f: impl FnOnce(&mut World) + Clone`"
)]
pub trait ChangesNoLocal {
    #[doc(hidden)]
    #[must_use]
    fn another(&self) -> Self
    where
        Self: Sized;
}

// The error is about the closure, not about a `&mut` that is not `Clone`.
#[diagnostic::do_not_recommend]
impl<F: Clone> ChangesNoLocal for F {
    fn another(&self) -> Self {
        self.clone()
    }
}
