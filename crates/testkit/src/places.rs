//! Directories around the checkout.

use std::path::{Path, PathBuf};

/// Returns the directory that holds the workspace's `Cargo.toml`.
pub fn repository_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the test kit lives in crates/testkit")
        .to_path_buf()
}

/// Returns the directory of shared reference material beside the checkout, where there is one.
pub fn shared_dir() -> Option<PathBuf> {
    let shared = repository_root().parent()?.join("shared");
    shared.is_dir().then_some(shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repository_root_holds_the_workspace_manifest() {
        let manifest = std::fs::read_to_string(repository_root().join("Cargo.toml")).unwrap();
        assert!(manifest.contains("[workspace]"), "{manifest}");
    }
}
