//! The places in which secrets are looked for.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use serde_json::Value;

use super::sentinel::Sentinels;
use crate::tracking::world::World;

/// Returns all files below a directory.
pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        let Ok(entries) = fs::read_dir(directory) else {
            continue;
        };
        for entry in entries.flatten() {
            let kind = entry.file_type();
            match kind.is_ok_and(|it| it.is_dir()) {
                true => open.push(entry.path()),
                false => found.push(entry.path()),
            }
        }
    }
    found
}

/// Reads everything that the stream tells, from the first change on, until it ends.
pub(crate) fn record_stream(world: &World) -> JoinHandle<String> {
    let mut stream = TcpStream::connect(world.address()).expect("it answers");
    let head = format!(
        "GET /stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nLast-Event-ID: 0\r\n\r\n",
        world.rest_token()
    );
    stream.write_all(head.as_bytes()).expect("it is taken");
    std::thread::spawn(move || {
        let mut told = Vec::new();
        // What was told before it was cut off counts.
        let _ended = stream.read_to_end(&mut told);
        String::from_utf8_lossy(&told).into_owned()
    })
}

/// Returns the requests for everything that can be read: each GET of the description, for these names; an object is given
/// by its namespace, its kind and its name.
pub(crate) fn readings(
    world: &World,
    trackers: &[&str],
    releases: &[String],
    [namespace, kind, name]: [&str; 3],
) -> Vec<String> {
    let description = world.rest("GET /openapi.json", None).json();
    let paths = description["paths"].as_object().expect("paths");
    let mut readings = Vec::new();
    for (path, operations) in paths {
        // The stream has no end; it is read by itself.
        if operations.get("get").is_none() || path == "/stream" {
            continue;
        }
        let ids: Vec<&str> = match path.as_str() {
            path if path.starts_with("/trackers/{id}") => trackers.to_vec(),
            path if path.starts_with("/releases/{id}") => {
                releases.iter().map(String::as_str).collect()
            }
            _ => vec!["nothing"],
        };
        let path = path.replace("{namespace}", namespace);
        let path = path.replace("{kind}", kind).replace("{name}", name);
        let path = match path.ends_with("/wait") {
            true => path + "?timeout=0",
            false => path,
        };
        readings.extend(
            ids.iter()
                .map(|id| format!("GET {}", path.replace("{id}", id))),
        );
    }
    readings
}

/// Asks, fails if a secret is in the answer, and returns its status.
pub(crate) fn ask(
    sentinels: &Sentinels,
    world: &World,
    request: &str,
    body: Option<&Value>,
) -> u16 {
    let answer = world.rest(request, body);
    let told = format!("{answer:?}");
    sentinels.assert_none(&format!("the answer to {request}"), told.as_bytes());
    answer.status
}

/// Runs a command, and fails if a secret is in what it says.
pub(crate) fn run(sentinels: &Sentinels, world: &World, arguments: &[&str]) {
    let output = world.run(arguments);
    let place = format!("what {arguments:?} says");
    for said in [&output.stdout, &output.stderr] {
        sentinels.assert_none(&place, said);
    }
}

/// Fails if a process, or one of those between it and Pathline, was given a secret.
pub(crate) fn assert_none_below(sentinels: &Sentinels, pathline: u32, pid: u32) {
    let mut pid = pid;
    while pid != pathline && pid > 1 {
        let directory = PathBuf::from(format!("/proc/{pid}"));
        let name = fs::read_to_string(directory.join("comm")).expect("it runs");
        for file in ["environ", "cmdline"] {
            let content = fs::read(directory.join(file)).expect("it runs");
            sentinels.assert_none(&format!("{file} of {name}"), &content);
        }
        for open in fs::read_dir(directory.join("fd"))
            .expect("it runs")
            .flatten()
        {
            // A pipe or a file that is gone has no content here.
            let Ok(target) = fs::read_link(open.path()) else {
                continue;
            };
            sentinels.assert_none_in_file(&target);
        }
        pid = parent(pid);
    }
}

/// Returns the process that has started another one.
pub(crate) fn parent(pid: u32) -> u32 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|it| it.strip_prefix("PPid:"));
    line.and_then(|it| it.trim().parse().ok())
        .expect("a number")
}
