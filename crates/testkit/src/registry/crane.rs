//! `crane`, which pushes images and says what a registry has.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tempfile::TempDir;

use crate::go_tool;

/// The client of the people who make registries.
#[derive(Debug)]
pub struct Crane {
    program: PathBuf,
    directory: TempDir,
}

impl Crane {
    /// Finds the program. Skips `suite` and returns nothing where it has not been built.
    ///
    /// # Panics
    ///
    /// If there is no scratch directory.
    pub fn find(suite: &str) -> Option<Self> {
        let program = go_tool(suite, "crane")?;
        let directory = tempfile::tempdir().expect("a scratch directory");
        // A layer with nothing in it: two blocks of zeros.
        fs::write(directory.path().join("layer.tar"), [0; 1024]).expect("it is writable");
        Some(Self { program, directory })
    }

    /// Logs in from now on.
    ///
    /// # Panics
    ///
    /// If the scratch directory is not writable.
    pub fn log_in(&self, host: &str, user: &str, password: &str) {
        let auth = STANDARD.encode(format!("{user}:{password}"));
        let config = serde_json::json!({"auths": {host: {"auth": auth}}}).to_string();
        fs::write(self.directory.path().join("config.json"), config).expect("it is writable");
    }

    /// Runs it and returns what it prints.
    ///
    /// # Panics
    ///
    /// If it fails.
    pub fn run(&self, arguments: &[&str]) -> String {
        let output = Command::new(&self.program)
            .arg("--insecure")
            .args(arguments)
            .current_dir(self.directory.path())
            .env("DOCKER_CONFIG", self.directory.path())
            .output()
            .expect("crane runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "crane {arguments:?}: {said}");
        let text = String::from_utf8(output.stdout).expect("crane prints text");
        text.trim_end().to_owned()
    }

    /// Pushes an image with these labels, and returns its digest.
    pub fn push(&self, name: &str, labels: &[(&str, &str)]) -> String {
        self.run(&["append", "--new_layer", "layer.tar", "--new_tag", name]);
        let labels = labels
            .iter()
            .map(|(key, value)| format!("--label={key}={value}"));
        let labels: Vec<_> = labels.collect();
        // A label of its own, so that no two images are the same.
        let own = format!("--label=name={name}");
        let mut arguments = vec!["mutate", name, "--tag", name, &own];
        arguments.extend(labels.iter().map(String::as_str));
        self.run(&arguments);
        self.digest(name)
    }

    /// Pushes an index of images that are there, and returns its digest.
    pub fn push_index(&self, name: &str, images: &[&str]) -> String {
        let mut arguments = vec!["index", "append", "--tag", name];
        for image in images {
            arguments.extend(["--manifest", image]);
        }
        self.run(&arguments);
        self.digest(name)
    }

    /// Returns the digest of an image.
    pub fn digest(&self, name: &str) -> String {
        self.run(&["digest", name])
    }

    /// Returns the tags of a repository, sorted.
    pub fn tags(&self, repository: &str) -> Vec<String> {
        let listed = self.run(&["ls", repository]);
        let mut tags: Vec<_> = listed.lines().map(str::to_owned).collect();
        tags.sort_unstable();
        tags
    }
}
