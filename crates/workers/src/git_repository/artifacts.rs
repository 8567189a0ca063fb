//! Keeping the archives that are still needed, and no others.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kube::{Api, ResourceExt};
use pathline_kinds::workers::{Artifact, GitRepository, Process, Source, Task};

use crate::context::Context;

/// The number of archives of a repository that are kept even if nobody refers to them: what follows
/// a repository may be a few commits behind.
const MAX_KEPT: usize = 5;

/// Returns the directory of the archives of a repository, below the directory of artifacts.
pub(super) fn directory(namespace: &str, name: &str) -> PathBuf {
    Path::new("gitrepository").join(namespace).join(name)
}

/// Removes the archives of one repository that are neither new nor referred to.
pub(super) async fn tidy(context: &Context, object: &GitRepository, current: Option<&Artifact>) {
    let place = directory(&object.namespace().unwrap_or_default(), &object.name_any());
    let place = context.places.artifacts().join(place);
    if archives(&place).map_or(0, |found| found.len()) <= MAX_KEPT {
        return;
    }
    // Without knowing what is referred to, everything is kept.
    let Ok(mut needed) = references(context).await else {
        return;
    };
    needed.extend(current.and_then(|artifact| context.places.archive(&artifact.url)));
    if let Err(error) = remove_unneeded(&place, MAX_KEPT, &needed) {
        tracing::warn!(directory = %place.display(), %error, "cannot remove old artifacts");
    }
}

/// Removes the archives of repositories that no longer exist, unless they are referred to.
pub(crate) async fn sweep(context: &Context) -> Result<(), kube::Error> {
    let repositories: Api<GitRepository> = Api::all(context.client.clone());
    let known: HashSet<PathBuf> = repositories
        .list(&kube::api::ListParams::default())
        .await?
        .iter()
        .map(|object| directory(&object.namespace().unwrap_or_default(), &object.name_any()))
        .collect();
    let needed = references(context).await?;
    let root = context.places.artifacts();
    for namespace in subdirectories(&root.join("gitrepository")) {
        for place in subdirectories(&namespace) {
            let is_known = place
                .strip_prefix(&root)
                .is_ok_and(|relative| known.contains(relative));
            if !is_known && let Err(error) = remove_unneeded(&place, 0, &needed) {
                tracing::warn!(directory = %place.display(), %error, "cannot remove old artifacts");
            }
        }
    }
    Ok(())
}

/// The archives of sources that tasks and processes work with, did last, or will.
async fn references(context: &Context) -> Result<HashSet<PathBuf>, kube::Error> {
    let everything = kube::api::ListParams::default();
    let mut sources: Vec<Option<Source>> = Vec::new();
    if context.options.kinds.task {
        for task in Api::<Task>::all(context.client.clone())
            .list(&everything)
            .await?
        {
            sources.push(task.spec.source);
            sources.push(task.status.and_then(|status| status.source));
        }
    }
    if context.options.kinds.process {
        for process in Api::<Process>::all(context.client.clone())
            .list(&everything)
            .await?
        {
            sources.push(process.spec.source);
            let running = process.status.and_then(|status| status.running);
            sources.push(running.and_then(|running| running.source));
        }
    }
    Ok(sources
        .into_iter()
        .flatten()
        .filter_map(|source| context.places.archive(&source.url))
        .collect())
}

fn remove_unneeded(place: &Path, kept: usize, needed: &HashSet<PathBuf>) -> io::Result<()> {
    let mut found = archives(place)?;
    found.sort();
    let removable = found.len().saturating_sub(kept);
    for (_, path) in found.into_iter().take(removable) {
        if !needed.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    if kept == 0 {
        // Only an empty one can be removed.
        let _ = fs::remove_dir(place);
    }
    Ok(())
}

fn archives(place: &Path) -> io::Result<Vec<(std::time::SystemTime, PathBuf)>> {
    fs::read_dir(place)?
        .map(|entry| {
            let entry = entry?;
            Ok((entry.metadata()?.modified()?, entry.path()))
        })
        .filter(|found: &io::Result<(_, PathBuf)>| {
            found.as_ref().map_or(true, |(_, path)| {
                path.extension().is_some_and(|it| it == "gz")
            })
        })
        .collect()
}

fn subdirectories(place: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_and_needed_archives_stay() {
        let dir = tempfile::tempdir().unwrap();
        let path = |number: u64| dir.path().join(format!("sha256-{number}.tar.gz"));
        for number in 0..8 {
            fs::write(path(number), "x").unwrap();
            let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(number);
            fs::File::open(path(number))
                .unwrap()
                .set_modified(time)
                .unwrap();
        }
        let needed = HashSet::from([path(1)]);
        remove_unneeded(dir.path(), 3, &needed).unwrap();
        let left: Vec<_> = (0..8).filter(|number| path(*number).exists()).collect();
        assert_eq!(left, [1, 5, 6, 7]);
    }
}
