//! Data directories of earlier versions.

use std::fs;
use std::path::Path;

use flate2::read::GzDecoder;
use pathline_testkit::{Leash, repository_root};
use rustix::process::Signal;
use serde_json::Value;

use crate::instance::document;
use crate::program::{Running, pathline, stderr, stdout};
use crate::up::UP;

/// The commit that the earlier version delivered last.
const COMMIT: &str = "source=19b78704b74ab5b187d82ca79150902af5d62fd9";
/// The secret of its token `ci`, of the scope `write`.
const CI_TOKEN: &str = "pathline_689f14a12b9d11f1e9ac23a74e0e0a1573f9516386dd2544dc3fb5dc743b0f7d";

/// Unpacks the data directory of an earlier version, and starts `up` on it.
fn up() -> Running {
    let leash = Leash::new("pathline-it-").expect("a scratch directory");
    let packed = repository_root().join("crates/pathline/testdata/data-dir-1.tar.gz");
    let packed = fs::File::open(packed).expect("it is kept");
    let mut archive = tar::Archive::new(GzDecoder::new(packed));
    archive.unpack(leash.directory()).expect("it is an archive");
    let mut up = Running::start_in(leash, &[&UP[..], &["--data-dir", "data"]].concat());
    assert_eq!(up.json()["ready"], true);
    up
}

/// Runs a command on the data directory, and returns its exit code and its answer.
fn ask(directory: &Path, arguments: &[&str]) -> (Option<i32>, Value) {
    let mut command = pathline();
    command.args(arguments).args(["-o", "json", "--data-dir"]);
    let answer = command.arg(directory.join("data")).output();
    let answer = answer.expect("it runs");
    (answer.status.code(), document(&stdout(&answer)))
}

#[test]
fn data_directory_of_an_earlier_version_is_opened_and_waited_on() {
    let up = up();
    let directory = up.directory().to_owned();
    let wait = ["wait", "workload/hello", "--for", COMMIT, "--timeout", "2m"];
    let (code, waited) = ask(&directory, &wait);
    assert_eq!(
        (code, &waited["state"]),
        (Some(0), &"holds".into()),
        "{waited}"
    );
    assert_eq!(waited["progress"][0]["for"], COMMIT, "{waited}");

    // The records of the earlier version are found.
    let (code, found) = ask(&directory, &["lineage", "--contains", COMMIT]);
    assert_eq!(code, Some(0), "{found}");
    let carriers = found["carriers"].as_array().expect("they are listed");
    let made_by = |name: &str| carriers.iter().any(|it| it["resource"] == name);
    for resource in ["source", "test", "build", "manifest", "manifests", "run"] {
        assert!(made_by(resource), "{resource} is missing: {found}");
    }

    up.signal(Signal::TERM);
    assert_eq!(up.wait().code, Some(0));
}

#[test]
fn tokens_of_an_earlier_version_may_do_what_they_could() {
    let up = up();
    let ask = |arguments: &[&str]| {
        let mut command = pathline();
        command.args(arguments).arg("--data-dir");
        command.arg(up.directory().join("data"));
        command.env("PATHLINE_TOKEN", CI_TOKEN);
        command.output().expect("it runs")
    };
    let read = ask(&["lineage", "workload/hello"]);
    assert_eq!(read.status.code(), Some(0), "{}", stderr(&read));
    let refused = ask(&["token", "list"]);
    let said = stderr(&refused);
    assert_ne!(refused.status.code(), Some(0));
    assert!(
        said.contains("needs the scope `admin`, and the token `ci` has `write`"),
        "{said}"
    );
}
