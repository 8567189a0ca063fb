//! Files for the user alone: whole or not at all, and for nobody else to read.

use std::fs::{self, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::terminal::report::CommandError;

/// The files below a data directory that hold secrets.
const SECRETS: [&str; 10] = [
    "pki",
    "pki/ca.key",
    "pki/service-accounts.key",
    "admin.token",
    "rest.token",
    "kubeconfig",
    "cluster.db",
    "ledger.db",
    "seal.key",
    "seal.key.next",
];

/// The system itself: whoever is root can read everything anyway.
const ROOT: u32 = 0;

/// Makes sure that a data directory is this user's, and nobody else's to look into.
///
/// # Errors
/// If it, or a secret in it, belongs to somebody else: they may know the secrets, or change them.
pub(crate) fn claim(data_dir: &Path) -> Result<(), CommandError> {
    let metadata = fs::metadata(data_dir)?;
    check_owner(data_dir, &metadata)?;
    tighten(data_dir, &metadata)?;
    for secret in SECRETS.map(|name| data_dir.join(name)) {
        match fs::symlink_metadata(&secret) {
            // Where a link leads to was somebody's choice.
            Ok(metadata) if metadata.is_symlink() => {}
            Ok(metadata) => {
                check_owner(&secret, &metadata)?;
                tighten(&secret, &metadata)?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn check_owner(path: &Path, metadata: &Metadata) -> Result<(), CommandError> {
    let (owner, user) = (metadata.uid(), rustix::process::geteuid().as_raw());
    if owner == user || owner == ROOT {
        return Ok(());
    }
    let message = format!(
        "{} belongs to another user (uid {owner}), who could read or change what is in it; this \
         is uid {user}",
        path.display()
    );
    Err(CommandError::new(message).with_hint(
        "run it as that user, give the directory to this one with `chown -R`, or name another with \
         `--data-dir`",
    ))
}

/// Takes away what group and others may do. A directory of root's, such as the mounted volume of a
/// container, is left as it is.
fn tighten(path: &Path, metadata: &Metadata) -> Result<(), CommandError> {
    let mode = metadata.permissions().mode() & 0o777;
    let private = mode & 0o700;
    if mode == private || metadata.uid() != rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(private))?;
    tracing::warn!(
        "{} was open to other users (mode {mode:04o}); it is for its owner alone now ({private:04o})",
        path.display()
    );
    Ok(())
}

/// Writes a file in one step, readable by this user only.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    // Temporary files are made with mode 0600, and renaming keeps it.
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_replaced_and_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("kubeconfig");
        write(&path, "old").unwrap();
        write(&path, "new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(
            std::fs::read_dir(dir.path()).unwrap().count(),
            1,
            "no temporary file stays"
        );
    }
}
