//! `pathline release list`.

use std::io::{self, Write};

use pathline_client::api::{Release, ReleasePage, Tracker};

use crate::cli::ListReleasesArgs;
use crate::commands::tracker::server::{short, short_digests};
use crate::terminal::client::Client;
use crate::terminal::output::print_data;
use crate::terminal::report::{CommandError, Exit};

pub(super) async fn list(args: &ListReleasesArgs) -> Result<Exit, CommandError> {
    let client = Client::find(&args.server.options())?;
    let limit = args.limit.to_string();
    let mut query = vec![("limit", limit.as_str())];
    query.extend(args.tracker.as_deref().map(|it| ("tracker", it)));
    query.extend(args.commit.as_deref().map(|it| ("commit", it)));
    query.extend(args.environment.as_deref().map(|it| ("environment", it)));
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
        .map(|it| match it.replaced_by {
            Some(by) => format!("{} replaced by {by}", it.environment),
            None => format!("{} {}", it.environment, it.state),
        })
        .collect();
    places.join(", ")
}
