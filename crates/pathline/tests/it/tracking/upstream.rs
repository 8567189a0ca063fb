//! Registries and repositories in which everything changes, and the history of that.

use std::collections::BTreeMap;

use pathline_testkit::Dice;
use pathline_testkit::registry::{Pusher, RealRegistry};

use super::repository::Repository;

/// The number of applications in a file.
pub(super) const IN_FILE: usize = 5;
/// The tags that move.
const FIXED: [&str; 2] = ["latest", "stable"];
/// The ranges that are followed.
const RANGES: [&str; 2] = ["1.x", ">=1.0.0"];

/// The setting of an application in one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) label: String,
    /// The value of a variable.
    pub(super) number: usize,
}

/// An application, and where it is described.
#[derive(Clone, Debug)]
pub(super) struct Application {
    /// The name of its tracker.
    pub(super) id: String,
    /// The repository of its image; some share one.
    pub(super) image: String,
    /// The index of the file.
    pub(super) file: usize,
    kind: usize,
}

impl Application {
    /// Says whether it follows a tag that moves, or a range.
    pub(super) fn follows_a_tag(&self) -> bool {
        self.kind >= 2
    }
}

/// A push or a commit. Its time is its place in the history.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Push {
        image: String,
        tag: String,
        digest: String,
    },
    Commit {
        file: usize,
        commit: String,
        /// The settings of all applications of the file, by their names.
        settings: BTreeMap<String, Setting>,
    },
}

/// Everything that was ever pushed and committed, in its order.
pub(super) struct Upstream {
    pub(super) registry: RealRegistry,
    pub(super) repositories: Vec<Repository>,
    pub(super) applications: Vec<Application>,
    pub(super) history: Vec<Event>,
    pusher: Pusher,
    settings: BTreeMap<String, Setting>,
    versions: BTreeMap<String, usize>,
    /// The contents of all images, by their repository.
    contents: BTreeMap<String, Vec<String>>,
}

impl Upstream {
    /// Makes applications: five in a file, and two files in a repository, every other one of which is a directory.
    pub(super) fn begin(registry: RealRegistry, count: usize, dice: &mut Dice) -> Self {
        let files = count.div_ceil(IN_FILE);
        let mk_repository = |number: usize| match number % 2 {
            0 => Repository::with("empty: {}"),
            _ => Repository::in_directory("empty: {}"),
        };
        let application = |number: usize| {
            let file = number / IN_FILE;
            Application {
                id: format!("g{file}.a{number}"),
                // The first two of a file have one image.
                image: format!("g{file}/i{}", (number % IN_FILE).max(1)),
                file,
                kind: number % 4,
            }
        };
        let mut upstream = Self {
            pusher: Pusher::new(registry.host()),
            registry,
            repositories: (0..files.div_ceil(2)).map(mk_repository).collect(),
            applications: (0..count).map(application).collect(),
            history: Vec::new(),
            settings: BTreeMap::new(),
            versions: BTreeMap::new(),
            contents: BTreeMap::new(),
        };
        for application in upstream.applications.clone() {
            for tag in [FIXED[0], FIXED[1], "1.0.0"] {
                upstream.push(&application.image, tag);
            }
        }
        for file in 0..files {
            upstream.commit(file, dice);
        }
        upstream
    }

    /// Returns the repository and the path of the file of an application.
    pub(super) fn place(&self, application: &Application) -> (&Repository, String) {
        let file = application.file;
        (&self.repositories[file / 2], directory(file))
    }

    /// Changes something.
    pub(super) fn change(&mut self, dice: &mut Dice) {
        let application = self.applications[dice.index(self.applications.len())].clone();
        match dice.below(3) {
            0 => self.commit(application.file, dice),
            _ => self.push_some(&application.image, dice),
        }
    }

    /// Commits to every file.
    pub(super) fn commit_all(&mut self, dice: &mut Dice) {
        for file in 0..self.applications.len().div_ceil(IN_FILE) {
            self.commit(file, dice);
        }
    }

    /// Changes the images of all applications that follow a tag.
    pub(super) fn move_all(&mut self) {
        let applications = self.applications.clone();
        for application in applications.iter().filter(|it| it.follows_a_tag()) {
            self.move_image(application);
        }
    }

    /// Changes what an application has an image of, so that it has something to release.
    pub(super) fn move_image(&mut self, application: &Application) {
        let label = self.settings[&application.id].label.clone();
        match FIXED.contains(&label.as_str()) {
            true => self.push(&application.image, &label),
            false => self.push_version(&application.image),
        }
    }

    fn push_some(&mut self, image: &str, dice: &mut Dice) {
        let newest = self.versions[image];
        match dice.below(8) {
            0..=2 => self.push(image, dice.one_of(&FIXED)),
            // A tag that comes back to what it was.
            3 => {
                let contents = &self.contents[image];
                let content = contents[dice.index(contents.len())].clone();
                self.push_content(image, dice.one_of(&FIXED), &content);
            }
            // A version that is another one now.
            4 => self.push(image, &format!("1.{newest}.0")),
            // A version that no range wants, since there is a higher one.
            5 if newest > 0 => self.push(image, &format!("1.{}.1", newest - 1)),
            _ => self.push_version(image),
        }
    }

    fn push_version(&mut self, image: &str) {
        let newest = self.versions.get_mut(image).expect("it has a version");
        *newest += 1;
        let tag = format!("1.{newest}.0");
        self.push(image, &tag);
    }

    fn push(&mut self, image: &str, tag: &str) {
        self.versions.entry(image.to_owned()).or_default();
        let contents = self.contents.entry(image.to_owned()).or_default();
        let content = contents.len().to_string();
        contents.push(content.clone());
        self.push_content(image, tag, &content);
    }

    fn push_content(&mut self, image: &str, tag: &str, content: &str) {
        let digest = self.pusher.push(image, tag, content);
        self.history.push(Event::Push {
            image: image.to_owned(),
            tag: tag.to_owned(),
            digest,
        });
    }

    /// Commits other settings of some applications of a file.
    fn commit(&mut self, file: usize, dice: &mut Dice) {
        let host = self.registry.host();
        let mut text =
            format!("g{file}:\n  group: {{repository: {{image: {{domain: '{host}'}}}}}}\n");
        let mut settings = BTreeMap::new();
        for application in self.applications.iter().filter(|it| it.file == file) {
            let former = self.settings.get(&application.id);
            let setting = match former {
                Some(former) if dice.chance(40) => former.clone(),
                _ => Setting {
                    label: self.label(application, former, dice),
                    number: self.history.len(),
                },
            };
            let name = application.id.split('.').nth(1).expect("two parts");
            let image = application.image.split('/').nth(1).expect("two parts");
            let Setting { label, number } = &setting;
            text += &format!(
                "  {name}: {{version: '{label}', repository: {{image: {{name: {image}}}}}, \
                 environment: {{variable: {{NUMBER: '{number}'}}}}}}\n"
            );
            settings.insert(application.id.clone(), setting);
        }
        self.settings.extend(settings.clone());
        let path = format!("{}/fathomable.yaml", directory(file));
        let commit = self.repositories[file / 2].commit_at(&path, &text);
        self.history.push(Event::Commit {
            file,
            commit,
            settings,
        });
    }

    /// Chooses the next label of an application.
    fn label(
        &self,
        application: &Application,
        former: Option<&Setting>,
        dice: &mut Dice,
    ) -> String {
        let newest = self.versions[&application.image];
        match application.kind {
            // Now and then a version that is not there yet.
            0 => format!("1.{}.0", newest + dice.index(2)),
            1 => self.some_digest(application, dice),
            _ if former.is_some() && dice.chance(80) => former.expect("it is some").label.clone(),
            2 => dice.one_of(&FIXED).to_owned(),
            _ => dice.one_of(&RANGES).to_owned(),
        }
    }

    fn some_digest(&self, application: &Application, dice: &mut Dice) -> String {
        let pushed = self.history.iter().filter_map(|event| match event {
            Event::Push { image, digest, .. } if *image == application.image => Some(digest),
            _ => None,
        });
        let pushed: Vec<_> = pushed.collect();
        let newest = &pushed[pushed.len().saturating_sub(3)..];
        newest[dice.index(newest.len())].clone()
    }
}

/// Returns the directory of a file in its repository.
fn directory(file: usize) -> String {
    format!("d{}", file % 2)
}
