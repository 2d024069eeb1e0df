//! Wakers of another maker, around those of the executor: each of their functions
//! does anything, and then what it should.

use std::mem::ManuallyDrop;
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::watched::{Token, fault};

use super::grenade::maybe_panic;
use super::operations::{Site, occasionally};

struct Hostile {
    inner: Waker,
    token: Token,
}

fn raw(inner: Waker) -> RawWaker {
    let token = Token::new("a waker");
    let hostile = Box::new(Hostile { inner, token });
    RawWaker::new(Box::into_raw(hostile).cast(), &VTABLE)
}

/// Wakes `inner` when it is woken.
pub(super) fn hostile(inner: &Waker) -> Waker {
    // SAFETY: the functions keep to the contract: each clone has a box of its own,
    // which its wake or drop frees. They act only on the thread of the world, and
    // the wakers that are sent to others are those of the executor.
    unsafe { Waker::from_raw(raw(inner.clone())) }
}

/// The waker behind `data`, which stays there.
///
/// # Safety
///
/// `data` must be that of a raw waker of this module that was not dropped.
unsafe fn look(data: *const ()) -> ManuallyDrop<Box<Hostile>> {
    // SAFETY: as the caller promises; the box is not dropped through this.
    let hostile = ManuallyDrop::new(unsafe { Box::from_raw(data.cast_mut().cast::<Hostile>()) });
    if !hostile.token.is_alive() {
        fault("a waker is used after its drop");
    }
    hostile
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(
    |data| {
        // SAFETY: a waker is cloned while it is alive.
        let inner = unsafe { look(data) }.inner.clone();
        occasionally(6, Site::WakerClone);
        maybe_panic(60);
        raw(inner)
    },
    |data| {
        // SAFETY: this is the only use of the waker that is consumed.
        let hostile = ManuallyDrop::into_inner(unsafe { look(data) });
        occasionally(3, Site::Wake);
        hostile.inner.wake_by_ref();
        maybe_panic(60);
    },
    |data| {
        // SAFETY: a waker is woken while it is alive.
        let inner = unsafe { look(data) }.inner.clone();
        occasionally(3, Site::Wake);
        inner.wake();
        maybe_panic(60);
    },
    |data| {
        // SAFETY: a waker is dropped once, after all else.
        drop(ManuallyDrop::into_inner(unsafe { look(data) }));
        occasionally(4, Site::WakerDrop);
        maybe_panic(60);
    },
);
