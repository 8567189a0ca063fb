//! Servers that never come to an end, and what is left of us when we have had enough of them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use pathline_testkit::scripted_server::{Answer, Server, packet, version_2};
use tempfile::TempDir;

use crate::measured_fetch::{self, Programs};

/// Fetches from a server, and returns why that failed, after everything has ended.
fn refusal(server: &Server, seconds: u64) -> Result<String> {
    let directory = TempDir::new()?;
    let report = measured_fetch::fetch(&server.url(), directory.path(), seconds)?;
    server.assert_left();
    Ok(report.refusal())
}

fn assert_contains(told: &str, expected: &str) {
    assert!(told.contains(expected), "`{expected}` is not in `{told}`");
}

#[test]
fn hole_4_silent_server_is_left_at_the_deadline() -> Result<()> {
    let silent = Server::start(|_, answer| answer.wait());
    assert_contains(&refusal(&silent, 1)?, "no answer within 1 s");
    let silent = version_2("fetch", Answer::wait);
    assert_contains(&refusal(&silent, 1)?, "no answer within 1 s");
    Ok(())
}

#[test]
fn hole_4_server_that_drips_is_left_at_the_deadline() -> Result<()> {
    let slow = Server::start(move |_, answer| {
        answer.begin("upload-pack-advertisement")?;
        answer.send(b"0fff")?;
        loop {
            answer.send(b"x")?;
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    assert_contains(&refusal(&slow, 2)?, "no answer within 2 s");
    let slow = version_2("fetch", move |answer| {
        answer.packet(b"packfile\n")?;
        loop {
            answer.packet(b"\x02wait\n")?;
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    assert_contains(&refusal(&slow, 2)?, "no answer within 2 s");
    Ok(())
}

#[test]
fn hole_4_list_of_references_without_an_end_is_cut() -> Result<()> {
    let line = |number: usize| format!("{} refs/heads/branch-{number}\n", "1".repeat(40));
    let many: Vec<u8> = (0..1000)
        .flat_map(|it| packet(line(it).as_bytes()))
        .collect();
    let lines = many.clone();
    let advertised = Server::start(move |_, answer| {
        answer.begin("upload-pack-advertisement")?;
        answer.packet(format!("{} HEAD\0shallow side-band-64k\n", "1".repeat(40)).as_bytes())?;
        answer.repeat(&lines)
    });
    let listed = version_2("ls-refs", move |answer| answer.repeat(&many));
    for server in [advertised, listed] {
        let told = refusal(&server, 120)?;
        assert_contains(&told, "the list of references has more than 67108864 bytes");
    }
    Ok(())
}

#[test]
fn hole_4_packets_without_content_are_counted() -> Result<()> {
    let empty = version_2("ls-refs", |answer| answer.repeat(&b"0004".repeat(10_000)));
    assert!(!refusal(&empty, 120)?.is_empty());
    let capabilities = Server::start(|_, answer| {
        answer.begin("upload-pack-advertisement")?;
        answer.packet(b"version 2\n")?;
        answer.repeat(&packet(b"agent=x\n").repeat(1000))
    });
    let told = refusal(&capabilities, 120)?;
    assert_contains(&told, "the capabilities do not end");
    let shallow = version_2("fetch", |answer| {
        answer.packet(b"shallow-info\n")?;
        let line = format!("shallow {}\n", "1".repeat(40));
        answer.repeat(&packet(line.as_bytes()).repeat(100))
    });
    let told = refusal(&shallow, 120)?;
    assert_contains(
        &told,
        "the answer before the pack has more than 1048576 bytes",
    );
    Ok(())
}

#[test]
fn hole_4_progress_without_an_end_is_cut() -> Result<()> {
    let busy = version_2("fetch", |answer| {
        answer.packet(b"packfile\n")?;
        answer.repeat(&packet(
            &[b"\x02", "busy ".repeat(10_000).as_bytes()].concat(),
        ))
    });
    let told = refusal(&busy, 120)?;
    assert_contains(&told, "the pack has more than 268435456 bytes");
    Ok(())
}

#[test]
fn hole_4_pack_without_an_end_is_cut_and_leaves_nothing() -> Result<()> {
    let endless = version_2("fetch", |answer| {
        answer.packet(b"packfile\n")?;
        answer.packet(b"\x01PACK\0\0\0\x02\0\0\0\x01")?;
        // A file of 1 GiB, in blocks that are not compressed.
        answer.packet(b"\x01\xb0\x80\x80\x80\x20\x78\x01")?;
        let block = [b"\x01\0\x60\xea\x9f\x15".as_slice(), &[7; 60_000]].concat();
        answer.repeat(&packet(&block))
    });
    let directory = TempDir::new()?;
    let report = measured_fetch::fetch(&endless.url(), directory.path(), 300)?;
    endless.assert_left();
    let told = report.refusal();
    assert_contains(&told, "the pack has more than 268435456 bytes");
    let left = disk_usage(directory.path())?;
    assert!(left < 1 << 20, "{left} bytes are left behind");
    Ok(())
}

/// Adds up the sizes of all files below a directory.
fn disk_usage(directory: &Path) -> Result<u64> {
    let (mut sum, mut ahead) = (0, vec![directory.to_owned()]);
    while let Some(directory) = ahead.pop() {
        for entry in std::fs::read_dir(directory)? {
            let (path, found) = entry.and_then(|it| Ok((it.path(), it.metadata()?)))?;
            if found.is_dir() {
                ahead.push(path);
            } else {
                sum += found.len();
            }
        }
    }
    Ok(sum)
}

#[test]
fn hole_4_redirects_and_error_pages_without_an_end_are_left() -> Result<()> {
    let round = Server::start(|request, answer| {
        let target = request.line.split(' ').nth(1).unwrap_or_default();
        let target = target.replace("a.git", "a.git/a.git");
        answer.head(&format!("302 Found\r\nLocation: {target}"))?;
        answer.repeat(&[b' '; 10_000])
    });
    let told = refusal(&round, 120)?;
    assert_contains(&told, "it redirects more than 5 times");
    let broken = Server::start(|_, answer| {
        answer.head("500 Oops")?;
        answer.repeat(&[b' '; 10_000])
    });
    assert_contains(&refusal(&broken, 120)?, "HTTP status 500");
    let other = Server::start(|_, answer| {
        answer.head("200 OK\r\nContent-Type: text/html")?;
        answer.repeat(&[b' '; 10_000])
    });
    let told = refusal(&other, 120)?;
    assert_contains(&told, "it does not speak git's smart protocol");
    let bomb = Server::start(|_, answer| {
        answer.head(
            "200 OK\r\nContent-Encoding: gzip\r\nContent-Type: application/x-git-upload-pack-advertisement",
        )?;
        answer.repeat(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])
    });
    let told = refusal(&bomb, 120)?;
    assert_contains(&told, "the answer is malformed");
    Ok(())
}

#[test]
fn hole_4_credentials_do_not_follow_a_redirect() -> Result<()> {
    let seen = std::sync::Arc::new(parking_lot::Mutex::new(String::new()));
    let noted = seen.clone();
    let elsewhere = Server::start(move |request, answer| {
        noted.lock().push_str(&request.headers);
        answer.head("401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"")?;
        answer.end()
    });
    let address = elsewhere.address;
    let server = Server::start(move |request, answer| {
        let target = request.line.split(' ').nth(1).unwrap_or_default();
        answer.head(&format!("301 Moved\r\nLocation: http://{address}{target}"))?;
        answer.end()
    });
    let directory = TempDir::new()?;
    let url = server.url().replace("http://", "http://bot:s3cret@");
    let report = measured_fetch::fetch(&url, directory.path(), 60)?;
    assert_contains(&report.refusal(), "it redirects to another server");
    let seen = seen.lock().clone();
    assert!(seen.contains("host:"), "it was asked: {seen}");
    assert!(!seen.contains("authorization"), "{seen}");
    Ok(())
}

/// Puts a program into a directory that starts another one and says nothing, and returns its notes.
fn silent_program(directory: &Path, name: &str) -> Result<PathBuf> {
    let (program, notes) = (directory.join(name), directory.join("notes"));
    let script = format!(
        "#!/bin/sh\nsleep 600 &\necho $$ $! > {}\nwait\n",
        notes.display()
    );
    std::fs::write(&program, script)?;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
    Ok(notes)
}

/// Tells whether a process is there and has not ended.
fn runs(process: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat"));
    status.is_ok_and(|it| !it.contains(") Z "))
}

#[test]
fn hole_4_silent_program_ends_with_all_that_it_started() -> Result<()> {
    for (name, url) in [("git", "file:///srv/a.git"), ("ssh", "ssh://example.org/a")] {
        let directory = TempDir::new()?;
        let programs = directory.path().join("programs");
        std::fs::create_dir(&programs)?;
        let notes = silent_program(&programs, name)?;
        let report =
            measured_fetch::fetch_with(url, directory.path(), 2, Programs::Before(&programs))?;
        assert_contains(&report.refusal(), "no answer within 2 s");
        let started = std::fs::read_to_string(notes)?;
        assert_eq!(started.split_whitespace().count(), 2, "{started}");
        for process in started.split_whitespace() {
            assert!(!runs(process), "{name}: {process} still runs");
        }
    }
    Ok(())
}

#[test]
fn hole_4_program_that_only_complains_is_told_and_left() -> Result<()> {
    let directory = TempDir::new()?;
    let programs = directory.path().join("programs");
    std::fs::create_dir(&programs)?;
    silent_program(&programs, "ssh")?;
    let script = "#!/bin/sh\nyes 'no such host' | head -c 1000000 >&2\nexit 255\n";
    std::fs::write(programs.join("ssh"), script)?;
    let (url, programs) = ("ssh://example.org/a", Programs::Before(&programs));
    let told = measured_fetch::fetch_with(url, directory.path(), 60, programs)?.refusal();
    assert_contains(&told, "the connection was closed: no such host");
    assert!(told.len() < 4000, "{} bytes are told", told.len());
    Ok(())
}
