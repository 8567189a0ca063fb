//! The rules of releases, said once more: what may have been released, given what was pushed and committed.
//!
//! A tracker looks again and again: at the registry first, at the file afterwards. Nobody knows when it has looked, so a
//! history of releases is right if there are such times for it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::upstream::{Application, Event, Setting, Upstream};

/// An image as a label selects it: a tag and a digest.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Image {
    tag: String,
    digest: String,
}

/// A release, as far as the rules speak of it.
#[derive(Clone, Debug)]
struct Released {
    setting: Setting,
    image: Image,
}

/// The past of one application: at each time its setting, and what its registry has.
pub(super) struct Past<'u> {
    application: &'u Application,
    moments: Vec<Moment>,
    /// The settings of commits.
    commits: BTreeMap<&'u str, Setting>,
}

#[derive(Clone, Debug, Default)]
struct Moment {
    setting: Option<Setting>,
    tags: BTreeMap<String, String>,
    digests: Vec<String>,
}

impl<'u> Past<'u> {
    pub(super) fn of(upstream: &'u Upstream, application: &'u Application) -> Self {
        let mut past = Self {
            application,
            moments: vec![Moment::default()],
            commits: BTreeMap::new(),
        };
        for event in &upstream.history {
            past.learn(event);
        }
        past
    }

    fn learn(&mut self, event: &'u Event) {
        let mut moment = self.moments.last().expect("there is one").clone();
        match event {
            Event::Push { image, tag, digest } if *image == self.application.image => {
                moment.tags.insert(tag.clone(), digest.clone());
                moment.digests.push(digest.clone());
            }
            Event::Commit {
                file,
                commit,
                settings,
            } if file / 2 == self.application.file / 2 => {
                // Two files are in one repository, and a commit of one of them has the other, too.
                if let Some(setting) = settings.get(&self.application.id) {
                    moment.setting = Some(setting.clone());
                }
                let setting = moment.setting.clone();
                self.commits.extend(setting.map(|it| (commit.as_str(), it)));
            }
            _ => return,
        }
        self.moments.push(moment);
    }

    /// Fails unless releases are what the rules make of the past: each once, in order, and none is missing.
    pub(super) fn check(&self, releases: &[Value], pending: &Value) {
        let mut last: Option<Released> = None;
        let mut looked = 0;
        for (index, release) in releases.iter().enumerate() {
            let id = &self.application.id;
            assert_eq!(release["number"], index as u64 + 1, "{id}: without gaps");
            assert_eq!(
                release["previous"].as_u64().unwrap_or_default(),
                index as u64
            );
            let next = self.read(release);
            assert_eq!(
                release["cause"],
                cause(last.as_ref(), &next.image),
                "{release:#}"
            );
            looked = self
                .looked(looked, last.as_ref(), &next)
                .unwrap_or_else(|| {
                    panic!("{id}: no rule makes release {} of {releases:#?}", index + 1)
                });
            self.check_entry(release, index + 1 == releases.len());
            last = Some(next);
        }
        self.check_end(last.as_ref(), pending);
    }

    fn read(&self, release: &Value) -> Released {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let commit = text(&release["from"]["commit"]);
        let setting = self.commits.get(commit.as_str());
        let setting = setting.unwrap_or_else(|| panic!("nobody has committed {release:#}"));
        let image = &release["image"];
        Released {
            setting: setting.clone(),
            image: Image {
                tag: text(&image["tag"]),
                digest: text(&image["digest"]),
            },
        }
    }

    /// Returns the earliest time at which a tracker may have looked to form a release after another one.
    fn looked(&self, after: usize, last: Option<&Released>, next: &Released) -> Option<usize> {
        if last.is_some_and(|it| !may_follow(it, &next.setting, &next.image)) {
            return None;
        }
        let asked = |time: &usize| {
            let image = self.moments[*time].selected(&next.setting.label);
            image.as_ref() == Some(&next.image)
        };
        let asked: Vec<usize> = (after..self.moments.len()).filter(asked).collect();
        let asked = |until: usize| asked.iter().copied().filter(move |it| *it <= until);
        let is_seen = |time: &usize| {
            let Some(read) = &self.moments[*time].setting else {
                return false;
            };
            // The file says so; or it says something for which there is no image, and what was released last goes on.
            let goes_on = |last: &Released| {
                let has_none = |begun: usize| {
                    let mut between = begun..=*time;
                    between.any(|it| !self.moments[it].can_release(last, read))
                };
                last.setting == next.setting && asked(*time).any(has_none)
            };
            (*read == next.setting && asked(*time).next().is_some()) || last.is_some_and(goes_on)
        };
        (after..self.moments.len()).find(is_seen)
    }

    fn check_entry(&self, release: &Value, is_last: bool) {
        let entries = release["entries"].as_array().expect("entries");
        let state = match is_last {
            true => "queued",
            false => "superseded",
        };
        assert_eq!(entries.len(), 1, "{release:#}");
        assert_eq!(entries[0]["state"], state, "{release:#}");
    }

    /// Fails if something is left to be released at the end, or something else waits than what is in the file.
    fn check_end(&self, last: Option<&Released>, pending: &Value) {
        let id = &self.application.id;
        let end = self.moments.last().expect("there is one");
        let setting = end.setting.as_ref().expect("it is in the file");
        let Some(last) = last else {
            let image = end.selected(&setting.label);
            return assert_eq!(image, None, "{id} has no release of {setting:?}");
        };
        for setting in [setting, &last.setting] {
            let image = end.selected(&setting.label);
            let is_left = end.can_release(last, setting);
            assert!(!is_left, "{id}: {setting:?} with {image:?} after {last:?}");
        }
        let waits = pending["commit"].as_str().map(|it| &self.commits[it]);
        let expected = Some(setting).filter(|it| **it != last.setting);
        assert_eq!(waits, expected, "{id}: {pending:#}");
    }
}

impl Moment {
    /// Returns the image that a label selects.
    fn selected(&self, label: &str) -> Option<Image> {
        let tag = match label {
            "1.x" | ">=1.0.0" => {
                let versions = self.tags.keys().filter(|it| version(it).is_some());
                versions.max_by_key(|it| version(it))?.clone()
            }
            tag => tag.to_owned(),
        };
        let digest = match tag.starts_with("sha256:") {
            true => self.digests.iter().find(|it| **it == tag)?,
            false => self.tags.get(&tag)?,
        };
        let digest = digest.clone();
        Some(Image { tag, digest })
    }

    /// Says whether a setting has an image that may follow a release.
    fn can_release(&self, last: &Released, setting: &Setting) -> bool {
        let image = self.selected(&setting.label);
        image.is_some_and(|it| may_follow(last, setting, &it))
    }
}

/// Another image, and no lower version by the same label.
fn may_follow(last: &Released, setting: &Setting, image: &Image) -> bool {
    let is_lower = version(&image.tag) < version(&last.image.tag);
    *image != last.image && (setting.label != last.setting.label || !is_lower)
}

fn cause(last: Option<&Released>, image: &Image) -> &'static str {
    let Some(last) = last.map(|it| &it.image) else {
        return "initial";
    };
    match (version(&last.tag), version(&image.tag)) {
        (Some(before), Some(after)) if before < after => "version_created",
        _ if last.tag == image.tag => "container_updated",
        _ => "label_changed",
    }
}

/// Returns the minor version and the patch of a tag.
fn version(tag: &str) -> Option<(u32, u32)> {
    let (minor, patch) = tag.strip_prefix("1.")?.split_once('.')?;
    Some((minor.parse().ok()?, patch.parse().ok()?))
}
