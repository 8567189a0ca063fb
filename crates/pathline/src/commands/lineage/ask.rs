//! Gets the answers of a Pathline that runs.

use std::collections::{BTreeSet, VecDeque};

use pathline_client::api::{ArtifactEntry, Contains, ObjectLineage, Owner, RevisionState};
use pathline_lineage::{ArtifactId, Evidence};

use super::artifact::Explained;
use super::style::columns;
use super::{carriers, object, owner};
use crate::cli::{ArtifactName, AskArgs, ObjectName, OwnerName, Subject};
use crate::terminal::client::{Client, ClientError};
use crate::terminal::output::{Format, print_data, say};
use crate::terminal::report::{CommandError, Exit};

/// The most carriers that are fetched.
const MAX_CARRIERS: usize = 10_000;
/// The number of carriers that come with one answer.
const PAGE: &str = "500";
/// The most artifacts that are looked up below one.
const MAX_INGREDIENTS: usize = 100;

pub(super) async fn run(args: &AskArgs) -> Result<Exit, CommandError> {
    let client = Client::find(&args.server.options())?;
    let format = args.output.format;
    match (&args.contains, &args.subject) {
        (Some(name), _) => contains(&client, name, format).await,
        (None, Some(Subject::Owner(owner))) => {
            explain_owner(&client, owner, &args.namespace, format).await
        }
        (None, Some(Subject::Object(name))) => {
            explain_object(&client, name, &args.namespace, format).await
        }
        (None, Some(Subject::Named(name))) => explain_named(&client, name, format).await,
        (None, Some(Subject::Id(id))) => explain(&client, [*id].into(), format).await,
        (None, None) => Err(CommandError::new("nothing was asked about").with_exit(Exit::Usage)),
    }
}

async fn explain_owner(
    client: &Client,
    name: &OwnerName,
    namespace: &str,
    format: Format,
) -> Result<Exit, CommandError> {
    let path = [&name.plural(), namespace, &name.name];
    let found: Owner = client.get(&path, &[]).await?;
    print_data(format, &found, |out| owner::write(&found, columns(), out))?;
    Ok(Exit::Yes)
}

async fn explain_object(
    client: &Client,
    name: &ObjectName,
    namespace: &str,
    format: Format,
) -> Result<Exit, CommandError> {
    let path = ["objects", namespace, &name.kind, &name.name, "lineage"];
    let found: ObjectLineage = client.get(&path, &[]).await?;
    print_data(format, &found, |out| object::write(&found, columns(), out))?;
    Ok(match found.revision {
        RevisionState::Current | RevisionState::Older => Exit::Yes,
        RevisionState::Unknown => Exit::Unknown,
    })
}

async fn contains(
    client: &Client,
    name: &ArtifactName,
    format: Format,
) -> Result<Exit, CommandError> {
    let query = name.query();
    let mut all = page(client, &query, PAGE, None).await?;
    while let Some(next) = all.next.take() {
        if all.carriers.len() >= MAX_CARRIERS {
            say(&format!(
                "there are more; the latest {MAX_CARRIERS} are shown"
            ));
            all.next = Some(next);
            break;
        }
        let more = page(client, &query, PAGE, Some(&next)).await?;
        all.carriers.extend(more.carriers);
        all.next = more.next;
    }
    if all.found.is_empty() {
        return not_found(name, format, &all);
    }
    print_data(format, &all, |out| carriers::write(&all, columns(), out))?;
    Ok(if all.carriers.is_empty() {
        Exit::No
    } else {
        Exit::Yes
    })
}

/// For programs the answer is an empty one; people are told what to try.
fn not_found(name: &ArtifactName, format: Format, empty: &Contains) -> Result<Exit, CommandError> {
    if format != Format::Text {
        print_data(format, empty, |_| Ok(()))?;
    }
    let hint = match name.word() {
        "source" => {
            "name a source by its whole revision, the part after the last `:`, or at least 7 digits of that; one that \
             no path has fetched yet is not known"
        }
        _ => "name an image by its reference as a path made it, or by its digest (sha256:...)",
    };
    Err(CommandError::new(format!("no {name} is known"))
        .with_hint(hint)
        .with_exit(Exit::No))
}

async fn explain_named(
    client: &Client,
    name: &ArtifactName,
    format: Format,
) -> Result<Exit, CommandError> {
    let answer = page(client, &name.query(), "1", None).await?;
    if answer.found.is_empty() {
        return not_found(name, format, &answer);
    }
    let found = answer.found.iter().map(|found| found.id).collect();
    explain(client, found, format).await
}

async fn explain(
    client: &Client,
    asked: VecDeque<ArtifactId>,
    format: Format,
) -> Result<Exit, CommandError> {
    let explained = gather(client, asked).await?;
    print_data(format, &explained, |out| explained.write(columns(), out))?;
    Ok(Exit::Yes)
}

/// Looks artifacts up, and whatever resources made them from.
async fn gather(client: &Client, asked: VecDeque<ArtifactId>) -> Result<Explained, ClientError> {
    let mut explained = Explained {
        artifacts: Vec::new(),
        ingredients: Vec::new(),
    };
    let first = asked.len();
    let mut known: BTreeSet<_> = asked.iter().copied().collect();
    let mut queue = asked;
    while let Some(id) = queue.pop_front() {
        let entry: ArtifactEntry = client.get(&["artifacts", &id.to_string()], &[]).await?;
        let edges = entry.made.iter().flat_map(|making| &making.from);
        let made = edges
            .filter(|edge| edge.origin.starts_with("resource ") || edge.evidence == Evidence::Git);
        let room = first + MAX_INGREDIENTS;
        for edge in made {
            if known.len() < room && known.insert(edge.artifact.id) {
                queue.push_back(edge.artifact.id);
            }
        }
        if explained.artifacts.len() < first {
            explained.artifacts.push(entry);
        } else {
            explained.ingredients.push(entry);
        }
    }
    Ok(explained)
}

async fn page(
    client: &Client,
    query: &str,
    limit: &str,
    after: Option<&str>,
) -> Result<Contains, ClientError> {
    let mut pairs = vec![("contains", query), ("limit", limit)];
    pairs.extend(after.map(|after| ("continue", after)));
    client.get(&["artifacts"], &pairs).await
}
