//! `pathline crds`: the kinds, ready to be applied.

use serde_json::json;

use crate::cli::OutputArgs;
use crate::terminal::output::{Format, print_data};
use crate::terminal::report::{CommandError, Exit};

pub(crate) fn run(args: &OutputArgs) -> Result<Exit, CommandError> {
    let crds = pathline_engine::crds::on_a_real_cluster();
    let mut documents = String::new();
    for crd in &crds {
        documents.push_str("---\n");
        documents.push_str(&serde_saphyr::to_string(crd).map_err(anyhow::Error::new)?);
    }
    let list = json!({"apiVersion": "v1", "kind": "List", "items": crds});
    // Both forms for people and for programs are YAML; only JSON needs one document.
    let format = match args.format {
        Format::Json => Format::Json,
        Format::Text | Format::Yaml => Format::Text,
    };
    print_data(format, &list, |out| out.write_all(documents.as_bytes()))?;
    Ok(Exit::Yes)
}
