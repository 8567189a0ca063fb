//! Repositories of objects that git itself would not make.

use std::io::Write as _;
use std::process::{Command, Stdio};

use gix::ObjectId;
use gix::objs::{Kind, Write as _};
use pathline_remote::archive::{self, Limits};
use pathline_remote::git::{Error, Git, Reference, Remote};

use crate::repository::Repository;

/// A repository that takes any object, whatever git would say to it.
pub(crate) struct Forge {
    pub(crate) repository: Repository,
    bare: gix::Repository,
}

/// An entry of a tree: its mode, its name and its object.
pub(crate) type Entry<'a> = (&'a str, &'a str, ObjectId);

impl Forge {
    pub(crate) fn new() -> Self {
        let repository = Repository::with_a_commit();
        let bare = gix::open(repository.bare()).expect("it is a repository");
        Self { repository, bare }
    }

    pub(crate) fn write(&self, kind: Kind, content: &[u8]) -> ObjectId {
        let written = self.bare.objects.write_buf(kind, content);
        written.expect("the repository is writable")
    }

    pub(crate) fn blob(&self, content: &str) -> ObjectId {
        self.write(Kind::Blob, content.as_bytes())
    }

    pub(crate) fn tree(&self, entries: &[Entry<'_>]) -> ObjectId {
        let mut content = Vec::new();
        for (mode, name, id) in entries {
            content.extend_from_slice(format!("{mode} {name}\0").as_bytes());
            content.extend_from_slice(id.as_bytes());
        }
        self.write(Kind::Tree, &content)
    }

    /// Commits a tree to `main` and returns the commit.
    pub(crate) fn commit(&self, tree: ObjectId) -> ObjectId {
        let who = "A <a@example.org> 0 +0000";
        let content = format!("tree {tree}\nauthor {who}\ncommitter {who}\n\nforged\n");
        let commit = self.write(Kind::Commit, content.as_bytes());
        self.repository
            .in_bare(&["update-ref", "refs/heads/main", &commit.to_string()]);
        commit
    }

    /// Packs objects, and nothing that they refer to.
    pub(crate) fn pack(&self, objects: &[ObjectId]) -> Vec<u8> {
        let mut packing = Command::new("git")
            .args(["pack-objects", "-q", "--stdout"])
            .current_dir(self.repository.bare())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the tests need the git program");
        let mut names = packing.stdin.take().expect("it is piped");
        for object in objects {
            writeln!(names, "{object}").expect("git listens");
        }
        drop(names);
        let packed = packing.wait_with_output().expect("it ends");
        assert!(packed.status.success());
        packed.stdout
    }

    pub(crate) fn client(&self) -> (Git, Remote) {
        (self.repository.cache("cache"), self.repository.remote())
    }

    /// Packs what is on `main`.
    pub(crate) async fn archive(&self) -> Result<archive::Archive, Error> {
        let (git, remote) = self.client();
        let revision = git.fetch(&remote, &Reference::branch("main")).await?;
        let into = self.repository.scratch("archives");
        git.archive(&remote, &revision, &into, Limits::default())
            .await
    }
}

/// Packs the tip of `main` with its content.
pub(crate) fn pack_of_branch(repository: &Repository) -> std::io::Result<Vec<u8>> {
    let mut packing = Command::new("git")
        .args(["pack-objects", "-q", "--stdout", "--revs"])
        .current_dir(repository.bare())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut names = packing.stdin.take().expect("it is piped");
    names.write_all(b"main\n")?;
    drop(names);
    Ok(packing.wait_with_output()?.stdout)
}
