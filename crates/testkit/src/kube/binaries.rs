//! Finding the programs of a Kubernetes control plane.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::{repository_root, setting};

/// The oldest minor version of Kubernetes 1 whose behaviour the tests are written for.
const OLDEST_MINOR: u32 = 32;

/// A directory with etcd, kube-apiserver, kube-controller-manager and kubectl.
#[derive(Debug, Clone)]
pub struct Binaries {
    directory: PathBuf,
}

impl Binaries {
    /// Looks in `KUBEBUILDER_ASSETS`, in what `scripts/kube-binaries` keeps, and on the PATH.
    ///
    /// The error says what is missing and how to get it.
    pub fn find() -> Result<Self> {
        let kept = kept_by_script();
        for directory in kept.into_iter().chain(path_directories()) {
            let found = Self { directory };
            if found.is_complete() && found.is_recent() {
                return Ok(found);
            }
        }
        bail!("no etcd, kube-apiserver and kubectl >= 1.{OLDEST_MINOR}; run scripts/kube-binaries")
    }

    /// Returns the path of one of the programs.
    pub fn program(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn is_complete(&self) -> bool {
        [
            "etcd",
            "kube-apiserver",
            "kube-controller-manager",
            "kubectl",
        ]
        .iter()
        .all(|name| self.program(name).is_file())
    }

    fn is_recent(&self) -> bool {
        minor_version(&self.program("kube-apiserver"), &["--version"])
            .is_ok_and(|minor| minor >= OLDEST_MINOR)
            && minor_version(&self.program("kubectl"), &["version", "--client"])
                .is_ok_and(|minor| minor >= OLDEST_MINOR)
    }
}

/// Asks the script rather than knowing its cache directory and pinned version here as well.
fn kept_by_script() -> Option<PathBuf> {
    let output = Command::new(repository_root().join("scripts/kube-binaries"))
        .arg("--no-build")
        .output()
        .ok()?;
    let directory = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    (output.status.success() && directory.is_dir()).then_some(directory)
}

fn path_directories() -> Vec<PathBuf> {
    setting("PATH")
        .map(|path| std::env::split_paths(&path).collect())
        .unwrap_or_default()
}

/// Reads 36 from a line like `Kubernetes v1.36.3`.
fn minor_version(program: &Path, arguments: &[&str]) -> Result<u32> {
    let output = Command::new(program).args(arguments).output()?;
    ensure!(
        output.status.success(),
        "{} ended with {}",
        program.display(),
        output.status
    );
    parse_minor(&String::from_utf8(output.stdout)?)
}

fn parse_minor(text: &str) -> Result<u32> {
    let (_, after) = text
        .split_once("v1.")
        .with_context(|| format!("no version in `{text}`"))?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits
        .parse()
        .with_context(|| format!("no minor version in `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minor_version_is_read_from_what_the_programs_print() {
        assert_eq!(parse_minor("Kubernetes v1.36.3\n").unwrap(), 36);
        assert_eq!(
            parse_minor("Client Version: v1.32.0+k3s1\nKustomize Version: v5").unwrap(),
            32
        );
        assert!(parse_minor("nothing of the kind").is_err());
    }
}
