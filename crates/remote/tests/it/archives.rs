use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use pathline_remote::archive::{Archive, Error, Limits, pack_directory, unpack};
use tempfile::TempDir;

fn sample(dir: &Path) -> Result<()> {
    fs::create_dir_all(dir.join("b/empty"))?;
    fs::write(dir.join("b.txt"), "text")?;
    fs::write(dir.join("b/run"), "#!/bin/sh\n")?;
    fs::set_permissions(dir.join("b/run"), fs::Permissions::from_mode(0o700))?;
    fs::write(dir.join("x".repeat(180)), "long name")?;
    symlink("b/run", dir.join("a-link"))?;
    Ok(())
}

/// Packs raw tar entries, as a hostile sender would.
fn hostile(dir: &Path, entries: &[(&str, tar::EntryType, &str)]) -> Result<std::path::PathBuf> {
    let path = dir.join("hostile.tar.gz");
    let mut bytes = Vec::new();
    for (name, kind, content) in entries {
        let mut header = tar::Header::new_gnu();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        let linked = !matches!(kind, tar::EntryType::Regular);
        if linked {
            header.as_mut_bytes()[157..157 + content.len()].copy_from_slice(content.as_bytes());
        }
        header.set_size(if linked { 0 } else { content.len() as u64 });
        header.set_cksum();
        bytes.extend_from_slice(header.as_bytes());
        if !linked {
            bytes.extend_from_slice(content.as_bytes());
            bytes.resize(bytes.len().next_multiple_of(512), 0);
        }
    }
    bytes.extend_from_slice(&[0; 1024]);
    let mut gzip =
        flate2::write::GzEncoder::new(fs::File::create(&path)?, flate2::Compression::fast());
    gzip.write_all(&bytes)?;
    gzip.finish()?;
    Ok(path)
}

#[test]
fn the_same_content_gives_the_same_bytes_whatever_its_times_and_modes() -> Result<()> {
    let dir = TempDir::new()?;
    let mut archives: Vec<Archive> = Vec::new();
    for (name, mode) in [("one", 0o600), ("two", 0o664)] {
        let source = dir.path().join(name);
        sample(&source)?;
        fs::set_permissions(source.join("b.txt"), fs::Permissions::from_mode(mode))?;
        let old =
            std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(u64::from(mode));
        fs::File::open(source.join("b.txt"))?.set_modified(old)?;
        archives.push(pack_directory(
            &source,
            &dir.path().join("kept"),
            Limits::default(),
        )?);
    }
    assert_eq!(archives[0], archives[1]);
    let sum = Command::new("sha256sum").arg(&archives[0].path).output()?;
    assert!(String::from_utf8(sum.stdout)?.starts_with(&archives[0].digest));
    assert_eq!(fs::metadata(&archives[0].path)?.len(), archives[0].size);
    Ok(())
}

#[test]
fn what_is_packed_comes_back_through_us_and_through_tar() -> Result<()> {
    let dir = TempDir::new()?;
    let source = dir.path().join("source");
    sample(&source)?;
    let archive = pack_directory(&source, dir.path(), Limits::default())?;
    let (ours, theirs) = (dir.path().join("ours"), dir.path().join("theirs"));
    unpack(&archive.path, &ours, Limits::default())?;
    fs::create_dir(&theirs)?;
    let tar = Command::new("tar")
        .arg("-xzf")
        .arg(&archive.path)
        .arg("-C")
        .arg(&theirs)
        .status()?;
    assert!(tar.success());
    for copy in [&ours, &theirs] {
        assert!(
            Command::new("diff")
                .arg("-r")
                .args([&source, copy])
                .status()?
                .success()
        );
        assert_eq!(
            fs::metadata(copy.join("b/run"))?.permissions().mode() & 0o777,
            0o755
        );
        assert!(copy.join("b/empty").is_dir());
    }
    Ok(())
}

#[test]
fn an_archive_made_by_tar_with_dots_in_front_unpacks() -> Result<()> {
    let dir = TempDir::new()?;
    let source = dir.path().join("source");
    sample(&source)?;
    let archive = dir.path().join("plain.tar.gz");
    let tar = Command::new("tar")
        .arg("-czf")
        .arg(&archive)
        .arg("-C")
        .arg(&source)
        .arg(".")
        .status()?;
    assert!(tar.success());
    let into = dir.path().join("into");
    unpack(&archive, &into, Limits::default())?;
    assert!(
        Command::new("diff")
            .arg("-r")
            .args([&source, &into])
            .status()?
            .success()
    );
    Ok(())
}

#[test]
fn hostile_archives_write_nothing_outside() -> Result<()> {
    use tar::EntryType::{Block, Fifo, Link, Regular, Symlink};
    for entries in [
        &[("../out", Regular, "x")][..],
        &[("/out", Regular, "x")],
        &[("a/../../out", Regular, "x")],
        &[("link", Symlink, "../"), ("link/out", Regular, "x")],
        &[("link", Symlink, "/etc/passwd")],
        &[("hard", Link, "/etc/passwd")],
        &[("pipe", Fifo, "")],
        &[("disk", Block, "")],
        &[("twice", Regular, "x"), ("twice", Regular, "y")],
        &[("twice", Regular, "x"), ("twice", Symlink, "elsewhere")],
        &[("inside", Symlink, "sub"), ("inside/file", Regular, "x")],
        &[("a/up", Symlink, ".."), ("leads", Symlink, "a/up/../out")],
        &[("twice", Symlink, "a"), ("twice", Symlink, "b")],
    ] {
        let dir = TempDir::new()?;
        let archive = hostile(dir.path(), entries)?;
        let into = dir.path().join("into");
        assert!(
            unpack(&archive, &into, Limits::default()).is_err(),
            "{entries:?}"
        );
        assert!(!dir.path().join("out").exists(), "{entries:?}");
        assert!(!Path::new("/out").exists(), "{entries:?}");
    }
    Ok(())
}

#[test]
fn content_beyond_the_limits_is_refused_both_ways() -> Result<()> {
    let dir = TempDir::new()?;
    let source = dir.path().join("source");
    fs::create_dir(&source)?;
    fs::write(source.join("zeros"), vec![0; 1 << 20])?;
    let archive = pack_directory(&source, &dir.path().join("kept"), Limits::default())?;
    let few_bytes = Limits {
        bytes: (1 << 20) - 1,
        ..Limits::default()
    };
    let no_entries = Limits {
        entries: 0,
        ..Limits::default()
    };
    for limits in [few_bytes, no_entries] {
        let packed = pack_directory(&source, &dir.path().join("refused"), limits);
        assert!(matches!(packed, Err(Error::TooLarge { .. })), "{packed:?}");
        let unpacked = unpack(&archive.path, &dir.path().join("into"), limits);
        assert!(
            matches!(unpacked, Err(Error::TooLarge { .. })),
            "{unpacked:?}"
        );
    }
    assert_eq!(
        fs::read_dir(dir.path().join("refused"))?.count(),
        0,
        "nothing is left behind"
    );
    Ok(())
}

#[test]
fn a_truncated_archive_is_an_error() -> Result<()> {
    let dir = TempDir::new()?;
    let source = dir.path().join("source");
    sample(&source)?;
    let archive = pack_directory(&source, dir.path(), Limits::default())?;
    let bytes = fs::read(&archive.path)?;
    let cut = dir.path().join("cut.tar.gz");
    fs::write(&cut, &bytes[..bytes.len() / 2])?;
    assert!(unpack(&cut, &dir.path().join("into"), Limits::default()).is_err());
    Ok(())
}

#[test]
fn hole_4_name_without_an_end_is_not_read_whole() -> Result<()> {
    let dir = TempDir::new()?;
    let path = dir.path().join("hostile.tar.gz");
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::GNULongName);
    header.set_size(1 << 30);
    header.set_cksum();
    let mut gzip =
        flate2::write::GzEncoder::new(fs::File::create(&path)?, flate2::Compression::fast());
    gzip.write_all(header.as_bytes())?;
    gzip.write_all(&vec![b'a'; 1 << 20])?;
    gzip.finish()?;
    let refused = unpack(&path, &dir.path().join("into"), Limits::default()).unwrap_err();
    let refused = format!("{:#}", anyhow::Error::from(refused));
    assert!(refused.contains("a header has more than"), "{refused}");
    Ok(())
}

/// Whoever opens a named pipe waits for somebody to write to it.
#[test]
fn named_pipe_is_no_archive() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success(), "mkfifo makes a pipe");
    let refused = unpack(&pipe, &directory.path().join("files"), Limits::default());
    let refused = refused.expect_err("a pipe is no file");
    assert!(
        format!("{refused:?}").contains("not a regular file"),
        "{refused:?}"
    );
}
