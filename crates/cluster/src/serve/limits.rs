//! The limits and time-outs of a server's connections.

use std::time::Duration;

use super::descriptors;

/// The most connections of a port that has no reason to have fewer.
const CONNECTIONS: usize = 8192;

/// The limits and time-outs of connections.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most connections at a time. When there are as many, the oldest one that has shown no
    /// credential makes room for a new one; if there is none, new ones wait to be accepted.
    pub connections: usize,
    /// The most requests at a time on one HTTP/2 connection.
    pub streams: u32,
    /// For the TLS handshake, and after it for the head of the first request, from the first byte on.
    pub greeting: Duration,
    /// Between requests, the head of the next one included.
    pub idle: Duration,
    /// For the body of a request.
    pub body: Duration,
    /// For each piece of an answer to be read, and between signs of life on a connection.
    pub send: Duration,
    /// For requests under way when the server stops.
    pub drain: Duration,
    /// For requests that have not arrived when the server stops.
    pub arrive: Duration,
}

impl Limits {
    /// Returns the usual limits of a port with at most so many connections. There are fewer where
    /// the system lets the process have few descriptors.
    pub fn of(connections: usize) -> Self {
        Self {
            connections: connections.min(descriptors::share()),
            streams: 250,
            greeting: Duration::from_secs(10),
            // More than the 90 seconds for which clients keep idle connections, so that it is the
            // client who closes them, and never just as it sends a request.
            idle: Duration::from_secs(120),
            // More than services take for themselves, which answer with a reason when it is up.
            body: Duration::from_secs(90),
            send: Duration::from_secs(30),
            drain: Duration::from_secs(5),
            arrive: Duration::from_secs(1),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::of(CONNECTIONS)
    }
}
