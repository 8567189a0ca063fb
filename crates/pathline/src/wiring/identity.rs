//! Opening a data directory, and the message if it is a copy.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::Context;
use pathline_client::api::ServerFile;
use pathline_workers::Identity;

use crate::terminal::output::say;

/// The identity of a data directory that was opened.
pub(crate) struct Established {
    pub(crate) identity: Identity,
    /// True if it was a copy, also if it was adopted just now.
    pub(crate) was_copy: bool,
}

/// Finds out who the data directory is, writes that down, and says so if it is a copy.
///
/// To be called by whoever holds the directory, and before anything is done with what is in it.
pub(crate) fn establish(data_dir: &Path, adopt: bool) -> anyhow::Result<Established> {
    let mut identity = Identity::read(data_dir).context("cannot tell whether this is a copy")?;
    if identity.is_new_copy() {
        forget_addresses(data_dir).context("cannot remove the addresses of the original")?;
    }
    let original = identity.copy_of().map(ToOwned::to_owned);
    if adopt {
        identity.adopt();
    }
    let written = identity.write_down();
    written.context("cannot write down who the data directory is")?;
    if let Some(original) = &original {
        announce(data_dir, original, adopt);
    }
    Ok(Established {
        identity,
        was_copy: original.is_some(),
    })
}

/// Says that `--adopt` was for nothing.
pub(crate) fn announce_nothing_to_adopt() {
    say(
        "the data directory is no copy, and no other cluster has its ledger: there is nothing to adopt",
    );
}

fn announce(data_dir: &Path, original: &str, adopted: bool) {
    let data_dir = data_dir.display();
    if adopted {
        say(&format!(
            "adopted {data_dir}, a copy of {original}: it pushes its GitCommits now"
        ));
    } else {
        say(&format!(
            "{data_dir} is a copy of {original}: nothing of the original is ended, and no GitCommit is pushed\n\
             \x20 to push from here, too, stop this and start it with `pathline up --adopt`"
        ));
    }
}

/// Removes what would lead those who ask this directory to the original.
fn forget_addresses(data_dir: &Path) -> io::Result<()> {
    for file in [ServerFile::path(data_dir), data_dir.join("kubeconfig")] {
        match fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
