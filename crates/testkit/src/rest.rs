//! HTTP, as a client that knows nothing speaks it.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The line of the status, and the headers.
    pub head: String,
    /// The body.
    pub body: String,
}

impl Answer {
    /// Returns the body as JSON.
    ///
    /// # Panics
    ///
    /// If it is none.
    pub fn json(&self) -> Value {
        let read = serde_json::from_str(&self.body);
        read.unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// Returns a header, by its name in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.head.lines().filter_map(|it| it.split_once(": "));
        let found = headers.find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some(found.1)
    }
}

/// Asks an address, and reads the whole answer.
///
/// # Errors
/// If nobody answers, or not in text.
pub fn ask(
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
