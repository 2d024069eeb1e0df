//! Writes the wire format of Protocol Buffers: fields with a number, and a value that is
//! a variable-length number, eight bytes, or bytes with their length.

/// One message under construction.
#[derive(Debug, Default)]
pub(crate) struct Message(Vec<u8>);

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;

impl Message {
    pub(crate) fn new() -> Self {
        Message::default()
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push((value & 0x7f) as u8);
    }

    fn tag(&mut self, field: u64, wire: u64) {
        self.varint(field << 3 | wire);
    }

    /// A field of type `uint64`, `uint32`, `int64` (if it is not negative), `bool` or an
    /// enum.
    pub(crate) fn number(&mut self, field: u64, value: u64) -> &mut Self {
        self.tag(field, VARINT);
        self.varint(value);
        self
    }

    pub(crate) fn fixed(&mut self, field: u64, value: u64) -> &mut Self {
        self.tag(field, FIXED64);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(crate) fn text(&mut self, field: u64, text: &str) -> &mut Self {
        self.bytes(field, text.as_bytes())
    }

    pub(crate) fn message(&mut self, field: u64, message: &Message) -> &mut Self {
        self.bytes(field, &message.0)
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) -> &mut Self {
        self.tag(field, BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Message;

    /// The example from the published description of the wire format.
    #[test]
    fn fields_are_written_as_the_format_describes() {
        let mut message = Message::new();
        message.number(1, 150).text(2, "testing");
        let mut outer = Message::new();
        outer.message(3, &message).fixed(4, 1);
        let expected = b"\x1a\x0c\x08\x96\x01\x12\x07testing\x21\x01\0\0\0\0\0\0\0";
        assert_eq!(outer.into_bytes(), expected);
    }
}
