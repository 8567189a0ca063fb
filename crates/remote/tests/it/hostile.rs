//! Repositories that nobody would make by accident.

use anyhow::Result;
use gix::ObjectId;
use gix::objs::{Kind, Write};
use pathline_remote::archive::{self, Limits};
use pathline_remote::git::{Error, Git, Reference, Remote};

use crate::repository::{Repository, change};

/// A repository that takes any object, whatever git would say to it.
struct Forge {
    repository: Repository,
    bare: gix::Repository,
}

/// An entry of a tree: its mode, its name and its object.
type Entry<'a> = (&'a str, &'a str, ObjectId);

impl Forge {
    fn new() -> Self {
        let repository = Repository::with_a_commit();
        let bare = gix::open(repository.bare()).expect("it is a repository");
        Self { repository, bare }
    }

    fn write(&self, kind: Kind, content: &[u8]) -> ObjectId {
        let written = self.bare.objects.write_buf(kind, content);
        written.expect("the repository is writable")
    }

    fn blob(&self, content: &str) -> ObjectId {
        self.write(Kind::Blob, content.as_bytes())
    }

    fn tree(&self, entries: &[Entry<'_>]) -> ObjectId {
        let mut content = Vec::new();
        for (mode, name, id) in entries {
            content.extend_from_slice(format!("{mode} {name}\0").as_bytes());
            content.extend_from_slice(id.as_bytes());
        }
        self.write(Kind::Tree, &content)
    }

    /// Commits a tree to `main`.
    fn commit(&self, tree: ObjectId) {
        let who = "A <a@example.org> 0 +0000";
        let content = format!("tree {tree}\nauthor {who}\ncommitter {who}\n\nforged\n");
        let commit = self.write(Kind::Commit, content.as_bytes());
        self.repository
            .in_bare(&["update-ref", "refs/heads/main", &commit.to_string()]);
    }

    fn client(&self) -> (Git, Remote) {
        (self.repository.cache("cache"), self.repository.remote())
    }

    /// Packs what is on `main`.
    async fn archive(&self) -> Result<archive::Archive, Error> {
        let (git, remote) = self.client();
        let revision = git.fetch(&remote, &Reference::branch("main")).await?;
        let into = self.repository.scratch("archives");
        git.archive(&remote, &revision, &into, Limits::default())
            .await
    }
}

#[tokio::test]
async fn hole_1_tree_that_is_too_deep_is_an_error_and_others_are_packed() -> Result<()> {
    let forge = Forge::new();
    let file = forge.blob("at the bottom\n");
    let mut tree = forge.tree(&[("100644", "f", file)]);
    for depth in 1..=3000 {
        tree = forge.tree(&[("40000", "d", tree)]);
        if depth == 500 {
            forge.commit(tree);
            forge.archive().await?;
        }
    }
    forge.commit(tree);
    let told = forge.archive().await.unwrap_err();
    let told = format!("{:#}", anyhow::Error::from(told));
    assert!(
        told.contains("more than 512 directories inside one another"),
        "{told}"
    );
    Ok(())
}

#[tokio::test]
async fn hole_1_file_is_written_beside_a_tree_that_is_too_deep() -> Result<()> {
    let forge = Forge::new();
    let mut tree = forge.tree(&[]);
    for _ in 0..3000 {
        tree = forge.tree(&[("40000", "d", tree)]);
    }
    forge.commit(tree);
    let (git, remote) = forge.client();
    let written = git
        .commit(&remote, change(&[("site.yaml", "a: 1\n")]))
        .await?;
    assert!(written.changed);
    Ok(())
}

#[tokio::test]
async fn hole_7_git_directory_in_a_tree_is_refused_under_every_name() -> Result<()> {
    let forge = Forge::new();
    let config = forge.blob("[core]\n\tfsmonitor = touch /tmp/owned\n");
    let inside = forge.tree(&[("100644", "config", config)]);
    for name in [".git", ".GIT", "git~1", ".git ", ".g\u{200c}it"] {
        let below = forge.tree(&[("40000", name, inside)]);
        for tree in [below, forge.tree(&[("40000", "sub", below)])] {
            forge.commit(tree);
            let told = forge.archive().await.unwrap_err().to_string();
            assert!(told.contains("git does not allow such a name"), "{told}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn hole_6_links_that_lead_out_together_are_refused() -> Result<()> {
    let forge = Forge::new();
    let up = forge.tree(&[("120000", "up", forge.blob(".."))]);
    let out = forge.blob("a/up/../admin.token");
    forge.commit(forge.tree(&[("40000", "a", up), ("120000", "out", out)]));
    let told = forge.archive().await.unwrap_err();
    let told = format!("{:#}", anyhow::Error::from(told));
    assert!(told.contains("would leave the archive"), "{told}");
    forge.commit(forge.tree(&[("40000", "a", up), ("120000", "in", forge.blob("a/up/a"))]));
    forge.archive().await?;
    Ok(())
}
