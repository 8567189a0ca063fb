//! A value that gets only into the metadata of a process has arrived, and does not run.

use anyhow::Result;

use crate::instance::{Instance, end};

/// A process with an annotation that nothing in its spec reads.
fn noted(note: &str, debug: &str) -> String {
    crate::restarts::PROCESS
        .replace(
            "metadata: {name: $(workload.metadata.name)$}",
            "metadata: {name: $(workload.metadata.name)$, annotations: {note: $(params.note)$}}",
        )
        .replace(
            "{params: [{name: debug, value: 'on'}]}",
            &format!(
                "{{params: [{{name: debug, value: '{debug}'}}, {{name: note, value: {note}}}]}}"
            ),
        )
}

#[test]
fn value_in_metadata_alone_is_live_only_when_the_process_is_started_anew() -> Result<()> {
    let instance = Instance::start()?;
    let wait = |value: &str, more: &[&str]| {
        let asked = ["wait", "workload/app", "--for", value, "--timeout", "60s"];
        end(instance.ask(&[&asked, more].concat()))
    };
    instance.apply(&noted("first", "on"))?;
    let (code, _, stderr) = wait("param:note=first", &["--live"]);
    assert_eq!(code, Some(0), "{stderr}");

    instance.apply(&noted("second", "on"))?;
    let (code, _, stderr) = wait("param:note=second", &[]);
    assert_eq!(code, Some(0), "the object has it: {stderr}");
    let (code, _, stderr) = wait("param:note=second", &["--live"]);
    assert_eq!(code, Some(3), "nothing was started for it: {stderr}");
    assert!(stderr.contains("in its metadata alone"), "{stderr}");
    let (_, stdout, _) = end(instance.ask(&["lineage", "process/app"]));
    let note = stdout.lines().find(|line| line.contains("param note"));
    assert!(note.is_some_and(|it| it.contains("assumed")), "{stdout}");

    instance.apply(&noted("second", "off"))?;
    let (code, _, stderr) = wait("param:note=second", &["--live", "--for", "param:debug=off"]);
    assert_eq!(code, Some(0), "it was started anew: {stderr}");
    Ok(())
}
