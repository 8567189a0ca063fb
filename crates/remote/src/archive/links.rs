//! Symbolic links, resolved beneath the root of an archive.
//!
//! Each of two links may stay inside while both together lead out: with `a/up -> ..`, a link to
//! `a/up/..` names the parent of the root, and not `a`. So links are followed as the kernel does, all of
//! them known, before any of them is there (`RESOLVE_BENEATH` of openat2(2), in meaning).

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::Error;

/// The most links that the kernel follows on the way to one file (path_resolution(7)).
const MAX_FOLLOWED: usize = 40;
/// The most steps that all links of an archive may take together: far more than any tree needs.
const MAX_STEPS: u64 = 10_000_000;

/// The most bytes that the names and targets of all links may have together, for they are in memory.
const MAX_BYTES: u64 = 16 << 20;

/// The links of one archive, and their targets.
#[derive(Debug, Default)]
pub(super) struct Links {
    targets: BTreeMap<PathBuf, PathBuf>,
    bytes: u64,
}

/// One part of a path that is still to be gone.
enum Step {
    Into(OsString),
    Up,
    Root,
}

impl Links {
    /// Adds a link, unless it is there already.
    pub(super) fn add(&mut self, path: PathBuf, target: PathBuf) -> Result<(), Error> {
        self.bytes += (path.as_os_str().len() + target.as_os_str().len()) as u64;
        if self.bytes > MAX_BYTES {
            return Err(Error::TooLarge {
                what: "bytes in the names and targets of links",
                limit: MAX_BYTES,
            });
        }
        match self.targets.entry(path) {
            Entry::Vacant(place) => drop(place.insert(target)),
            Entry::Occupied(place) => {
                let path = place.key().clone();
                return Err(Error::Duplicate { path });
            }
        }
        Ok(())
    }

    pub(super) fn into_iter(self) -> impl Iterator<Item = (PathBuf, PathBuf)> {
        self.targets.into_iter()
    }

    /// Checks that no link leads out, on its own or through others.
    pub(super) fn check(&self) -> Result<(), Error> {
        let mut steps = MAX_STEPS;
        for (path, target) in &self.targets {
            if !self.stays_inside(path, target, &mut steps)? {
                return Err(Error::Escapes {
                    path: path.join("->").join(target),
                });
            }
        }
        Ok(())
    }

    /// Follows a link to its end, or to where the kernel gives up: links that lead round in circles
    /// lead nowhere.
    fn stays_inside(&self, path: &Path, target: &Path, left: &mut u64) -> Result<bool, Error> {
        let mut here = path.parent().unwrap_or(Path::new("")).to_owned();
        let mut ahead = steps_of(target);
        let mut followed = 1;
        while let Some(step) = ahead.pop_front() {
            *left = left.checked_sub(1).ok_or(Error::TooLarge {
                what: "steps to resolve its links",
                limit: MAX_STEPS,
            })?;
            match step {
                Step::Root => return Ok(false),
                Step::Up if !here.pop() => return Ok(false),
                Step::Up => {}
                Step::Into(name) => {
                    here.push(name);
                    let Some(target) = self.targets.get(&here) else {
                        continue;
                    };
                    followed += 1;
                    if followed > MAX_FOLLOWED {
                        return Ok(true);
                    }
                    here.pop();
                    let mut next = steps_of(target);
                    next.append(&mut ahead);
                    ahead = next;
                }
            }
        }
        Ok(true)
    }
}

fn steps_of(target: &Path) -> VecDeque<Step> {
    let steps = target.components().filter_map(|part| match part {
        Component::Normal(name) => Some(Step::Into(name.to_owned())),
        Component::ParentDir => Some(Step::Up),
        Component::RootDir | Component::Prefix(_) => Some(Step::Root),
        Component::CurDir => None,
    });
    steps.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stay(links: &[(&str, &str)]) -> bool {
        let mut all = Links::default();
        for (path, target) in links {
            all.add(path.into(), target.into()).unwrap();
        }
        all.check().is_ok()
    }

    #[test]
    fn hole_4_links_take_no_more_memory_than_they_may() {
        let (target, mut links) = ("x".repeat(4095), Links::default());
        let added = (0..200_000).take_while(|number| {
            let path = format!("link-{number}");
            links.add(path.into(), target.clone().into()).is_ok()
        });
        assert!((4000..4100).contains(&added.count()));
    }

    #[test]
    fn link_may_point_anywhere_below_the_root() {
        for inside in [
            ("a/b", "../c"),
            ("a", "./b/../c"),
            ("a", "nothing"),
            ("a", ""),
        ] {
            assert!(stay(&[inside]), "{inside:?}");
        }
        for outside in [
            ("a/b", "../../c"),
            ("a", "b/../../c"),
            ("a", "/etc/passwd"),
            ("a", ".."),
        ] {
            assert!(!stay(&[outside]), "{outside:?}");
        }
    }

    #[test]
    fn hole_6_links_that_lead_out_together_are_refused() {
        for links in [
            [("a/up", ".."), ("out", "a/up/../secret")],
            [("a/b/up", "../.."), ("c", "a/b/up/../secret")],
            [("here", "."), ("out", "here/here/../secret")],
        ] {
            assert!(!stay(&links), "{links:?}");
        }
        let through_three = [("a/up", ".."), ("b/x", "../a/up"), ("out", "b/x/../secret")];
        assert!(!stay(&through_three));
        let deeper = [("deep", "a/b/c"), ("up", "deep/../../x")];
        assert!(stay(&deeper), "`..` of what a link leads to is inside");
    }

    #[test]
    fn links_that_lead_round_in_circles_lead_nowhere() {
        assert!(stay(&[("a", "b"), ("b", "a")]));
        assert!(stay(&[("a", "a/a/a")]));
    }
}
