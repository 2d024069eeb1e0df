//! Destructors that do something.

/// Calls its function when it is dropped.
pub struct OnDrop<F: FnMut()>(pub F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Panics when it is dropped.
#[derive(Clone, Debug)]
pub struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the destructor panics");
    }
}
