//! The kinds that tests need.

use std::path::Path;

use ::kube::Client;
use anyhow::{Context, Result};

use super::document::documents;

/// Installs the CustomResourceDefinitions in the YAML files of a directory, and returns when they are
/// served. One that is there already is left as it is.
pub async fn install_definitions(client: &Client, directory: &Path) -> Result<()> {
    let mut definitions = Vec::new();
    for entry in std::fs::read_dir(directory)
        .with_context(|| format!("{} cannot be read", directory.display()))?
    {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            let objects = documents(&std::fs::read_to_string(&path)?);
            for object in objects.with_context(|| format!("{} cannot be used", path.display()))? {
                definitions.push(serde_json::from_value(object)?);
            }
        }
    }
    crate::kube::install(client, &definitions).await
}
