//! Trailers of commit messages, held against what git itself makes of them.

use anyhow::Result;
use pathline_remote::git::{Change, Edits, trailers};

use crate::repository::Repository;

/// Messages with trailers, and with what looks like some.
const MESSAGES: &[&str] = &[
    "deploy: shop\n",
    "deploy: shop\nwith: it\n",
    "deploy\n\nChange: 1\nApp: shop\nChange: 2\n",
    "deploy\n\nA body.\n\nChange: 1\n\n\n",
    "deploy\r\n\r\nA body.\r\n\r\nChange: 1\r\nApp: shop\r\n",
    "deploy\n \nChange: 1\n",
    "deploy\n\t\nA body.\n  \nChange: 1\n",
    "deploy\n\nNote: one\n two\n\tthree\nApp: shop\n",
    "deploy\n\nChange:1\nApp : shop\nEmpty:\n",
    "deploy\n\nChange: 1\n\nA body comes after.\n",
    "deploy\n\nChange: 1\nbut more words follow\n",
    "deploy\n\nsee there\nand here\nSigned-off-by: A <a@example.org>\nApp: shop\n",
    "deploy\n\n1\n2\n3\n4\n5\n6\n7\nSigned-off-by: A <a@example.org>\n",
    "deploy\n\n(cherry picked from commit 1a2b)\n",
    "deploy\n\nSee https://example.org\nhttps://example.org\n",
    "deploy\n\ntwo words: 1\n",
    "deploy\n\nÄpp: shop\n",
    "deploy\n\nApp: käse 🧀\n",
    "deploy\n\n: no key\n",
    "deploy\n\n folded: from nothing\n",
    "deploy\n\nA body.\n---\nChange: 1\n",
    "deploy\n\nA body.\n\n---\nChange: 1\n",
];

/// Makes a commit with exactly that message.
fn commit(repository: &Repository, message: &str) -> Result<String> {
    let file = repository.scratch("message");
    std::fs::write(&file, message)?;
    let file = file.display().to_string();
    Ok(repository.in_bare(&["commit-tree", "main^{tree}", "-F", &file]))
}

#[test]
fn trailers_are_read_as_git_reads_them() -> Result<()> {
    let repository = Repository::with_a_commit();
    for message in MESSAGES {
        let commit = commit(&repository, message)?;
        let format = "--format=%(trailers:only,unfold)";
        let expected = repository.in_bare(&["log", "-1", format, &commit]);
        let found = trailers(message).into_iter();
        let found: Vec<_> = found
            .map(|it| format!("{}: {}", it.key, it.value))
            .collect();
        let expected: Vec<_> = expected.lines().map(str::trim_end).collect();
        let found: Vec<_> = found.iter().map(|it| it.trim_end()).collect();
        assert_eq!(found, expected, "{message:?}");
    }
    assert_eq!(trailers(b"a\n\nBytes: \xff\n")[0].value, "\u{fffd}");
    Ok(())
}

#[tokio::test]
async fn trailers_are_added_as_git_adds_them() -> Result<()> {
    let repository = Repository::with_a_commit();
    let (git, remote) = (repository.cache("cache"), repository.remote());
    let file = repository.scratch("message");
    for (number, message) in MESSAGES.iter().enumerate() {
        // Line ends are not mixed by git, and those of the message stay as they are here.
        let message = message.replace("\r\n", "\n");
        let edits = Edits::new(&message)
            .write("number", number.to_string())
            .trailer("Source", "a: b=c")
            .trailer("Source", "d");
        git.commit(&remote, Change::fixed("main", edits)?).await?;
        let written = repository.in_bare(&["log", "-1", "--format=%B", "main"]);

        std::fs::write(&file, format!("{}\n", message.trim_end()))?;
        let file = file.display().to_string();
        let expected = repository.in_bare(&[
            "interpret-trailers",
            "--no-divider",
            "--if-exists=add",
            "--trailer=Source: a: b=c",
            "--trailer=Source: d",
            &file,
        ]);
        // Git also rewrites the trailers that are there; here they stay as they were written.
        if !message.contains("App : shop") {
            assert_eq!(written, expected, "{message:?}");
        }
        let found = trailers(&written);
        let found: Vec<_> = found.iter().rev().take(2).map(|it| &*it.value).collect();
        assert_eq!(found, ["d", "a: b=c"], "{message:?}");
    }
    repository.assert_sound();
    Ok(())
}
