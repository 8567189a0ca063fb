//! `pathline release show`.

use std::io::{self, Write};

use pathline_client::api::{KeyChange, ReleaseDetail, ReleaseObjects};

use crate::cli::ShowReleaseArgs;
use crate::commands::tracker::server::named;
use crate::terminal::client::Client;
use crate::terminal::output::{Format, print_bytes, print_data};
use crate::terminal::report::{CommandError, Exit};

pub(super) async fn show(args: &ShowReleaseArgs) -> Result<Exit, CommandError> {
    let client = Client::find(&args.server.options())?;
    if let Some(environment) = &args.environment {
        return objects(&client, args, environment).await;
    }
    let detail: ReleaseDetail = client.get(&["releases", &args.id], &[]).await?;
    print_data(args.output.format, &detail, |out| write_one(out, &detail))?;
    Ok(Exit::Yes)
}

/// Shows the objects in an environment. As YAML they are documents that `kubectl` reads.
async fn objects(
    client: &Client,
    args: &ShowReleaseArgs,
    environment: &str,
) -> Result<Exit, CommandError> {
    let path = ["releases", args.id.as_str(), "objects"];
    let query = [("environment", environment)];
    let found: ReleaseObjects = client.get(&path, &query).await?;
    match args.output.format {
        Format::Yaml => print_bytes(documents(&found)?.as_bytes())?,
        format => print_data(format, &found, |out| write_objects(out, &found))?,
    }
    Ok(Exit::Yes)
}

fn documents(found: &ReleaseObjects) -> Result<String, CommandError> {
    let mut documents = String::new();
    for object in &found.objects {
        let text = serde_saphyr::to_string(object).map_err(anyhow::Error::from)?;
        documents += &format!("---\n{text}");
    }
    Ok(documents)
}

fn write_objects(out: &mut dyn Write, found: &ReleaseObjects) -> io::Result<()> {
    let state = match found.state.as_deref() {
        Some(state) => format!("{state} in"),
        None => "not in".to_owned(),
    };
    writeln!(
        out,
        "{}  release {}  {state} {}; as it would be written now:",
        found.tracker, found.release, found.environment
    )?;
    for object in &found.objects {
        let text = |pointer: &str| object.pointer(pointer).and_then(|it| it.as_str());
        let kind = text("/kind").unwrap_or("-");
        let name = text("/metadata/name").unwrap_or("-");
        writeln!(out, "  {kind:11}  {}/{name}", found.namespace)?;
    }
    writeln!(out, "`-o yaml` shows all of them")
}

fn write_one(out: &mut dyn Write, detail: &ReleaseDetail) -> io::Result<()> {
    let release = &detail.release;
    writeln!(
        out,
        "{}  release {}  {}",
        release.tracker, release.number, release.cause
    )?;
    writeln!(out, "  id             {}", release.id)?;
    writeln!(out, "  formed         {:.0}", release.time)?;
    if let Some(by) = &release.by {
        let reason = release.reason.as_ref().map(|it| format!(": {it}"));
        writeln!(out, "  asked for by   {by}{}", reason.unwrap_or_default())?;
    }
    let image = &release.image;
    writeln!(
        out,
        "  image          {}",
        named(&image.repository, &image.tag, &image.digest)
    )?;
    if let Some(revision) = &image.revision {
        let source = image.source.as_deref().unwrap_or("an unnamed repository");
        writeln!(out, "  built from     {revision} of {source}")?;
    }
    writeln!(
        out,
        "  configuration  {} of commit {}",
        release.from.config_hash, release.from.commit
    )?;
    for entry in &release.entries {
        let by = match (entry.superseded_by, entry.replaced_by) {
            (Some(by), _) => format!(" by {by}"),
            (None, Some(by)) => format!(", replaced by {by},"),
            (None, None) => String::new(),
        };
        let message = entry
            .message
            .as_ref()
            .map(|it| format!(": {it}"))
            .unwrap_or_default();
        writeln!(
            out,
            "  {:13}  {}{by} since {:.0}{message}",
            entry.environment, entry.state, entry.since
        )?;
    }
    match release.previous {
        Some(previous) => writeln!(out, "\nsince release {previous}:")?,
        None => writeln!(out, "\nthe first release:")?,
    }
    if detail.changes.is_empty() {
        return writeln!(out, "  the configuration is the same");
    }
    detail
        .changes
        .iter()
        .try_for_each(|it| write_change(out, it))
}

fn write_change(out: &mut dyn Write, change: &KeyChange) -> io::Result<()> {
    let sign = match change.change.as_str() {
        "added" => '+',
        "removed" => '-',
        _ => '~',
    };
    let key = &change.key;
    match (change.secret, &change.before, &change.after) {
        (true, ..) => writeln!(out, "  {sign} {key}: a secret"),
        (false, Some(before), Some(after)) => writeln!(out, "  {sign} {key} = {before} -> {after}"),
        (false, Some(value), None) | (false, None, Some(value)) => {
            writeln!(out, "  {sign} {key} = {value}")
        }
        (false, None, None) => writeln!(out, "  {sign} {key}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mk_objects() -> ReleaseObjects {
        ReleaseObjects {
            tracker: "shop.web".to_owned(),
            release: 41,
            environment: "prod".to_owned(),
            namespace: "shop".to_owned(),
            state: None,
            objects: vec![
                json!({"kind": "ConfigMap", "metadata": {"name": "shop-web-app"}}),
                json!({"kind": "Workload", "metadata": {"name": "shop-web"}}),
            ],
        }
    }

    #[test]
    fn objects_are_documents_for_kubectl_and_a_list_for_people() {
        let text = documents(&mk_objects()).unwrap();
        assert_eq!(text.matches("---\n").count(), 2);
        assert!(text.contains("kind: Workload"), "{text}");
        let mut out = Vec::new();
        write_objects(&mut out, &mk_objects()).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "shop.web  release 41  not in prod; as it would be written now:\n  ConfigMap    shop/shop-web-app\n  Workload     \
             shop/shop-web\n`-o yaml` shows all of them\n"
        );
    }
}
