//! Trackers of a Pathline that runs: added, listed, shown, changed and removed.

use std::io::{self, Write};

use pathline_client::api::{Tracker, TrackerRequest, TrackerStatus};
use serde_json::json;

use crate::cli::{AddTrackerArgs, ListTrackersArgs, NamedTrackerArgs, SetTrackerArgs, SourceArgs};
use crate::terminal::client::Client;
use crate::terminal::input;
use crate::terminal::output::print_data;
use crate::terminal::report::{CommandError, Exit};

pub(super) async fn add(args: &AddTrackerArgs) -> Result<Exit, CommandError> {
    let source = &args.source;
    let wanted = TrackerRequest {
        id: Some(args.name.clone()),
        token: Some(token(source)?.unwrap_or_default()),
        repo: Some(args.repo.clone()),
        source_path: Some(source.path.clone().unwrap_or_default()),
        tag: source.tag.clone(),
        branch: source.branch.clone(),
        commit: source.commit.clone(),
    };
    let client = Client::find(&args.server.options())?;
    let made: Tracker = client.post(&["trackers"], &wanted).await?;
    print_data(args.output.format, &made, |out| {
        writeln!(out, "added {}", made.id)?;
        writeln!(
            out,
            "`pathline tracker get {}` says what was found",
            made.id
        )
    })?;
    Ok(Exit::Yes)
}

pub(super) async fn list(args: &ListTrackersArgs) -> Result<Exit, CommandError> {
    let client = Client::find(&args.server.options())?;
    let trackers: Vec<Tracker> = client.get(&["trackers"], &[]).await?;
    print_data(args.output.format, &trackers, |out| {
        write_table(out, &trackers)
    })?;
    Ok(Exit::Yes)
}

pub(super) async fn get(args: &NamedTrackerArgs) -> Result<Exit, CommandError> {
    let client = Client::find(&args.server.options())?;
    let tracker: Tracker = client.get(&["trackers", &args.name], &[]).await?;
    print_data(args.output.format, &tracker, |out| write_one(out, &tracker))?;
    Ok(Exit::Yes)
}

pub(super) async fn set(args: &SetTrackerArgs) -> Result<Exit, CommandError> {
    let client = Client::find(&args.server.options())?;
    let path = ["trackers", args.name.as_str()];
    let known: Tracker = client.get(&path, &[]).await?;
    let source = &args.source;
    let is_elsewhere = args.default_branch
        || source.branch.is_some()
        || source.tag.is_some()
        || source.commit.is_some();
    let kept = |value: Option<String>| value.filter(|_| !is_elsewhere);
    let wanted = TrackerRequest {
        id: Some(known.id.clone()),
        token: match args.no_source_token {
            true => Some(String::new()),
            false => token(source)?,
        },
        repo: args.repo.clone().or(Some(known.repo)),
        source_path: source.path.clone().or(Some(known.source_path)),
        tag: source.tag.clone().or(kept(known.tag)),
        branch: source.branch.clone().or(kept(known.branch)),
        commit: source.commit.clone().or(kept(known.commit)),
    };
    let edition = format!("\"{}.{}\"", known.generation, known.token_version);
    let after: Tracker = client.put(&path, &edition, &wanted).await?;
    print_data(args.output.format, &after, |out| {
        let is_same =
            (after.generation, after.token_version) == (known.generation, known.token_version);
        match is_same {
            true => writeln!(out, "{} is as it was", after.id),
            false => writeln!(out, "changed {}", after.id),
        }
    })?;
    Ok(Exit::Yes)
}

pub(super) async fn rm(args: &NamedTrackerArgs) -> Result<Exit, CommandError> {
    let client = Client::find(&args.server.options())?;
    client.remove(&["trackers", &args.name]).await?;
    let answer = json!({"removed": args.name});
    print_data(args.output.format, &answer, |out| {
        writeln!(
            out,
            "removed {}; its releases stay, and so does what it has deployed: `kubectl get workloads,deliverables -A -l \
             pathline.dev/tracker={}` shows that",
            args.name, args.name
        )
    })?;
    Ok(Exit::Yes)
}

pub(super) async fn poll(args: &NamedTrackerArgs) -> Result<Exit, CommandError> {
    let client = Client::find(&args.server.options())?;
    client.request(&["trackers", &args.name, "poll"]).await?;
    let answer = json!({"polled": args.name});
    print_data(args.output.format, &answer, |out| {
        writeln!(out, "{} is looked at now", args.name)
    })?;
    Ok(Exit::Yes)
}

/// Reads the secret for a repository: one line.
fn token(source: &SourceArgs) -> Result<Option<String>, CommandError> {
    let Some(path) = &source.source_token_file else {
        return Ok(None);
    };
    let text = input::text(path).map_err(|error| {
        CommandError::from(error).within("the secret for the repository cannot be read")
    })?;
    match text.trim() {
        // It would take away the one that is stored, and who has an empty file hardly wants that.
        "" => Err(
            CommandError::new("the file with the secret for the repository is empty")
                .with_exit(Exit::Usage)
                .with_hint(
                    "leave --source-token-file out; `pathline tracker set NAME --no-source-token` \
                     takes a secret away",
                ),
        ),
        token => Ok(Some(token.to_owned())),
    }
}

fn write_table(out: &mut dyn Write, trackers: &[Tracker]) -> io::Result<()> {
    if trackers.is_empty() {
        return writeln!(
            out,
            "nothing is tracked; `pathline tracker add --help` shows how to begin"
        );
    }
    let longest = trackers.iter().map(|it| it.id.len()).max();
    let width = longest.unwrap_or_default().max("NAME".len());
    writeln!(out, "{:width$}  PHASE      RELEASE  WAITS FOR", "NAME")?;
    for tracker in trackers {
        let status = &tracker.status;
        let release = status.last_release.as_ref().map(|it| it.number.to_string());
        let conditions: Vec<_> = status
            .conditions
            .iter()
            .map(|it| it.of_type.as_str())
            .collect();
        writeln!(
            out,
            "{:width$}  {:9}  {:7}  {}",
            tracker.id,
            status.phase,
            release.as_deref().unwrap_or("-"),
            match conditions.is_empty() {
                true => "-".to_owned(),
                false => conditions.join(", "),
            }
        )?;
    }
    Ok(())
}

/// Tells whether no registry has said which images there are.
fn is_unanswered(status: &TrackerStatus) -> bool {
    let is_trouble = |it: &str| matches!(it, "RegistryError" | "AuthFailed" | "RateLimited");
    let mut conditions = status.conditions.iter();
    conditions.any(|it| is_trouble(&it.of_type))
        || status
            .polls
            .as_ref()
            .is_some_and(|it| it.observed_at.is_none())
}

fn write_one(out: &mut dyn Write, tracker: &Tracker) -> io::Result<()> {
    let status = &tracker.status;
    let reference = match (&tracker.branch, &tracker.tag, &tracker.commit) {
        (Some(branch), ..) => format!("branch {branch}"),
        (_, Some(tag), _) => format!("tag {tag}"),
        (.., Some(commit)) => format!("commit {commit}"),
        _ => "default branch".to_owned(),
    };
    let path = match tracker.source_path.as_str() {
        "" => "fathomable.yaml",
        path => path,
    };
    writeln!(out, "{}  {}", tracker.id, status.phase)?;
    writeln!(
        out,
        "  repository     {}, {reference}, {path}",
        tracker.repo
    )?;
    if let Some(source) = &status.source {
        let hash = short(&source.config_hash);
        let from = match source.commit.as_str() {
            "" => "a file that was given at the start".to_owned(),
            commit => format!("commit {}", short(commit)),
        };
        writeln!(out, "  configuration  {hash} of {from}")?;
    }
    if let Some(image) = &status.image {
        let sign = if image.kind == "digest" { '@' } else { ':' };
        let found = match (&image.tag, &image.digest) {
            (Some(tag), Some(digest)) if tag == digest => "which is there".to_owned(),
            (Some(tag), Some(digest)) => format!("{tag} is {digest}"),
            _ if is_unanswered(status) => "not known yet".to_owned(),
            _ => "there is none".to_owned(),
        };
        let wanted = format!("{}{sign}{}, {found}", image.repository, image.label);
        writeln!(out, "  image          {}", short_digests(&wanted))?;
    }
    if let Some(pending) = &status.pending {
        let hash = short(&pending.config_hash);
        let image = short_digests(&pending.waiting_for);
        writeln!(out, "  waits          {hash}, for {image}")?;
    }
    if let Some(release) = &status.last_release {
        let (number, id) = (release.number, short(&release.id));
        let image = match release.image.split_once('@') {
            Some((repository, digest)) => named(repository, &release.tag, digest),
            None => release.image.clone(),
        };
        let image = short_digests(&image);
        writeln!(out, "  release        {number} ({id}), {image}")?;
    }
    for environment in &status.environments {
        let parts = [
            ("deployed", environment.deployed),
            ("deploying", environment.deploying),
            ("queued", environment.queued),
            ("held", environment.held),
            ("failed", environment.failed),
        ];
        let parts = parts
            .iter()
            .filter_map(|(word, number)| Some(format!("{word} {}", (*number)?)));
        let on_hold = environment.hold.as_ref().map(|hold| {
            let reason = match hold.reason.as_str() {
                "" => String::new(),
                reason => format!(": {reason}"),
            };
            format!("on hold by {} since {:.0}{reason}", hold.by, hold.since)
        });
        let parts: Vec<_> = parts.chain(on_hold).collect();
        writeln!(out, "  {:13}  {}", environment.name, parts.join(", "))?;
    }
    if let Some(polls) = &status.polls {
        writeln!(out, "  next poll      {:.0}", polls.next_poll_at)?;
    }
    for condition in &status.conditions {
        let message = short_digests(&condition.message);
        writeln!(out, "  {}: {message}", condition.of_type)?;
    }
    for warning in &status.warnings {
        let place = match (warning.line, warning.column) {
            (Some(line), Some(column)) => format!("line {line}, column {column}: "),
            _ => String::new(),
        };
        let (path, message) = (&warning.path, &warning.message);
        writeln!(out, "  warning: {place}{path}: {message}")?;
    }
    Ok(())
}

/// Names an image by its digest, and by its tag if that is something else.
pub(in crate::commands) fn named(repository: &str, tag: &str, digest: &str) -> String {
    match tag == digest {
        true => format!("{repository}@{digest}"),
        false => format!("{repository}:{tag}@{digest}"),
    }
}

/// Returns a text whose digests have the digits alone by which people know them.
pub(in crate::commands) fn short_digests(text: &str) -> String {
    const ALGORITHM: &str = "sha256:";
    let mut parts = text.split(ALGORITHM);
    let mut shortened = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shortened += ALGORITHM;
        let is_hex = |it: &u8| it.is_ascii_hexdigit();
        if part.bytes().take_while(is_hex).count() == 64 {
            shortened += &format!("{}…{}", short(part), &part[64..]);
        } else {
            shortened += part;
        }
    }
    shortened
}

/// Returns the first digits of a hash, by which people know it.
pub(in crate::commands) fn short(hash: &str) -> &str {
    hash.get(..7).unwrap_or(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_shortened_wherever_they_stand() {
        let digest = format!("sha256:{}", "0123456789abcdef".repeat(4));
        let text = format!("r.example/a@{digest}, main is {digest}");
        let short = "r.example/a@sha256:0123456…, main is sha256:0123456…";
        assert_eq!(short_digests(&text), short);
        for same in ["", "1.2.3", "sha256:abc", "sha256:"] {
            assert_eq!(short_digests(same), same);
        }
    }

    #[test]
    fn image_that_was_asked_for_by_its_digest_has_no_tag() {
        assert_eq!(
            named("r.example/a", "main", "sha256:1"),
            "r.example/a:main@sha256:1"
        );
        assert_eq!(
            named("r.example/a", "sha256:1", "sha256:1"),
            "r.example/a@sha256:1"
        );
    }
}
