//! Server-sent events, followed across breaks of the connection.

use std::time::Duration;

use reqwest::Response;
use reqwest::header::{ACCEPT, HeaderValue};
use url::Url;

use super::{Client, Error};

/// The time that a stream may be silent; the server sends something far more often.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(60);
/// The time that an answer may take to begin.
const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause before the first new attempt, and the longest one.
const RETRY_INTERVALS: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(2));
/// The largest event that is read.
const MAX_EVENT_BYTES: usize = 16 << 20;

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The name; empty if it has none.
    pub name: String,
    /// The data, mostly JSON.
    pub data: String,
}

/// A stream of events.
///
/// When the connection breaks it is made again, to wherever the server is then, and goes on after the
/// last event that came, by its id. A server that cannot be reached is tried again until somebody
/// gives up; [`Events::trouble`] says then why there is no connection.
pub struct Events {
    client: Client,
    path: Vec<String>,
    query: Vec<(String, String)>,
    url: Url,
    response: Option<Response>,
    parser: Parser,
    trouble: Option<Error>,
    pause: Duration,
}

impl Events {
    pub(super) fn new(client: Client, path: Vec<String>, query: Vec<(String, String)>) -> Self {
        Self {
            url: client.address(&path, &query),
            client,
            path,
            query,
            response: None,
            parser: Parser::default(),
            trouble: None,
            pause: RETRY_INTERVALS.0,
        }
    }

    /// Tells whether the server is listening to us.
    pub fn is_connected(&self) -> bool {
        self.response.is_some()
    }

    /// Returns why the last attempt to connect failed, if it did.
    pub fn trouble(&mut self) -> Option<Error> {
        self.trouble.take()
    }

    /// Waits for the next event. Says through `broken` when the connection has to be made again.
    ///
    /// # Errors
    /// If the server refuses to answer, or an answer is not one of Pathline; never because it cannot be reached now.
    pub async fn next(&mut self, mut broken: impl FnMut(&Error)) -> Result<Event, Error> {
        loop {
            if let Some(event) = self.parser.next() {
                self.pause = RETRY_INTERVALS.0;
                return Ok(event);
            }
            if let Err(error) = self.read().await {
                if !error.is_passing() {
                    return Err(error);
                }
                broken(&error);
                self.trouble = Some(error);
                self.response = None;
                self.parser.start_over();
                tokio::time::sleep(self.pause).await;
                self.pause = (self.pause * 2).min(RETRY_INTERVALS.1);
            }
        }
    }

    /// Reads a piece of the stream, connecting first if need be.
    async fn read(&mut self) -> Result<(), Error> {
        let Some(response) = &mut self.response else {
            self.response = Some(self.connect().await?);
            self.trouble = None;
            return Ok(());
        };
        let chunk = tokio::time::timeout(SILENCE_TIMEOUT, response.chunk()).await;
        let Ok(chunk) = chunk else {
            self.response = None;
            return Ok(());
        };
        match chunk.map_err(|source| self.client.failed(&self.url, source))? {
            Some(chunk) if self.parser.feed(&chunk) => Ok(()),
            Some(_) => Err(Error::TooLarge {
                url: self.url.clone(),
                limit: MAX_EVENT_BYTES,
            }),
            None => {
                // An orderly end: the server stops, or has served us long enough.
                self.response = None;
                self.parser.start_over();
                tokio::time::sleep(self.pause).await;
                Ok(())
            }
        }
    }

    async fn connect(&mut self) -> Result<Response, Error> {
        self.client = self.client.find_again()?;
        self.url = self.client.address(&self.path, &self.query);
        let request = self.client.http.get(self.url.clone());
        let mut request = request.header(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(id) = &self.parser.last_id {
            request = request.header("last-event-id", id);
        }
        // Whoever has the port now may never answer, and Pathline may have another one.
        let sent =
            tokio::time::timeout(FIRST_BYTE_TIMEOUT, self.client.send(request, &self.url)).await;
        sent.unwrap_or_else(|_| {
            Err(Error::Silent {
                url: self.url.clone(),
                waited: FIRST_BYTE_TIMEOUT,
            })
        })
    }
}

/// Reads events out of the bytes of a stream, as the HTML standard says.
#[derive(Debug, Default)]
struct Parser {
    bytes: Vec<u8>,
    event: Event,
    has_data: bool,
    /// The id that the event under way brings.
    id: Option<String>,
    last_id: Option<String>,
}

impl Parser {
    /// Takes more bytes; false if an event becomes too large.
    fn feed(&mut self, bytes: &[u8]) -> bool {
        self.bytes.extend_from_slice(bytes);
        self.bytes.len() + self.event.data.len() <= MAX_EVENT_BYTES
    }

    /// Forgets what has not come whole.
    fn start_over(&mut self) {
        let last_id = self.last_id.take();
        *self = Self {
            last_id,
            ..Self::default()
        };
    }

    /// Returns the next whole event.
    fn next(&mut self) -> Option<Event> {
        while let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.bytes.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches(['\n', '\r']);
            if let Some(event) = self.line(line) {
                return Some(event);
            }
        }
        None
    }

    fn line(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            return self.end();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "id" => self.id = Some(value.to_owned()),
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.has_data = true;
                self.event.data.push_str(value);
            }
            _ => {}
        }
        None
    }

    fn end(&mut self) -> Option<Event> {
        self.last_id = self.id.take().or(self.last_id.take());
        let event = std::mem::take(&mut self.event);
        std::mem::take(&mut self.has_data).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mk_event(name: &str, data: &str) -> Event {
        Event {
            name: name.to_owned(),
            data: data.to_owned(),
        }
    }

    fn all(parser: &mut Parser) -> Vec<Event> {
        std::iter::from_fn(|| parser.next()).collect()
    }

    #[test]
    fn events_are_read_however_they_are_cut() {
        let text = ": hello\n\nid: 7\nevent: state\ndata: {\"a\":\ndata: 1}\n\ndata:x\r\n\r\n";
        let expected = [mk_event("state", "{\"a\":\n1}"), mk_event("", "x")];
        for size in 1..text.len() {
            let mut parser = Parser::default();
            let mut events = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                assert!(parser.feed(piece));
                events.extend(all(&mut parser));
            }
            assert_eq!(events, expected, "in pieces of {size}");
            assert_eq!(parser.last_id.as_deref(), Some("7"));
        }
    }

    #[test]
    fn half_an_event_is_forgotten_with_its_id() {
        let mut parser = Parser::default();
        parser.feed(b"id: 1\ndata: a\n\nid: 2\ndata: b\n");
        assert_eq!(all(&mut parser), [mk_event("", "a")]);
        parser.start_over();
        parser.feed(b"data: c\n\n");
        assert_eq!(all(&mut parser), [mk_event("", "c")]);
        assert_eq!(parser.last_id.as_deref(), Some("1"));
    }

    #[test]
    fn event_without_end_is_refused() {
        let mut parser = Parser::default();
        assert!(parser.feed(&vec![b'a'; MAX_EVENT_BYTES]));
        assert!(!parser.feed(b"a"));
    }
}
