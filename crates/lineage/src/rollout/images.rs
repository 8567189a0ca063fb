//! Whether the images that run are those that something was made of.

use super::pod::Container;
use super::pods::Group;

/// Returns what the pods of a group do not run of the images that a workload should run.
///
/// `wanted` are the images that the resource was made of, `asked` those that its pod template
/// names. Only those wanted that the template names are looked for; by a digest, for a tag proves
/// nothing.
pub(super) fn missing(wanted: &[String], asked: &[String], group: &Group) -> Option<String> {
    let named = wanted
        .iter()
        .filter(|it| asked.iter().any(|image| names(image, it)));
    let missing = named.filter_map(|it| Some((it, digest(it)?)));
    let mut missing =
        missing.filter(|(_, digest)| !group.containers.iter().any(|it| runs(it, digest)));
    missing.next().map(|(image, _)| {
        let ids = group.containers.iter().map(|it| it.image_id.as_str());
        let ids: Vec<_> = ids.filter(|it| !it.is_empty()).collect();
        match ids.is_empty() {
            true => format!("no node says yet that it runs `{image}`"),
            false => format!("`{image}` does not run, but {}", ids.join(", ")),
        }
    })
}

/// Tells whether a container runs a digest: the node says so, or the pod is pinned to it and runs.
fn runs(container: &Container, wanted: &str) -> bool {
    let running = !container.image_id.is_empty();
    container.image_id.ends_with(wanted) || (running && digest(&container.image) == Some(wanted))
}

/// Tells whether a pod template names an image, by digest, reference or repository.
fn names(asked: &str, image: &str) -> bool {
    let same_digest = digest(image).is_some() && digest(asked) == digest(image);
    same_digest || repository(asked) == repository(image)
}

fn digest(reference: &str) -> Option<&str> {
    let at = reference.rfind("@sha256:")?;
    Some(&reference[at + 1..])
}

fn repository(reference: &str) -> &str {
    let name = reference.split('@').next().unwrap_or(reference);
    let directory = name.rfind('/').map_or(0, |at| at + 1);
    let tag = name[directory..].find(':').map(|at| directory + at);
    &name[..tag.unwrap_or(name.len())]
}
