//! The lineage of a pod, or another object of the cluster, in words.

use std::io::{self, Write};

use pathline_client::api::{Artifact, ObjectLineage, ObjectName, RevisionState};
use pathline_client::words::{self, one_line};
use pathline_lineage::Kind;

use super::owner::tree;
use super::style::{DOUBT, GOOD, HEADER, SOFT};

/// Writes what an object is made of, and which revision that is.
pub(super) fn write(found: &ObjectLineage, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    let ObjectName {
        kind,
        namespace,
        name,
        ..
    } = &found.object;
    let (kind, namespace) = (kind.to_ascii_lowercase(), namespace.as_deref());
    let namespace = namespace.unwrap_or_default();
    write!(out, "{HEADER}{kind} {namespace}/{name}{HEADER:#}")?;
    let above: Vec<_> = found.above.iter().map(called).collect();
    if !above.is_empty() {
        write!(out, "  below {}", above.join(", "))?;
    }
    let owner = words::owner(&found.owner);
    writeln!(out, "\nstamped for {} of {owner}", found.resource)?;
    write_revision(found, out)?;
    if let Some(made) = &found.made {
        writeln!(out)?;
        let shown = |artifact: &Artifact| shown(found, artifact);
        tree(&found.owner.kind, &shown, made).draw(columns, out)?;
    }
    Ok(())
}

fn write_revision(found: &ObjectLineage, out: &mut dyn Write) -> io::Result<()> {
    let owner = &found.owner;
    let kind = owner.kind.to_ascii_lowercase();
    match found.revision {
        RevisionState::Current => writeln!(out, "{GOOD}current revision{GOOD:#}")?,
        RevisionState::Older => writeln!(
            out,
            "{DOUBT}older revision{DOUBT:#}: the {kind} has moved on; `pathline lineage {kind}/{} -n {}` shows to what",
            owner.name, owner.namespace
        )?,
        RevisionState::Unknown => {
            let why = found.why.as_deref().unwrap_or_default();
            writeln!(out, "{DOUBT}revision unknown{DOUBT:#}: {}", one_line(why))?;
        }
    }
    match &found.rollout {
        Some(rollout) if found.revision != RevisionState::Unknown => writeln!(
            out,
            "{SOFT}the newest one is not rolled out: {}{SOFT:#}",
            one_line(rollout)
        ),
        _ => Ok(()),
    }
}

/// The stamped object is shown as what it is in the cluster.
fn shown(found: &ObjectLineage, artifact: &Artifact) -> String {
    let is_stamped = artifact.kind == Kind::Object && artifact.value == found.resource;
    let stamped = found.above.last().unwrap_or(&found.object);
    if is_stamped {
        called(stamped)
    } else {
        artifact.value.clone()
    }
}

fn called(object: &ObjectName) -> String {
    format!("{}/{}", object.kind, object.name)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::super::samples::{self, plain};
    use super::*;

    fn written(found: &ObjectLineage) -> String {
        plain(|out| write(found, 120, out))
    }

    #[test]
    fn pod_of_an_old_revision_says_so_and_what_it_is_made_of() {
        assert_snapshot!(written(&samples::old_pod()), @"
        pod default/hello-7d4b9c-x2xql  below ReplicaSet/hello-7d4b9c, Deployment/hello
        stamped for manifest of workload default/hello
        older revision: the workload has moved on; `pathline lineage workload/hello -n default` shows to what
        the newest one is not rolled out: 1 of 2 pods are ready

        object Deployment/hello  made by manifest
        └─ image registry.example/app@sha256:1212121212121212121212121212121212121212121212121212121212121212
           │  proven by generation
           │  made by build
           ├─ source main@sha1:8f1c2e7d00000000000000000000000000000000  proven by generation  made by source, passed test
           │  └─ field spec.source.git.url https://git.example/app  proven by generation  given by the workload
           └─ param debug on  proven by rule  given by the workload
        ");
    }

    #[test]
    fn point_16_process_is_explained_across_git() {
        assert_snapshot!(written(&samples::delivered()), @"
        process default/hello
        stamped for run of deliverable default/hello
        current revision

        object Process/hello  made by run
        └─ source main@sha1:fed9870d00000000000000000000000000000000  proven by applied  made by manifests
           └─ source main@sha1:fed9870d00000000000000000000000000000000
              │  proven by git
              │  made by manifest of workload default/hello
              └─ image registry.example/app@sha256:1212121212121212121212121212121212121212121212121212121212121212
                 │  proven by generation
                 │  made by build
                 └─ source main@sha1:8f1c2e7d00000000000000000000000000000000  proven by generation  made by source, passed test
                    └─ field spec.source.git.url https://git.example/app  proven by generation  given by the workload
        ");
    }

    #[test]
    fn revision_that_nothing_proves_is_not_guessed() {
        let found = ObjectLineage {
            revision: RevisionState::Unknown,
            why: Some("it is being rolled out".to_owned()),
            made: None,
            ..samples::old_pod()
        };
        assert_snapshot!(written(&found), @"
        pod default/hello-7d4b9c-x2xql  below ReplicaSet/hello-7d4b9c, Deployment/hello
        stamped for manifest of workload default/hello
        revision unknown: it is being rolled out
        ");
    }
}
