//! The scene of a demo: a directory with two repositories and a Pathline.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context;
use pathline_clock::Clock;
use tempfile::TempDir;
use url::Url;

use super::git::{GitError, git};
use super::sample::{self, Targets};
use crate::terminal::report::{CommandError, Exit};

/// The directory of a demo and what is in it.
#[derive(Debug)]
pub(crate) struct Scene {
    root: PathBuf,
    /// Held when the directory is ours to remove.
    temporary: Option<TempDir>,
    site_port: u16,
    /// Keeps the port of the site from everybody who asks for a free one.
    reservation: Option<TcpListener>,
}

/// A commit in the sample repository.
#[derive(Clone, Debug)]
pub(super) struct Commit {
    pub(super) id: String,
    pub(super) subject: String,
    pub(super) made_at: SystemTime,
}

impl Scene {
    /// Makes the directory: `dir` if given, which must be empty or new, else a temporary one.
    pub(crate) fn open(dir: Option<&Path>) -> Result<Self, CommandError> {
        let (root, temporary) = match dir {
            Some(dir) => (empty_directory(dir)?, None),
            None => {
                let temporary = tempfile::Builder::new()
                    .prefix("pathline-demo-")
                    .tempdir()
                    .context("cannot make a temporary directory")?;
                (temporary.path().canonicalize()?, Some(temporary))
            }
        };
        let (reservation, site_port) = free_port()?;
        Ok(Self {
            root,
            temporary,
            site_port,
            reservation: Some(reservation),
        })
    }

    /// Gives the port of the site to the application: from now on nobody here asks for a free one.
    pub(crate) fn release_site(&mut self) {
        self.reservation = None;
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns whether the directory goes away when the demo ends well.
    pub(crate) fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.root.join("data")
    }

    pub(crate) fn log_path(&self) -> PathBuf {
        self.root.join("pathline.log")
    }

    /// Makes the file that the log of this demo goes to.
    pub(crate) fn create_log(&self) -> anyhow::Result<File> {
        let path = self.log_path();
        File::create(&path).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Leaves the directory behind, because somebody has to look into it.
    pub(crate) fn keep(&mut self) {
        if let Some(temporary) = self.temporary.take() {
            let _ = temporary.keep();
        }
    }

    /// Removes the directory if it is ours to remove.
    pub(crate) fn close(self) -> anyhow::Result<()> {
        match self.temporary {
            Some(temporary) => temporary
                .close()
                .context("cannot remove the temporary directory"),
            None => Ok(()),
        }
    }

    pub(super) fn app(&self) -> PathBuf {
        self.root.join("app")
    }

    pub(super) fn manifests(&self) -> PathBuf {
        self.root.join("manifests.git")
    }

    /// Returns the address under which the sample application will be served.
    pub(super) fn site(&self) -> (Ipv4Addr, u16) {
        (Ipv4Addr::LOCALHOST, self.site_port)
    }

    pub(super) fn targets(&self) -> Targets {
        Targets {
            app_url: file_url(&self.app()),
            manifests_url: file_url(&self.manifests()),
            site_port: self.site_port,
        }
    }

    /// Makes the two repositories: the application without a commit, the manifests bare.
    pub(super) async fn set_up(&self) -> Result<(), CommandError> {
        let app = self.app();
        fs::create_dir(&app)?;
        for (name, text) in sample::app_files() {
            fs::write(app.join(name), text)?;
        }
        git(&app, &["init", "--quiet", "--template="]).await?;
        git(&app, &["symbolic-ref", "HEAD", "refs/heads/main"]).await?;
        // The user's next commit works without any identity, and without her signing key.
        for (key, value) in [
            ("user.name", "Pathline demo"),
            ("user.email", "demo@localhost"),
            ("commit.gpgSign", "false"),
        ] {
            git(&app, &["config", key, value]).await?;
        }
        let manifests = self.manifests();
        fs::create_dir(&manifests)?;
        git(&manifests, &["init", "--quiet", "--bare", "--template="]).await?;
        git(&manifests, &["symbolic-ref", "HEAD", "refs/heads/main"]).await?;
        Ok(())
    }

    /// Commits the application as it is.
    pub(super) async fn commit(&self, subject: &str) -> Result<Commit, GitError> {
        let app = self.app();
        git(&app, &["add", "--all"]).await?;
        git(&app, &["commit", "--quiet", "--message", subject]).await?;
        let id = git(&app, &["rev-parse", "HEAD"]).await?;
        self.look_up(&id).await
    }

    /// Changes the message of the application, and commits that.
    pub(super) async fn change_message(
        &self,
        message: &str,
        subject: &str,
    ) -> Result<Commit, CommandError> {
        fs::write(self.app().join("message.txt"), format!("{message}\n"))?;
        Ok(self.commit(subject).await?)
    }

    /// Returns what there is to know about a commit that was just made.
    pub(super) async fn look_up(&self, id: &str) -> Result<Commit, GitError> {
        let app = self.app();
        let subject = git(&app, &["log", "-1", "--format=%s", id, "--"]).await?;
        // A commit knows its time to the second; the branch was written when it was made.
        let branch =
            fs::metadata(app.join(".git/refs/heads/main")).and_then(|file| file.modified());
        let made_at = branch.unwrap_or_else(|_| Clock::system().now().into());
        Ok(Commit {
            id: id.to_owned(),
            subject,
            made_at,
        })
    }
}

fn empty_directory(dir: &Path) -> Result<PathBuf, CommandError> {
    let cannot_use = || format!("cannot use {} for the demo", dir.display());
    fs::create_dir_all(dir).with_context(cannot_use)?;
    if fs::read_dir(dir).with_context(cannot_use)?.next().is_some() {
        return Err(CommandError::new(format!("{} is not empty", dir.display()))
            .with_hint("the demo starts in a fresh directory; name a new one with `--dir`")
            .with_exit(Exit::Usage));
    }
    Ok(dir.canonicalize().with_context(cannot_use)?)
}

/// Another program may take the port before the application does; the demo then says so.
fn free_port() -> anyhow::Result<(TcpListener, u16)> {
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot find a free port")?;
    let port = listener.local_addr()?.port();
    Ok((listener, port))
}

fn file_url(path: &Path) -> String {
    Url::from_file_path(path)
        .expect("the root of a scene is absolute")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn scene_has_an_application_with_commits_and_an_empty_manifest_repository() {
        let scene = Scene::open(None).unwrap();
        scene.set_up().await.unwrap();
        let first = scene.commit("Say hello").await.unwrap();
        let second = scene
            .change_message("Hello again", "Say it again")
            .await
            .unwrap();

        let log = git(&scene.app(), &["log", "--format=%H %s", "main"])
            .await
            .unwrap();

        assert_eq!(
            log,
            format!("{} Say it again\n{} Say hello", second.id, first.id)
        );
        assert_eq!(second.subject, "Say it again");
        assert!(second.made_at >= first.made_at);
        assert!(
            git(&scene.manifests(), &["rev-parse", "main"])
                .await
                .is_err()
        );
    }

    #[test]
    fn temporary_directory_goes_and_a_named_one_stays() {
        let temporary = Scene::open(None).unwrap();
        let gone = temporary.root().to_owned();
        temporary.close().unwrap();
        assert!(!gone.exists());

        let home = tempfile::tempdir().unwrap();
        let named = Scene::open(Some(&home.path().join("new"))).unwrap();
        let stays = named.root().to_owned();
        named.close().unwrap();
        assert!(stays.exists());
    }

    #[test]
    fn directory_in_use_is_left_alone() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("thesis.tex"), "").unwrap();
        let failure = Scene::open(Some(home.path())).unwrap_err();
        assert_eq!(failure.exit(), Exit::Usage);
    }
}
