//! Repositories that nobody would make by accident.

use anyhow::Result;

use crate::forge::Forge;
use crate::repository::change;

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
    assert!(written.is_changed());
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
