//! A tree as bytes: for each value a byte that says what it is, and its content. Numbers have
//! seven bits in a byte, the lowest first.

use crate::bytes::tree::{DEEPEST, Tree};

const UNIT: u8 = 0;
const NONE: u8 = 1;
const SOME: u8 = 2;
const FALSE: u8 = 3;
const TRUE: u8 = 4;
const POSITIVE: u8 = 5;
/// A negative number has all its bits inverted: small ones stay small.
const NEGATIVE: u8 = 6;
const F32: u8 = 7;
const F64: u8 = 8;
const TEXT: u8 = 9;
const BYTES: u8 = 10;
const SEQ: u8 = 11;
const MAP: u8 = 12;

pub(super) fn put(tree: &Tree, out: &mut Vec<u8>) {
    match tree {
        Tree::Unit => out.push(UNIT),
        Tree::None => out.push(NONE),
        Tree::Some(tree) => {
            out.push(SOME);
            put(tree, out);
        }
        Tree::Bool(value) => out.push(if *value { TRUE } else { FALSE }),
        Tree::Int(value) => {
            let is_negative = *value < 0;
            out.push(if is_negative { NEGATIVE } else { POSITIVE });
            let number = if is_negative { !*value } else { *value };
            put_number(number.unsigned_abs(), out);
        }
        Tree::F32(value) => {
            out.push(F32);
            out.extend_from_slice(&value.to_bits().to_le_bytes());
        }
        Tree::F64(value) => {
            out.push(F64);
            out.extend_from_slice(&value.to_bits().to_le_bytes());
        }
        Tree::Text(value) => put_bytes(TEXT, value.as_bytes(), out),
        Tree::Bytes(value) => put_bytes(BYTES, value, out),
        Tree::Seq(items) => {
            out.push(SEQ);
            put_number(items.len() as u128, out);
            for item in items {
                put(item, out);
            }
        }
        Tree::Map(entries) => {
            out.push(MAP);
            put_number(entries.len() as u128, out);
            for (key, value) in entries {
                put(key, out);
                put(value, out);
            }
        }
    }
}

fn put_number(mut number: u128, out: &mut Vec<u8>) {
    while number > 0x7F {
        out.push(u8::try_from(number & 0x7F).expect("seven bits") | 0x80);
        number >>= 7;
    }
    out.push(u8::try_from(number).expect("seven bits"));
}

fn put_bytes(kind: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    put_number(bytes.len() as u128, out);
    out.extend_from_slice(bytes);
}

/// Takes a value from the front of the bytes. `None` if there is none, or it is nested too deep.
pub(super) fn take(left: &mut &[u8], depth: u32) -> Option<Tree> {
    let below = |left: &mut &[u8]| take(left, depth + 1);
    if depth > DEEPEST {
        return None;
    }
    let [kind] = *take_array(left)?;
    Some(match kind {
        UNIT => Tree::Unit,
        NONE => Tree::None,
        SOME => Tree::Some(Box::new(below(left)?)),
        FALSE => Tree::Bool(false),
        TRUE => Tree::Bool(true),
        POSITIVE => Tree::Int(i128::try_from(take_number(left)?).ok()?),
        NEGATIVE => Tree::Int(!i128::try_from(take_number(left)?).ok()?),
        F32 => Tree::F32(f32::from_bits(u32::from_le_bytes(*take_array(left)?))),
        F64 => Tree::F64(f64::from_bits(u64::from_le_bytes(*take_array(left)?))),
        TEXT => Tree::Text(std::str::from_utf8(take_bytes(left)?).ok()?.to_owned()),
        BYTES => Tree::Bytes(take_bytes(left)?.to_vec()),
        SEQ => {
            let len = take_number(left)?;
            let mut items = Vec::new();
            for _ in 0..len {
                items.push(below(left)?);
            }
            Tree::Seq(items)
        }
        MAP => {
            let len = take_number(left)?;
            let mut entries = Vec::new();
            for _ in 0..len {
                entries.push((below(left)?, below(left)?));
            }
            Tree::Map(entries)
        }
        _ => return None,
    })
}

fn take_array<'a, const N: usize>(left: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (taken, rest) = left.split_first_chunk()?;
    *left = rest;
    Some(taken)
}

fn take_number(left: &mut &[u8]) -> Option<u128> {
    let mut number = 0_u128;
    for shift in (0..128).step_by(7) {
        let [byte] = *take_array(left)?;
        let bits = u128::from(byte & 0x7F);
        if shift == 126 && bits > 3 {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn take_bytes<'a>(left: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::try_from(take_number(left)?).ok()?;
    let (taken, rest) = left.split_at_checked(len)?;
    *left = rest;
    Some(taken)
}
