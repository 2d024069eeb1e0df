//! The content of the entries of a log: written by clients, read by shards.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// An input as it is in the log: who has sent it is in the subject.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Envelope {
    /// The session of the sender: a number that no other session of the sender has.
    #[serde(rename = "s")]
    pub(crate) session: u64,
    /// The number of the input in the session, from 1.
    #[serde(rename = "n")]
    pub(crate) number: u64,
    /// An entry of the log that the sender knew when it sent the input for the first time.
    #[serde(rename = "a")]
    pub(crate) after: u64,
}

/// The answer of the outside to a question.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) opened: u64,
    pub(crate) number: u64,
    pub(crate) content: Vec<u8>,
}

/// An input in its envelope: three numbers as 24 bytes, or as `{"s":1,"n":2,"a":3,"i":..}`.
pub(crate) fn open_envelope(body: &[u8]) -> Result<(Envelope, Cow<'_, [u8]>), String> {
    #[derive(Deserialize)]
    struct Text<'a> {
        s: u64,
        n: u64,
        a: u64,
        #[serde(borrow)]
        i: &'a RawValue,
    }
    if body.first() == Some(&b'{') {
        let text: Text<'_> = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        return Ok((
            envelope(text.s, text.n, text.a)?,
            text.i.get().as_bytes().into(),
        ));
    }
    match body {
        [2, rest @ ..] => {
            let (session, rest) = rest.split_first_chunk().ok_or("it is too short")?;
            let (number, rest) = rest.split_first_chunk().ok_or("it is too short")?;
            let (after, input) = rest.split_first_chunk().ok_or("it is too short")?;
            let [session, number, after] =
                [session, number, after].map(|it| u64::from_le_bytes(*it));
            Ok((envelope(session, number, after)?, input.into()))
        }
        _ => Err("it is no input in an envelope".to_owned()),
    }
}

fn envelope(session: u64, number: u64, after: u64) -> Result<Envelope, String> {
    match number {
        0 => Err("its number is 0: a session counts from 1".to_owned()),
        number => Ok(Envelope {
            session,
            number,
            after,
        }),
    }
}

/// Puts an input in its envelope.
pub(crate) fn close_envelope(session: u64, number: u64, after: u64, input: &[u8]) -> Vec<u8> {
    let mut body = vec![2];
    for number in [session, number, after] {
        body.extend_from_slice(&number.to_le_bytes());
    }
    body.extend_from_slice(input);
    body
}

#[derive(Deserialize)]
pub(crate) struct OpenText<'a> {
    pub(crate) kind: &'a str,
    /// An entry of the log that the sender knew when it sent the opening for the first time.
    #[serde(rename = "a")]
    pub(crate) after: u64,
    #[serde(borrow)]
    pub(crate) args: &'a RawValue,
}

/// The content of the entry that opens a room: `{"kind":"arena","a":3,"args":..}`.
pub(crate) fn open_body(kind: &str, args: &str, after: u64) -> Result<Vec<u8>, String> {
    #[derive(Serialize)]
    struct Text<'a> {
        kind: &'a str,
        a: u64,
        args: &'a RawValue,
    }
    let args: &RawValue = serde_json::from_str(args).map_err(|error| error.to_string())?;
    let text = Text {
        kind,
        a: after,
        args,
    };
    serde_json::to_vec(&text).map_err(|error| error.to_string())
}

/// The content of an entry of the operator: `{"a":3}`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Ordered {
    /// An entry of the log that the operator knew: only a room that was opened before is meant.
    #[serde(rename = "a")]
    pub(crate) after: u64,
}

impl Ordered {
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        serde_json::to_vec(&self).expect("a number serialises")
    }

    pub(crate) fn of_bytes(body: &[u8]) -> Option<Self> {
        serde_json::from_slice(body).ok()
    }
}
