//! Memory that is used again and again.

use std::cell::Cell;

use framestep::durable::Writer;

/// Buffers of a runtime. A call that takes one while another has it gets a new one.
#[derive(Default)]
pub(crate) struct Scratch {
    bytes: Cell<Vec<u8>>,
    /// For the numbers of a checksum.
    pub(crate) numbers: Cell<Numbers>,
}

impl Scratch {
    /// An empty buffer, for a value that is written or read. User code may take another one.
    #[inline]
    pub(crate) fn take(&self) -> Vec<u8> {
        self.bytes.take()
    }

    /// Keeps the memory of a buffer for the next value.
    #[inline]
    pub(crate) fn put(&self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.bytes.set(buffer);
    }
}

/// The numbers of an executor in a save state.
#[derive(Default)]
pub(crate) struct Numbers {
    pub(crate) clocks: Writer,
    pub(crate) waits: Writer,
    pub(crate) lists: Writer,
    /// The hashes of the scripts, in a checksum.
    pub(crate) scripts: Vec<u64>,
}

impl Numbers {
    pub(crate) fn clear(&mut self) {
        self.clocks.clear();
        self.waits.clear();
        self.lists.clear();
        self.scripts.clear();
    }
}
