//! The kubeconfig for the user: whole or not at all, and for nobody else to read.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes `text` to `kubeconfig` in `dir` in one step, readable by this user only.
pub(super) fn write(dir: &Path, text: &str) -> io::Result<PathBuf> {
    let path = dir.join("kubeconfig");
    // Temporary files are made with mode 0600, and renaming keeps it.
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn kubeconfig_is_replaced_and_private() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "old").unwrap();
        let path = write(dir.path(), "new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(
            std::fs::read_dir(dir.path()).unwrap().count(),
            1,
            "no temporary file stays"
        );
    }
}
