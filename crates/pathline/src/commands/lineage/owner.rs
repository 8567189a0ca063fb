//! The lineage of an owner in words: what its path makes, and what that is made of.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::Style;
use pathline_client::api::{Artifact, Derivation, Edge, Made, Owner, OwnerInput, PathStep};
use pathline_client::words::{self, label, list, named, one_line};
use pathline_lineage::Kind;

use super::style::{DOUBT, GOOD, HEADER, SOFT, proof};
use super::tree::Node;

/// Writes everything there is to say about an owner.
pub(super) fn write(owner: &Owner, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    write_head(owner, out)?;
    write_refusal(owner, out)?;
    if owner.outputs.is_empty() {
        writeln!(out, "\nnothing comes out of it now")?;
    }
    for output in &owner.outputs {
        writeln!(out)?;
        let kind = &owner.summary.owner.kind;
        let mut tree = tree(kind, &|it| shown(owner, it), output);
        tree.notes.extend(commit(owner, &output.artifact));
        tree.draw(columns, out)?;
    }
    write_inputs(owner, columns, out)?;
    write_trouble(owner, out)?;
    write_advice(owner, out)
}

fn write_head(owner: &Owner, out: &mut dyn Write) -> io::Result<()> {
    let summary = &owner.summary;
    write!(out, "{HEADER}{}{HEADER:#}", words::owner(&summary.owner))?;
    if let Some(blueprint) = &summary.blueprint {
        write!(out, "  on {}/{}", blueprint.kind, blueprint.name)?;
    }
    match summary.ready.as_ref().map(|ready| ready.status.as_str()) {
        Some("True") => write!(out, "  {GOOD}ready{GOOD:#}")?,
        Some(_) => write!(out, "  {DOUBT}not ready{DOUBT:#}")?,
        None => write!(out, "  {SOFT}not reconciled yet{SOFT:#}")?,
    }
    // Where nothing is known of what runs, nothing is said.
    match owner.live.as_str() {
        "True" => writeln!(out, "  {GOOD}live{GOOD:#}"),
        "False" => writeln!(out, "  {DOUBT}not live{DOUBT:#}"),
        _ => writeln!(out),
    }
}

/// Says why an owner is not ready, and which blueprint would be for it with the smallest change.
fn write_refusal(owner: &Owner, out: &mut dyn Write) -> io::Result<()> {
    let ready = owner.summary.ready.as_ref();
    let ready = ready.filter(|it| it.status != "True" && !it.message.is_empty());
    if let Some(ready) = ready {
        write!(out, "  ")?;
        // The owner says in the words of one resource why it is not ready.
        let says_so = |it: &&PathStep| it.ready.as_ref() == Some(ready);
        if let Some(step) = owner.path.iter().find(says_so) {
            write!(out, "{}  ", step.resource)?;
        }
        writeln!(out, "{}  {}", ready.reason, one_line(&ready.message))?;
    }
    for template in &owner.lost_templates {
        writeln!(
            out,
            "  there is no {template}: apply it, or mend its name in the blueprint"
        )?;
    }
    if let Some(nearest) = &owner.nearest {
        let unmet = one_line(&nearest.unmet.join("; "));
        writeln!(
            out,
            "  the nearest is {}/{}: {unmet}",
            nearest.kind, nearest.name
        )?;
    }
    Ok(())
}

/// Returns the tree of what something is made of. `kind` is that of the owner, and `shown` says how
/// an artifact is called.
pub(super) fn tree(kind: &str, shown: &dyn Fn(&Artifact) -> String, made: &Made) -> Node {
    let mut notes: Vec<_> = made.evidence.map(proof).into_iter().collect();
    let kind = made.owner.as_ref().map_or(kind, |owner| &owner.kind);
    let from = passage(kind, &made.passed);
    let of = made
        .owner
        .as_ref()
        .map_or_else(String::new, |owner| format!(" of {}", words::owner(owner)));
    notes.extend(from.map(|from| (SOFT, format!("{from}{of}"))));
    if made.cut {
        notes.push((SOFT, "and more below, left out".to_owned()));
    }
    Node {
        label: label(&made.artifact),
        value: shown(&made.artifact),
        notes,
        below: made.from.iter().map(|it| tree(kind, shown, it)).collect(),
    }
}

/// An object is shown as what it is in the cluster.
fn shown(owner: &Owner, artifact: &Artifact) -> String {
    let step = owner
        .path
        .iter()
        .find(|step| step.resource == artifact.value);
    let object = step.and_then(|step| step.object.as_ref());
    match object {
        Some(object) if artifact.kind == Kind::Object => {
            format!("{}/{}", object.kind, object.name)
        }
        _ => artifact.value.clone(),
    }
}

/// Says which commit an object has written.
fn commit(owner: &Owner, artifact: &Artifact) -> Option<(Style, String)> {
    let made = owner
        .lineage
        .iter()
        .find(|it| it.resource == artifact.value);
    let commit = made
        .filter(|_| artifact.kind == Kind::Object)?
        .commit
        .as_ref()?;
    Some((SOFT, format!("wrote {}", one_line(&commit.value))))
}

/// Says who gave or made something, and who handed it on as it was.
fn passage(kind: &str, passed: &[String]) -> Option<String> {
    let (first, others) = passed.split_first()?;
    let kind = kind.to_ascii_lowercase();
    let origin = if *first == kind {
        format!("given by the {kind}")
    } else {
        format!("made by {first}")
    };
    Some(if others.is_empty() {
        origin
    } else {
        format!("{origin}, passed {}", list(others))
    })
}

fn write_inputs(owner: &Owner, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    if owner.inputs.is_empty() {
        return Ok(());
    }
    let kind = owner.summary.owner.kind.to_ascii_lowercase();
    writeln!(out, "\n{HEADER}inputs of the {kind}{HEADER:#}")?;
    for input in &owner.inputs {
        let (style, state) = match input {
            OwnerInput { unused: true, .. } => (SOFT, "unused, nothing on the path reads it"),
            OwnerInput { mixed: true, .. } => (DOUBT, "mixed with another value"),
            OwnerInput { arrived: true, .. } => (GOOD, "arrived"),
            _ => (DOUBT, "not arrived"),
        };
        let item = Node {
            label: input.name.clone(),
            value: input.artifact.value.clone(),
            notes: vec![(style, state.to_owned())],
            below: Vec::new(),
        };
        item.draw_item(columns, out)?;
        let missing = input.missing.iter().filter(|_| !input.unused);
        for missing in missing {
            writeln!(out, "    {SOFT}{}{SOFT:#}", one_line(&missing.message))?;
        }
    }
    Ok(())
}

/// Says which resources are not ready, and why.
fn write_trouble(owner: &Owner, out: &mut dyn Write) -> io::Result<()> {
    let troubled = owner.path.iter().filter_map(|step| {
        let ready = step.ready.as_ref()?;
        (ready.status != "True").then_some((step, ready))
    });
    for (index, (step, ready)) in troubled.enumerate() {
        if index == 0 {
            writeln!(out, "\n{HEADER}not ready{HEADER:#}")?;
        }
        let message = one_line(&ready.message);
        writeln!(out, "  {}  {}  {message}", step.resource, ready.reason)?;
    }
    Ok(())
}

/// Tells whether a resource is not ready.
fn is_troubled(owner: &Owner, resource: &str) -> bool {
    let mut steps = owner.path.iter();
    let step = steps.find(|step| step.resource == resource);
    let ready = step.and_then(|step| step.ready.as_ref());
    ready.is_some_and(|ready| ready.status != "True")
}

/// Says what would prove the edges that are only assumed, template by template.
fn write_advice(owner: &Owner, out: &mut dyn Write) -> io::Result<()> {
    let mut unproven = BTreeMap::<&str, Vec<(&Derivation, &Edge)>>::new();
    let mut mutable = BTreeMap::new();
    for made in &owner.lineage {
        for edge in made.from.iter().filter(|edge| !edge.evidence.is_proof()) {
            if edge.artifact.mutable {
                mutable.insert(edge.artifact.id, &edge.artifact);
            } else {
                let template = made.template.name.as_str();
                unproven.entry(template).or_default().push((made, edge));
            }
        }
    }
    if unproven.is_empty() && mutable.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{DOUBT}assumed{DOUBT:#}, and so never counted as arrived"
    )?;
    for artifact in mutable.values() {
        let lacks = match artifact.kind {
            Kind::Source => "revision",
            _ => "digest",
        };
        writeln!(
            out,
            "  {} may be another content tomorrow: name it with a {lacks}",
            named(artifact)
        )?;
    }
    for (template, edges) in unproven {
        let (made, _) = edges[0];
        // What it makes may be proven as soon as it is ready: its template need not declare any more for that.
        if is_troubled(owner, &made.resource) {
            writeln!(
                out,
                "  {} is not ready: what it is made from can be proven when it is",
                made.resource
            )?;
            continue;
        }
        let inputs: Vec<_> = edges
            .iter()
            .map(|(_, edge)| label(&edge.artifact))
            .collect();
        writeln!(
            out,
            "  nothing proves that {} is made from {}: declare `artifactTracing` in {template}\n    \
             (observedGenerationPath, or a correlationRule for each of these inputs; see docs/lineage.md)",
            made.resource,
            list(&inputs)
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::super::samples::{self, plain};
    use super::*;

    fn written(owner: &Owner, columns: usize) -> String {
        plain(|out| write(owner, columns, out))
    }

    #[test]
    fn tree_goes_from_the_running_thing_down_to_its_inputs() {
        assert_snapshot!(written(&samples::owner(), 120), @"
        workload default/hello  on ClusterSupplyChain/hello  ready

        object GitCommit/hello  made by manifest
        └─ image registry.example/app@sha256:1212121212121212121212121212121212121212121212121212121212121212
           │  proven by generation
           │  made by build
           ├─ source main@sha1:8f1c2e7d00000000000000000000000000000000  proven by generation  made by source, passed test
           │  └─ field spec.source.git.url https://git.example/app  proven by generation  given by the workload
           └─ param debug on  proven by rule  given by the workload

        inputs of the workload
          param:colour red  unused, nothing on the path reads it
          param:debug on  not arrived
            manifest has made nothing yet
          field:spec.source.git.url https://git.example/app  arrived
        ");
    }

    #[test]
    fn head_says_whether_it_runs() {
        let mut owner = samples::owner();
        for (live, told) in [
            ("True", "  ready  live\n"),
            ("False", "  ready  not live\n"),
        ] {
            owner.live = live.to_owned();
            assert!(written(&owner, 120).contains(told), "{live}");
        }
    }

    #[test]
    fn template_that_is_not_there_is_named() {
        let mut owner = samples::waiting();
        owner.lost_templates = vec!["ClusterTemplate/biuld".to_owned()];
        let told = written(&owner, 120);
        assert!(
            told.contains("there is no ClusterTemplate/biuld: apply it"),
            "{told}"
        );
    }

    #[test]
    fn narrow_terminal_is_enough() {
        let text = written(&samples::owner(), 50);
        let tree = text.lines().skip(2).take_while(|line| !line.is_empty());
        for line in tree {
            assert!(line.chars().count() <= 50, "{text}");
        }
    }

    #[test]
    fn assumed_edges_name_the_template_to_mend() {
        assert_snapshot!(written(&samples::doubtful(), 120), @"
        workload default/hello  on ClusterSupplyChain/hello  ready

        object GitCommit/hello  made by manifest
        └─ image registry.example/app@sha256:1212121212121212121212121212121212121212121212121212121212121212
           │  proven by generation
           │  made by build
           ├─ source main@sha1:8f1c2e7d00000000000000000000000000000000  assumed  made by source, passed test
           │  └─ field spec.source.git.url https://git.example/app  proven by generation  given by the workload
           └─ param debug on  assumed  given by the workload

        inputs of the workload
          param:colour red  unused, nothing on the path reads it
          param:debug on  not arrived
            manifest has made nothing yet
          field:spec.source.git.url https://git.example/app  arrived

        assumed, and so never counted as arrived
          image registry.example/base:1 may be another content tomorrow: name it with a digest
          nothing proves that build is made from source and param debug: declare `artifactTracing` in ClusterImageTemplate/kpack
            (observedGenerationPath, or a correlationRule for each of these inputs; see docs/lineage.md)
        ");
    }

    #[test]
    fn template_of_what_is_not_ready_is_not_to_be_mended() {
        let mut owner = samples::doubtful();
        let step = &mut owner.path[0];
        "build".clone_into(&mut step.resource);
        let ready = step.ready.as_mut().expect("it says so");
        "False".clone_into(&mut ready.status);
        let text = written(&owner, 120);
        let says = "build is not ready: what it is made from can be proven when it is";
        assert!(text.contains(says), "{text}");
        assert!(!text.contains("artifactTracing"), "{text}");
    }

    #[test]
    fn owner_that_no_blueprint_selects_says_what_is_missing() {
        assert_snapshot!(written(&samples::unselected(), 120), @"
        workload default/hello  not ready
          SupplyChainNotFound  no supply chain found where full selector is satisfied by labels: map[app:hi]
          the nearest is ClusterSupplyChain/hello: label `app` is `hi`, `hello` is wanted

        nothing comes out of it now
        ");
    }

    #[test]
    fn owner_without_outputs_says_what_it_waits_for() {
        assert_snapshot!(written(&samples::waiting(), 120), @"
        workload default/hello  on ClusterSupplyChain/hello  not ready
          manifest  TemplateRejected  no kind Image

        nothing comes out of it now

        not ready
          manifest  TemplateRejected  no kind Image
        ");
    }
}
