use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::program::{Running, pathline, stderr, stdout};

/// Asks for a path and returns the whole answer.
pub(crate) fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").expect("it takes the request");
    let mut answer = String::new();
    stream
        .read_to_string(&mut answer)
        .expect("it answers with text");
    answer
}

/// Packs a directory with the system's `tar`, as an independent hand, and refers to it.
fn pack(directory: &Path) -> String {
    let script = "mkdir public && printf '<h1>hello</h1>' > public/index.html &&
        tar -czf site.tar.gz -C public . && sha256sum site.tar.gz | cut -d ' ' -f 1";
    let packed = Command::new("sh")
        .args(["-c", script])
        .current_dir(directory)
        .output()
        .expect("a shell");
    assert!(packed.status.success(), "{packed:?}");
    let digest = stdout(&packed);
    let place = directory.display();
    format!("file://{place}/site.tar.gz:c0ffee@sha256:{}", digest.trim())
}

#[test]
fn site_of_a_manifest_is_served_with_its_commit() {
    let home = TempDir::new().unwrap();
    let manifest = home.path().join("site.yaml");
    fs::write(&manifest, format!("image: {}\n", pack(home.path()))).unwrap();

    let mut site = Running::start(&["site", "--manifest", manifest.to_str().unwrap()]);
    site.wait_for_stderr("serving on http://");
    let told = site.stderr().to_owned();
    let address = told
        .split("http://")
        .nth(1)
        .unwrap()
        .split_whitespace()
        .next()
        .unwrap();

    let answer = get(address, "/");
    assert!(answer.contains("x-pathline-commit: c0ffee"), "{answer}");
    assert!(answer.ends_with("<h1>hello</h1>"), "{answer}");
    assert!(get(address, "/healthz").starts_with("HTTP/1.0 200"));
    site.signal(Signal::TERM);
    assert_eq!(site.wait().code, Some(0));
}

#[test]
fn archive_that_is_missing_is_named() {
    let home = TempDir::new().unwrap();
    let digest = "0".repeat(64);
    let image = format!("image: file:///nowhere.tar.gz:c0ffee@sha256:{digest}\n");
    fs::write(home.path().join("site.yaml"), image).unwrap();
    let mut command = pathline();
    command
        .args(["site", "--manifest", "site.yaml"])
        .current_dir(&home);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("cannot serve the archive /nowhere.tar.gz"),
        "{}",
        stderr(&output)
    );
}
