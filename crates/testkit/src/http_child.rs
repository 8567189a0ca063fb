//! A small HTTP server that somebody else starts and watches over.
//!
//! No program that could serve needs to be installed: a test executable is started again with the
//! name of one of its tests, and that test serves.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use crate::setting;

/// Names the port to serve on; without it nothing is served.
pub const SERVE_PORT: &str = "TESTKIT_SERVE_PORT";
/// Names a file: while it exists, the answer is 503 instead of 200.
pub const SERVE_HELD: &str = "TESTKIT_SERVE_HELD";
/// Says after how many answers the server ends; without it, it never does.
pub const SERVE_TIMES: &str = "TESTKIT_SERVE_TIMES";

/// Returns the command that runs `test` of this test executable, which calls [`serve_if_asked`].
pub fn server_command(test: &str) -> Vec<String> {
    let program = std::env::current_exe().expect("a test knows its executable");
    let program = program.to_str().expect("a readable path").to_owned();
    [&program, "--exact", test, "--nocapture"]
        .map(Into::into)
        .to_vec()
}

/// Serves as the variables [`SERVE_PORT`], [`SERVE_HELD`] and [`SERVE_TIMES`] ask for; returns at
/// once in an ordinary test run, where they are not set.
pub fn serve_if_asked() {
    let Some(port) = setting(SERVE_PORT).and_then(|port| port.parse::<u16>().ok()) else {
        return;
    };
    let held = setting(SERVE_HELD);
    let times = setting(SERVE_TIMES).map_or(usize::MAX, |times| times.parse().unwrap_or(1));
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("nobody else has the port");
    for stream in listener.incoming().flatten().take(times) {
        let is_held = held.as_ref().is_some_and(|file| Path::new(file).exists());
        // Whoever asks may go away before the answer.
        let _ = answer(stream, if is_held { "503 Held" } else { "200 OK" });
    }
}

fn answer(mut stream: TcpStream, status: &str) -> std::io::Result<()> {
    let mut request = [0; 1024];
    let _ = stream.read(&mut request)?;
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
}
