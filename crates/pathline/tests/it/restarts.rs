//! `pathline wait` while Pathline is away.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use kube::Api;
use pathline_kinds::carto::{Live, Workload};
use pathline_kinds::workers::Process;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

use crate::instance::{Instance, document, end};

const LIMIT: Duration = Duration::from_secs(60);

/// A workload that no supply chain selects, until one does.
const WORKLOAD: &str = "
apiVersion: carto.run/v1alpha1
kind: Workload
metadata: {name: app, namespace: default, labels: {path: settings}}
spec: {params: [{name: debug, value: 'on'}]}
";

const CHAIN: &str = "
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: settings}
spec:
  params: [{name: debug, default: 'off'}]
  healthRule: {alwaysHealthy: {}}
  template:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: $(workload.metadata.name)$}
    data: {debug: $(params.debug)$}
---
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: settings}
spec:
  selector: {path: settings}
  resources: [{name: make, templateRef: {kind: ClusterTemplate, name: settings}}]
";

#[test]
fn point_13_wait_goes_on_with_a_pathline_that_was_started_again_on_another_port() -> Result<()> {
    let mut instance = Instance::start()?;
    instance.apply(WORKLOAD)?;
    let mut waiting = instance.ask(&["wait", "workload/app", "--for", "param:debug=on"]);
    waiting.wait_for_stderr("no path has been chosen yet");
    let before = instance.ready["url"].clone();
    let leash = instance.stop()?;
    waiting.wait_for_stderr("no Pathline runs on");
    // Somebody else has the port now.
    let address = before.as_str().context("an address")?;
    let address = address.trim_start_matches("http://");
    let _taken = std::net::TcpListener::bind(address);
    instance.start_again(leash);
    assert_ne!(before, instance.ready["url"]);
    instance.apply(CHAIN)?;
    let (code, _, stderr) = end(waiting);
    assert_eq!(code, Some(0), "{stderr}");
    Ok(())
}

/// Answers once as some other program does, and says nothing to whoever comes after that.
fn stand_in(address: &str) -> Result<mpsc::Receiver<()>> {
    let listener = TcpListener::bind(address)?;
    let (asked, was_asked) = mpsc::channel();
    std::thread::spawn(move || {
        let mut silent = Vec::new();
        for (index, stream) in listener.incoming().flatten().enumerate() {
            if index == 0 {
                let mut stream = stream;
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nno");
            } else {
                silent.push(stream);
            }
            if asked.send(()).is_err() {
                return;
            }
        }
    });
    Ok(was_asked)
}

#[test]
fn point_13_whoever_has_the_port_of_pathline_now_does_not_answer_for_it() -> Result<()> {
    let mut instance = Instance::start()?;
    instance.apply(WORKLOAD)?;
    let mut waiting = instance.ask(&["wait", "workload/app", "--for", "param:debug=on"]);
    waiting.wait_for_stderr("no path has been chosen yet");
    let address = instance.ready["url"].as_str().context("an address")?;
    let address = address.trim_start_matches("http://").to_owned();
    let leash = instance.kill()?;
    let was_asked = stand_in(&address)?;
    for _ in 0..2 {
        was_asked.recv().context("somebody asks")?;
    }
    instance.start_again(leash);
    instance.apply(CHAIN)?;
    let (code, _, stderr) = end(waiting);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("and not as Pathline does"), "{stderr}");
    Ok(())
}

#[test]
fn point_13_wait_that_begins_while_pathline_is_away_waits_for_it() -> Result<()> {
    let mut instance = Instance::start()?;
    instance.apply(&[CHAIN, "---", WORKLOAD].concat())?;
    let leash = instance.stop()?;
    let mut waiting = instance.ask(&["wait", "workload/app", "--for", "param:debug=on"]);
    waiting.wait_for_stderr("waiting until one is started");
    instance.start_again(leash);
    let (code, _, stderr) = end(waiting);
    assert_eq!(code, Some(0), "{stderr}");
    Ok(())
}

#[test]
fn point_13_when_nobody_can_be_asked_until_the_end_the_answer_is_not_known() -> Result<()> {
    let mut instance = Instance::start()?;
    instance.apply(WORKLOAD)?;
    let wait = ["wait", "workload/app", "--for", "param:debug=on"];
    let mut waiting = instance.ask(&[&wait[..], &["--timeout", "20s"]].concat());
    waiting.wait_for_stderr("no path has been chosen yet");
    let address = instance.ready["url"].as_str().context("an address")?;
    let address = address.to_owned();
    let leash = instance.stop()?;
    let (code, stdout, stderr) = end(waiting);
    assert_eq!(code, Some(3), "{stderr}");
    assert!(stderr.contains("nobody could be asked"), "{stderr}");
    assert_eq!(stdout, "");

    // One that was never there is tried until the end, too.
    let token = leash.directory().join(".pathline/rest.token");
    let token = token.to_str().context("a path")?;
    let elsewhere = ["--server", &address, "--token-file", token];
    let waiting = instance.ask(&[&wait[..], &["--timeout", "1s"], &elsewhere].concat());
    let (code, _, stderr) = end(waiting);
    assert_eq!(code, Some(3), "{stderr}");
    assert!(stderr.contains("trying again"), "{stderr}");
    Ok(())
}

pub(crate) const PROCESS: &str = "
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: run}
spec:
  params: [{name: debug, default: 'off'}]
  healthRule: {singleConditionType: Ready}
  template:
    apiVersion: pathline.dev/v1alpha1
    kind: Process
    metadata: {name: $(workload.metadata.name)$}
    spec: {command: [sleep, '100000'], env: [{name: DEBUG, value: $(params.debug)$}]}
---
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: run}
spec:
  selector: {path: run}
  resources: [{name: run, templateRef: {kind: ClusterTemplate, name: run}}]
---
apiVersion: carto.run/v1alpha1
kind: Workload
metadata: {name: app, namespace: default, labels: {path: run}}
spec: {params: [{name: debug, value: 'on'}]}
";

/// As when the machine was switched off: neither Pathline nor the process had a last word.
#[test]
fn point_2_what_ran_before_a_crash_is_not_live_until_it_runs_again() -> Result<()> {
    let mut instance = Instance::start()?;
    instance.apply(PROCESS)?;
    let wait = ["wait", "workload/app", "--live", "-o", "json"];
    let (code, stdout, stderr) = end(instance.ask(&wait));
    assert_eq!(code, Some(0), "{stderr}");
    let mut before = pid(&document(&stdout))?;
    for is_orphan in [false, true, false] {
        let leash = instance.kill()?;
        if !is_orphan {
            // Its keeper may have been quicker.
            let _ = kill_process(before, Signal::KILL);
        }
        let waiting = instance.ask(&wait);
        instance.start_again(leash);
        let (code, stdout, stderr) = end(waiting);
        assert_eq!(code, Some(0), "{stderr}");
        let now = pid(&document(&stdout))?;
        assert_ne!(now, before, "it is the one of before: {stdout}");
        test_kill_process(now).context("it runs")?;
        before = now;
    }
    Ok(())
}

/// The status was written by a Pathline that has ended, and the process with it.
#[tokio::test]
async fn point_14_status_is_not_live_after_a_restart_until_it_runs_again() -> Result<()> {
    let mut instance = Instance::start()?;
    instance.apply(PROCESS)?;
    let (code, _, stderr) = end(instance.ask(&["wait", "workload/app", "--live"]));
    assert_eq!(code, Some(0), "{stderr}");
    for is_orderly in [true, false] {
        let leash = if is_orderly {
            instance.stop()?
        } else {
            instance.kill()?
        };
        instance.start_again(leash);
        let client = instance.client().await;
        let workloads = Api::<Workload>::default_namespaced(client.clone());
        let processes = Api::<Process>::default_namespaced(client);
        let begun = Instant::now();
        loop {
            ensure!(begun.elapsed() < LIMIT, "it runs again within {LIMIT:?}");
            let status = workloads.get("app").await?.status.unwrap_or_default();
            let is_live = status.live == Some(Live::True);
            if is_live || status.live_generation.is_some() {
                let process = processes.get("app").await?.status.unwrap_or_default();
                assert!(process.running.is_some(), "{status:?}, but {process:?}");
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    Ok(())
}

fn pid(waited: &Value) -> Result<Pid> {
    let pid = waited["running"][0]["pid"].as_i64().context("a pid")?;
    Pid::from_raw(pid.try_into()?).context("a pid")
}
