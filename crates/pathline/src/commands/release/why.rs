//! `pathline release why`.

use std::io::{self, Write};

use jiff::Timestamp;
use pathline_client::api::TrackerWhy;

use super::table;
use crate::cli::{ReleaseCommitArgs, WhyArgs};
use crate::commands::tracker::server::{short, short_digests};
use crate::terminal::client::Client;
use crate::terminal::output::print_data;
use crate::terminal::report::{CommandError, Exit};

pub(super) async fn why(args: &WhyArgs) -> Result<Exit, CommandError> {
    let client = Client::find(&args.server.options())?;
    let number = args.release.release.map(|it| it.to_string());
    let ReleaseCommitArgs { commit, .. } = &args.release;
    let mut query = Vec::new();
    query.extend(number.as_deref().map(|it| ("release", it)));
    query.extend(commit.as_deref().map(|it| ("commit", it)));
    query.extend(args.environment.as_deref().map(|it| ("environment", it)));
    let path = ["trackers", args.tracker.as_str(), "why"];
    let why: TrackerWhy = client.get(&path, &query).await?;
    print_data(args.output.format, &why, |out| write_why(out, &why))?;
    Ok(Exit::Yes)
}

fn write_why(out: &mut dyn Write, why: &TrackerWhy) -> io::Result<()> {
    match &why.release {
        Some(release) => {
            let (id, tag) = (short(&release.id), short_digests(&release.tag));
            let number = release.number;
            writeln!(out, "{}  release {number} ({id}), {tag}", why.tracker)?;
        }
        None => writeln!(out, "{}  no release", why.tracker)?,
    }
    let rows = why.environments.iter().map(|it| {
        vec![
            it.environment.clone(),
            it.state.clone().unwrap_or_else(|| "-".to_owned()),
            earliest(it.earliest, it.never),
            it.sentence.clone(),
        ]
    });
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        table::write(out, &["ENVIRONMENT", "STATE", "EARLIEST", "WHY"], &rows)?;
    }
    why.reasons
        .iter()
        .try_for_each(|it| writeln!(out, "{}", short_digests(it)))
}

/// Returns the earliest time at which a release is taken, or that there is none.
pub(super) fn earliest(at: Option<Timestamp>, never: bool) -> String {
    match at {
        Some(at) => format!("{at:.0}"),
        None if never => "never".to_owned(),
        None => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use pathline_client::api::{EnvironmentWhy, ReleaseRef};

    use super::*;

    fn mk_why(environment: &str, state: Option<&str>, sentence: &str) -> EnvironmentWhy {
        EnvironmentWhy {
            environment: environment.to_owned(),
            state: state.map(str::to_owned),
            sentence: sentence.to_owned(),
            earliest: None,
            never: false,
            live: None,
        }
    }

    fn written(why: &TrackerWhy) -> String {
        let mut out = Vec::new();
        write_why(&mut out, why).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_environment_has_a_line_with_its_sentence_and_its_time() {
        let mut why = TrackerWhy {
            tracker: "shop.web".to_owned(),
            release: Some(ReleaseRef {
                id: "9b1d4c7f0e2a".to_owned(),
                number: 41,
                image: "r.example/a@sha256:1".to_owned(),
                tag: "1.4.2".to_owned(),
                time: Timestamp::UNIX_EPOCH,
            }),
            environments: vec![
                mk_why("dev", Some("deployed"), "release 41 is deployed"),
                EnvironmentWhy {
                    earliest: Some(Timestamp::UNIX_EPOCH),
                    ..mk_why("prod", Some("queued"), "release 41 is queued")
                },
                EnvironmentWhy {
                    never: true,
                    ..mk_why("dr", None, "`shop.web` keeps out of `dr`")
                },
            ],
            reasons: vec!["a newer configuration waits".to_owned()],
        };
        insta::assert_snapshot!(written(&why), @r"
        shop.web  release 41 (9b1d4c7), 1.4.2
        ENVIRONMENT  STATE     EARLIEST              WHY
        dev          deployed  -                     release 41 is deployed
        prod         queued    1970-01-01T00:00:00Z  release 41 is queued
        dr           -         never                 `shop.web` keeps out of `dr`
        a newer configuration waits
        ");
        why.environments.clear();
        why.release = None;
        assert_eq!(
            written(&why),
            "shop.web  no release\na newer configuration waits\n"
        );
    }
}
