//! Acknowledged means on disk: the syncs are counted from outside, by strace.

use std::fs;

use super::*;

const WRITES: usize = 20;
const TOGETHER: usize = 64;

/// Writes one object after the other, saying when each is sent and when it is acknowledged, then
/// many at once.
#[tokio::test]
#[ignore = "the traced half of `every_acknowledged_write_was_synced_first`"]
async fn writes_one_by_one() {
    let store = open(&child::directory(), Limits::default()).await;
    for number in 0..WRITES {
        child::say(&format!("send {number}"));
        store
            .write(put(&mk_key("", &format!("a{number}")), Expect::Absent, 1))
            .await
            .unwrap();
        child::say(&format!("ack {number}"));
    }
    let writes =
        (0..TOGETHER).map(|number| put(&mk_key("", &format!("b{number}")), Expect::Absent, 1));
    child::say("send together");
    futures::future::try_join_all(writes.map(|write| store.write(write)))
        .await
        .unwrap();
    child::say("ack together");
}

/// Returns how many syncs of the write-ahead log ended between two lines of the traced half.
fn syncs_between(trace: &[&str], from: &str, to: &str) -> usize {
    let said = |what: &str| {
        let quoted = format!("\"{what}\\n\"");
        trace
            .iter()
            .position(|line| line.contains(&quoted))
            .expect("the traced half said it")
    };
    let synced = |line: &&&str| {
        let ended = line.contains("resumed>") || line.contains("cluster.db-wal>)");
        line.contains("sync") && ended && line.ends_with("= 0")
    };
    trace[said(from)..said(to)].iter().filter(synced).count()
}

#[test]
fn every_acknowledged_write_was_synced_first() {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("trace");
    let calls = "trace=fsync,fdatasync,write";
    let strace = [
        "strace",
        "-f",
        "-y",
        "-s",
        "64",
        "-e",
        calls,
        "-o",
        trace.to_str().unwrap(),
    ];
    let traced = child::prefixed(&strace, "syncs::writes_one_by_one", directory.path()).output();
    let Ok(traced) = traced else {
        return pathline_testkit::skip("counting syncs", "strace is not installed");
    };
    if String::from_utf8_lossy(&traced.stderr).contains("ptrace") {
        return pathline_testkit::skip("counting syncs", "this system does not allow strace");
    }
    assert!(
        traced.status.success(),
        "{}",
        String::from_utf8_lossy(&traced.stdout)
    );
    let trace = fs::read_to_string(trace).unwrap();
    let trace: Vec<&str> = trace.lines().collect();
    for number in 0..WRITES {
        let syncs = syncs_between(&trace, &format!("send {number}"), &format!("ack {number}"));
        assert!(syncs >= 1, "write {number} was acknowledged without a sync");
    }
    let together = syncs_between(&trace, "send together", "ack together");
    assert!(
        (1..TOGETHER).contains(&together),
        "{TOGETHER} writes at once took {together} syncs"
    );
}
