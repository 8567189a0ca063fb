//! The places in which secrets are looked for.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use super::super::world::World;
use super::sentinel::Sentinels;

/// Returns all files below a directory.
pub(super) fn files(directory: &Path) -> Vec<PathBuf> {
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
pub(super) fn record_stream(world: &World) -> JoinHandle<String> {
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

/// Returns the requests for everything that can be read: each GET of the description, for these names.
pub(super) fn readings(world: &World, trackers: &[&str], releases: &[String]) -> Vec<String> {
    let description = world.rest("GET /openapi.json", None).json();
    let paths = description["paths"].as_object().expect("paths");
    let mut readings = Vec::new();
    for (path, operations) in paths {
        // The stream has no end; it is read by itself.
        if operations.get("get").is_none() || path == "/stream" {
            continue;
        }
        let ids: Vec<&str> = match path.as_str() {
            "/trackers/{id}" => trackers.to_vec(),
            "/releases/{id}" => releases.iter().map(String::as_str).collect(),
            _ => vec!["nothing"],
        };
        let path = path
            .replace("{namespace}", "default")
            .replace("{kind}", "Task");
        let path = path.replace("{name}", "works");
        readings.extend(
            ids.iter()
                .map(|id| format!("GET {}", path.replace("{id}", id))),
        );
    }
    readings
}

/// Fails if a process, or one of those between it and Pathline, was given a secret.
pub(super) fn assert_none_below(sentinels: &Sentinels, pathline: u32, pid: u32) {
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
        pid = parent(&directory);
    }
}

fn parent(process: &Path) -> u32 {
    let status = fs::read_to_string(process.join("status")).expect("it runs");
    let line = status.lines().find_map(|it| it.strip_prefix("PPid:"));
    line.and_then(|it| it.trim().parse().ok())
        .expect("a number")
}
