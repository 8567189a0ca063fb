//! Packs that are larger than they look.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;
use flate2::{Compress, Compression, FlushCompress};
use gix::ObjectId;
use gix::objs::Kind;
use pathline_remote::archive::{Limits, unpack};
use pathline_testkit::Dice;
use pathline_testkit::scripted_server::with_commit;
use tempfile::TempDir;

use crate::forge::Forge;
use crate::measured_fetch;
use crate::repository::Repository;

/// The id of a file of 3 GiB of zeros.
const ZEROS: &str = "1077662767e8de998abc7dbe3649b8df9a2baf72";

/// Returns bytes that do not compress.
pub(crate) fn noise(count: usize) -> Vec<u8> {
    let mut dice = Dice::new(1);
    let mut bytes = Vec::with_capacity(count + 8);
    while bytes.len() < count {
        bytes.extend_from_slice(&dice.roll().to_le_bytes());
    }
    bytes.truncate(count);
    bytes
}

fn url_of(repository: &Repository) -> String {
    format!("file://{}", repository.bare().display())
}

/// Writes the loose object of a file of 3 GiB of zeros, without compressing as many.
fn write_zeros(objects: &Path) -> Result<()> {
    let zeros = vec![0; 1 << 20];
    let mut pieces = Compress::new(Compression::best(), true);
    let mut start = Vec::with_capacity(1000);
    pieces.compress_vec(b"blob 3221225472\0", &mut start, FlushCompress::Full)?;
    let mut piece = Vec::with_capacity(1 << 16);
    pieces.compress_vec(&zeros, &mut piece, FlushCompress::Full)?;
    let path = objects.join(&ZEROS[..2]);
    std::fs::create_dir_all(&path)?;
    let mut file = std::fs::File::create(path.join(&ZEROS[2..]))?;
    file.write_all(&start)?;
    for _ in 0..3 << 10 {
        file.write_all(&piece)?;
    }
    // Zeros only move the second sum of Adler-32.
    let (mut first, mut second) = (1_u64, 0_u64);
    for byte in b"blob 3221225472\0" {
        first = (first + u64::from(*byte)) % 65521;
        second = (second + first) % 65521;
    }
    second = (second + first * (3 << 30)) % 65521;
    file.write_all(&[3, 0])?;
    file.write_all(&u32::try_from(second << 16 | first)?.to_be_bytes())?;
    Ok(())
}

#[test]
fn hole_4_blob_of_zeros_is_refused_from_its_header() -> Result<()> {
    let forge = Forge::new();
    write_zeros(&forge.repository.bare().join("objects"))?;
    let size = forge.repository.in_bare(&["cat-file", "-s", ZEROS]);
    assert_eq!(size, "3221225472", "git knows it");
    let zeros = ObjectId::from_hex(ZEROS.as_bytes())?;
    forge.commit(forge.tree(&[("100644", "zeros", zeros)]));
    let directory = TempDir::new()?;
    let report = measured_fetch::fetch(&url_of(&forge.repository), directory.path(), 300)?;
    let told = report.refusal();
    let expected = "a file has 3221225472 bytes, and at most 1073741824 are taken";
    assert!(told.contains(expected), "{told}");

    forge.commit(forge.tree(&[("100644", "small", forge.blob("good\n"))]));
    let report = measured_fetch::fetch(&url_of(&forge.repository), directory.path(), 300)?;
    report.archive();
    Ok(())
}

/// Unpacks an archive and compares its files.
fn assert_has(archive: &str, files: &[(&str, &[u8])]) -> Result<()> {
    let directory = TempDir::new()?;
    let into = directory.path().join("content");
    unpack(Path::new(archive), &into, Limits::default())?;
    for (name, content) in files {
        let found = std::fs::read(into.join(name))?;
        assert!(found == *content, "`{name}` is another one");
    }
    Ok(())
}

#[test]
fn hole_4_large_file_comes_through_whole_and_as_a_delta() -> Result<()> {
    let repository = Repository::with_a_commit();
    let clone = repository.scratch("clone");
    let plain = noise(40 << 20);
    std::fs::write(clone.join("plain"), &plain)?;
    repository.commit(&[], "a large file");
    let directory = TempDir::new()?;
    let url = url_of(&repository);
    let archive = measured_fetch::fetch(&url, directory.path(), 300)?.archive();
    assert_has(&archive, &[("plain", &plain)])?;

    // On what was fetched before, which is not in the pack.
    let mut changed = plain.clone();
    changed[20 << 20..(20 << 20) + 6].copy_from_slice(b"change");
    std::fs::write(clone.join("plain"), &changed)?;
    repository.commit(&[], "a change of it");
    let archive = measured_fetch::fetch(&url, directory.path(), 300)?.archive();
    assert_has(&archive, &[("plain", &changed)])?;

    // On another one of the same pack.
    std::fs::remove_file(clone.join("plain"))?;
    std::fs::write(clone.join("before"), &plain)?;
    changed[30 << 20] ^= 1;
    std::fs::write(clone.join("after"), &changed)?;
    repository.commit(&[], "more of the kind");
    repository.in_bare(&["repack", "-q", "-adf"]);
    let elsewhere = TempDir::new()?;
    let archive = measured_fetch::fetch(&url, elsewhere.path(), 300)?.archive();
    assert_has(&archive, &[("before", &plain), ("after", &changed)])?;
    Ok(())
}

#[test]
fn hole_4_tree_with_too_many_entries_is_refused() -> Result<()> {
    let forge = Forge::new();
    let file = forge.blob("x");
    let entries = |count: usize| {
        let mut content = Vec::new();
        for number in 0..count {
            content.extend_from_slice(format!("100644 f{number:06}\0").as_bytes());
            content.extend_from_slice(file.as_slice());
        }
        content
    };
    let tree = forge.write(Kind::Tree, &entries(200_000));
    forge.commit(tree);
    let directory = TempDir::new()?;
    let url = url_of(&forge.repository);
    let told = measured_fetch::fetch(&url, directory.path(), 300)?.refusal();
    let expected = "a directory has 7000000 bytes, and at most 4194304 are taken";
    assert!(told.contains(expected), "{told}");

    // None is too large, but together they are.
    let mut tree = forge.write(Kind::Tree, &entries(100_000));
    for _ in 0..30 {
        let mut content = b"40000 d\0".to_vec();
        content.extend_from_slice(tree.as_slice());
        content.extend(entries(100_000));
        tree = forge.write(Kind::Tree, &content);
    }
    forge.commit(tree);
    let told = measured_fetch::fetch(&url, directory.path(), 300)?.refusal();
    assert!(told.contains("more than 200000 entries"), "{told}");
    Ok(())
}

#[test]
fn hole_4_object_of_another_kind_is_not_read_as_a_directory() -> Result<()> {
    let forge = Forge::new();
    let large = forge.write(Kind::Blob, &vec![0; 100 << 20]);
    forge.commit(large);
    let directory = TempDir::new()?;
    let url = url_of(&forge.repository);
    // Git itself does not send such a commit.
    let told = measured_fetch::fetch(&url, directory.path(), 300)?.refusal();
    assert!(told.contains("the remote says"), "{told}");

    // Nothing keeps another server from sending it.
    for tree in [large, forge.tree(&[("40000", "d", large)])] {
        let commit = forge.commit(tree);
        let mut objects = vec![commit, large, tree];
        objects.dedup();
        let server = with_commit(&commit.to_string(), forge.pack(&objects));
        let told = measured_fetch::fetch(&server.url(), directory.path(), 300)?.refusal();
        let expected = format!("{large} is a blob, and not a tree");
        assert!(told.contains(&expected), "{told}");
    }
    Ok(())
}

#[test]
fn hole_4_three_hundred_thousand_objects_take_little_memory() -> Result<()> {
    let repository = Repository::empty();
    let mut import = Command::new("git")
        .args(["fast-import", "--quiet", "--done"])
        .current_dir(repository.bare())
        .stdin(Stdio::piped())
        .spawn()?;
    let mut out = std::io::BufWriter::new(import.stdin.take().expect("it is piped"));
    writeln!(out, "commit refs/heads/main")?;
    writeln!(out, "committer A <a@example.org> 0 +0000\ndata 0")?;
    for number in 0..300_000 {
        let (directory, content) = (number % 1000, format!("content of {number}\n"));
        writeln!(out, "M 100644 inline {directory}/{number}")?;
        writeln!(out, "data {}\n{content}", content.len())?;
    }
    writeln!(out, "done")?;
    drop(out);
    assert!(import.wait()?.success());
    let directory = TempDir::new()?;
    let told = measured_fetch::fetch(&url_of(&repository), directory.path(), 600)?.refusal();
    // All of them arrive; only the archive has a limit that is lower.
    assert!(told.contains("more than 200000 entries"), "{told}");
    Ok(())
}

#[test]
fn hole_4_cache_holds_what_git_itself_finds_sound() -> Result<()> {
    let repository = Repository::with_a_commit();
    let directory = TempDir::new()?;
    let text = |round: usize| {
        (0..3000 + round)
            .map(|it| format!("line {it} {round}\n"))
            .collect::<String>()
    };
    for round in 0..4 {
        let files = [("text", &*text(round)), ("more/text", &*text(round + 1))];
        repository.commit(&files, "next");
        repository.in_bare(&["repack", "-q", "-adf"]);
        let archive = measured_fetch::fetch(&url_of(&repository), directory.path(), 300)?.archive();
        assert_has(&archive, &[("text", text(round).as_bytes())])?;
    }
    let mut caches = std::fs::read_dir(directory.path().join("cache"))?;
    let cache = caches.next().expect("there is one")?.path();
    let said = pathline_testkit::git(&cache, &["fsck", "--full", "--strict", "--no-dangling"]);
    assert_eq!(said, "");
    let mut packs = 0;
    for entry in std::fs::read_dir(cache.join("objects/pack"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "idx") {
            let path = path.to_str().expect("it is text");
            pathline_testkit::git(&cache, &["verify-pack", path]);
            packs += 1;
        }
    }
    assert_eq!(packs, 4);
    Ok(())
}
