//! Tests at the public boundary: what a host sees of a recording.

mod comparing;
mod diagram;
mod events;
mod findings;
mod harbour;
mod hostile;
mod perfetto;
mod recording;
mod rewind;
mod still;
mod support;
mod svg;
