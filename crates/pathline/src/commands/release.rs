//! `pathline release`: what was released, and what that changes.

use std::io::{self, Write};

use pathline_client::api::{KeyChange, Release, ReleaseDetail, ReleasePage, Tracker};

use crate::cli::{ListReleasesArgs, ReleaseCommand, ShowReleaseArgs};
use crate::commands::tracker::server::{named, short, short_digests};
use crate::terminal::client::Client;
use crate::terminal::output::print_data;
use crate::terminal::report::{CommandError, Exit};

pub(crate) async fn run(command: &ReleaseCommand) -> Result<Exit, CommandError> {
    match command {
        ReleaseCommand::List(args) => list(args).await,
        ReleaseCommand::Show(args) => show(args).await,
    }
}

async fn list(args: &ListReleasesArgs) -> Result<Exit, CommandError> {
    let client = Client::find(&args.server.options())?;
    let limit = args.limit.to_string();
    let mut query = vec![("limit", limit.as_str())];
    query.extend(args.tracker.as_deref().map(|it| ("tracker", it)));
    query.extend(args.commit.as_deref().map(|it| ("commit", it)));
    let page: ReleasePage = client.get(&["releases"], &query).await?;
    if let (Some(name), true) = (&args.tracker, page.items.is_empty()) {
        // None of a tracker that is there is an answer; a name that nobody has is likely misspelt.
        let found: Result<Tracker, _> = client.get(&["trackers", name], &[]).await;
        found.map_err(|error| {
            CommandError::from(error).within(format!("there are no releases of `{name}`"))
        })?;
    }
    print_data(args.output.format, &page, |out| write_table(out, &page))?;
    Ok(Exit::Yes)
}

async fn show(args: &ShowReleaseArgs) -> Result<Exit, CommandError> {
    let client = Client::find(&args.server.options())?;
    let detail: ReleaseDetail = client.get(&["releases", &args.id], &[]).await?;
    print_data(args.output.format, &detail, |out| write_one(out, &detail))?;
    Ok(Exit::Yes)
}

fn write_table(out: &mut dyn Write, page: &ReleasePage) -> io::Result<()> {
    if page.items.is_empty() {
        return writeln!(out, "no release");
    }
    let names = page.items.iter().map(|it| it.tracker.len()).max();
    let width = names.unwrap_or_default().max("TRACKER".len());
    let tags = page.items.iter().map(|it| short_digests(&it.image.tag));
    let tags: Vec<String> = tags.collect();
    let longest = tags.iter().map(|it| it.chars().count()).max();
    let tag_width = longest.unwrap_or_default().max("TAG".len());
    writeln!(
        out,
        "ID       {:width$}  NUMBER  FORMED                {:tag_width$}  CAUSE              WHERE",
        "TRACKER", "TAG"
    )?;
    for (release, tag) in page.items.iter().zip(&tags) {
        writeln!(
            out,
            "{}  {:width$}  {:6}  {:.0}  {:tag_width$}  {:17}  {}",
            short(&release.id),
            release.tracker,
            release.number,
            release.time,
            tag,
            release.cause,
            places(release)
        )?;
    }
    match &page.next {
        Some(_) => writeln!(out, "there are more; `--limit` shows up to 500"),
        None => Ok(()),
    }
}

fn places(release: &Release) -> String {
    let places = release.entries.iter();
    let places: Vec<_> = places
        .map(|it| format!("{} {}", it.environment, it.state))
        .collect();
    places.join(", ")
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
        let by = entry
            .superseded_by
            .map(|it| format!(" by {it}"))
            .unwrap_or_default();
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
