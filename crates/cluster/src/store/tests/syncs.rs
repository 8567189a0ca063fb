//! Acknowledged means on disk: the syncs are counted from outside, by strace.

use std::fs;

use pathline_testkit::{child_under, tell_parent};
use tokio::runtime::Runtime;

use super::*;

const WRITES: usize = 20;
const TOGETHER: usize = 64;

/// Writes one object after the other, saying when each is sent and when it is acknowledged, then
/// many at once.
async fn write_one_by_one() {
    let store = open(Path::new("."), Limits::default()).await;
    for number in 0..WRITES {
        tell_parent(&format!("send {number}"));
        store
            .write(put(&mk_key("", &format!("a{number}")), Expect::Absent, 1))
            .await
            .unwrap();
        tell_parent(&format!("ack {number}"));
    }
    let writes =
        (0..TOGETHER).map(|number| put(&mk_key("", &format!("b{number}")), Expect::Absent, 1));
    tell_parent("send together");
    futures::future::try_join_all(writes.map(|write| store.write(write)))
        .await
        .unwrap();
    tell_parent("ack together");
}

/// Returns how many syncs of the write-ahead log ended between two lines of the traced child.
fn syncs_between(trace: &[&str], from: &str, to: &str) -> usize {
    let said = |what: &str| {
        let quoted = format!("\"{what}\\n\"");
        trace
            .iter()
            .position(|line| line.contains(&quoted))
            .expect("the traced child said it")
    };
    let synced = |line: &&&str| {
        let ended = line.contains("resumed>") || line.contains("cluster.db-wal>)");
        line.contains("sync") && ended && line.ends_with("= 0")
    };
    trace[said(from)..said(to)].iter().filter(synced).count()
}

#[test]
fn every_acknowledged_write_was_synced_first() {
    let test = "store::tests::syncs::every_acknowledged_write_was_synced_first";
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
    let Some(mut traced) = child_under(&strace, test) else {
        return Runtime::new().unwrap().block_on(write_one_by_one());
    };
    let Ok(traced) = traced.current_dir(directory.path()).output() else {
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
