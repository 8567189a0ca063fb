//! REST, as a client that knows nothing speaks it.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn json(&self) -> Value {
        let read = serde_json::from_str(&self.body);
        read.unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }
}

/// Asks an address, and reads the whole answer.
pub(super) fn ask(
    address: &str,
    request: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> std::io::Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    let mut text = format!("{request} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    text += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(text.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    Ok(Answer {
        status: status.unwrap_or_default(),
        head: head.to_owned(),
        body: body.to_owned(),
    })
}
