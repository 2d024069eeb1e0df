//! Wheels in images.

use crate::core::registration::key::WaitKey;
use crate::core::timer::wheel::Wheel;
use crate::image::{Damaged, Reader, Writer};

/// Writes timers of a wheel to an image, in the order in which they are due. Timers whose wait
/// has no `number` are left out.
pub(crate) fn save_wheel(
    wheel: &Wheel,
    out: &mut Writer,
    number: impl Fn(WaitKey) -> Option<usize>,
) {
    let entries = wheel.in_order().into_iter();
    let known = entries.filter_map(|entry| {
        let number = number(WaitKey::from_bits(entry.key))?;
        Some((entry.deadline_ns, number))
    });
    out.put_all(known, |out, (deadline_ns, number)| {
        out.put(deadline_ns);
        out.put_len(number);
    });
}

/// Makes a wheel at `now_ns` from what [`save_wheel`] has written. `key` returns the key of the
/// wait with a number.
pub(crate) fn load_wheel(
    image: &mut Reader<'_>,
    now_ns: u64,
    key: impl Fn(usize) -> Option<WaitKey>,
) -> Result<Wheel, Damaged> {
    let mut wheel = Wheel::at(now_ns);
    for _ in 0..image.take_len()? {
        let deadline_ns = image.take()?;
        let number = image.take_number()?;
        wheel.insert(deadline_ns, key(number).ok_or(Damaged)?.bits());
    }
    Ok(wheel)
}
