//! A small client of the debug adapter protocol.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

/// Far longer than any answer takes; only a hang is cut off by it.
const READ_TIMEOUT: Duration = Duration::from_secs(120);
/// The longest message that is read.
const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// A connection to a debug adapter.
pub(super) struct Session {
    stream: BufReader<TcpStream>,
    sent: u64,
    /// Messages that came while something else was waited for.
    kept: Vec<Value>,
}

impl Session {
    pub(super) fn connect(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        Ok(Self {
            stream: BufReader::new(stream),
            sent: 0,
            kept: Vec::new(),
        })
    }

    /// Sends a request and returns the body of its answer.
    pub(super) fn ask(&mut self, command: &str, arguments: &Value) -> Result<Value> {
        let number = self.send(command, arguments)?;
        self.answer(number)
    }

    /// Sends a request; returns its number.
    pub(super) fn send(&mut self, command: &str, arguments: &Value) -> Result<u64> {
        self.sent += 1;
        let message = json!({
            "seq": self.sent, "type": "request", "command": command, "arguments": arguments,
        });
        let message = message.to_string();
        let stream = self.stream.get_mut();
        write!(stream, "Content-Length: {}\r\n\r\n{message}", message.len())?;
        Ok(self.sent)
    }

    /// Waits for the answer to a request.
    pub(super) fn answer(&mut self, number: u64) -> Result<Value> {
        let answer = self.wait_for(|it| it["type"] == "response" && it["request_seq"] == number)?;
        ensure!(answer["success"] == true, "{answer:#}");
        Ok(answer["body"].clone())
    }

    /// Waits for an event and returns its body.
    pub(super) fn event(&mut self, event: &str) -> Result<Value> {
        let event = self.wait_for(|it| it["type"] == "event" && it["event"] == event)?;
        Ok(event["body"].clone())
    }

    fn wait_for(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        if let Some(at) = self.kept.iter().position(&is_wanted) {
            return Ok(self.kept.remove(at));
        }
        loop {
            let message = self.read()?;
            if is_wanted(&message) {
                return Ok(message);
            }
            self.kept.push(message);
        }
    }

    fn read(&mut self) -> Result<Value> {
        let mut length = None;
        loop {
            let mut line = String::new();
            let count = self.stream.read_line(&mut line)?;
            ensure!(count > 0, "the debugger has gone; before: {:#?}", self.kept);
            if line == "\r\n" {
                break;
            }
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = Some(value.trim().parse::<usize>()?);
            }
        }
        let length = length.context("a length")?;
        ensure!(length <= MAX_MESSAGE_BYTES, "{length} bytes are too many");
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }
}
