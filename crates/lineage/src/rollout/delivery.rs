//! Across git: the rollout of a commit with manifests is that of the deliveries that follow its repository.

use std::sync::Arc;

use super::Stage;
use crate::owner_lineage::Live;
use crate::repository::RepositoryId;

/// A delivery that follows the repository that a commit was written to.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// Its name, for people.
    pub name: String,
    /// The revision it is at, if it has found one.
    pub revision: Option<String>,
    /// The files of the commit at that revision; `None` if nobody could say yet.
    pub files: Option<Files>,
    /// Whether that revision runs.
    pub live: Live,
    /// The reason why it can't go on, if it can't.
    pub failure: Option<String>,
    /// The trouble that it has itself, in its own words.
    pub trouble: Option<String>,
}

/// The fate of the files that a commit wrote.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Files {
    /// The revision is that commit or a later one, and they are as they were written.
    Kept,
    /// The revision does not build on that commit.
    Elsewhere,
    /// Later commits changed these.
    Changed(Vec<String>),
}

/// Judges the rollout of a commit: it is live in every delivery that follows its repository.
pub fn judge_delivered(repository: &str, deliveries: &[Delivery]) -> Stage {
    let stages = deliveries.iter().map(delivered).reduce(Stage::and);
    stages.unwrap_or_else(|| Stage::NoFollower {
        why: format!(
            "no delivery follows {} yet; create a Deliverable that does, or ask without --live",
            without_user(repository)
        ),
    })
}

/// Returns an address without who asks.
pub(crate) fn without_user(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    match host.rsplit_once('@') {
        Some((_, host)) if !scheme.is_empty() => format!("{scheme}://{host}/{path}"),
        _ => url.to_owned(),
    }
}

fn delivered(delivery: &Delivery) -> Stage {
    let Delivery {
        name,
        revision,
        files,
        live,
        failure,
        trouble,
    } = delivery;
    let progressing = |why: String| {
        Stage::progressing(match trouble {
            Some(trouble) => format!("{why}: {trouble}"),
            None => why,
        })
    };
    let Some(revision) = revision else {
        return progressing(format!("{name} has not found a revision yet"));
    };
    match files {
        None => Stage::progressing(format!("what {name} has at `{revision}` is not known yet")),
        Some(Files::Elsewhere) => progressing(format!(
            "{name} is at `{revision}`, which does not have the commit; if somebody pushed over it, bring it back in the repository, or change an input so that it is written again"
        )),
        // Whoever changed them may take that back, and the supply chain may write them again.
        Some(Files::Changed(files)) => Stage::progressing(format!(
            "{name} is at `{revision}`, where somebody else changed {}; take that back in the repository, or change an input so that they are written again",
            files.join(", ")
        )),
        Some(Files::Kept) => match (live, failure) {
            (Live::True, _) => Stage::Done,
            (_, Some(failure)) => Stage::failed(format!("{name}: {failure}")),
            (Live::False, None) => progressing(format!("{name} rolls out `{revision}`")),
            (Live::Unknown, None) => {
                progressing(format!("nothing says that {name} runs `{revision}`"))
            }
        },
    }
}

/// A repository that something follows.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Followed {
    /// The address of the repository.
    pub url: Arc<str>,
    /// The branch, if it is one that is followed.
    pub branch: Option<Arc<str>>,
}

/// Returns those who follow a repository, and whether what is written to a branch of it has to arrive
/// there: with whoever follows that branch. Where nobody does, it may get to the others by way of a
/// merge, so it has to arrive with all of them.
pub fn followers<K>(mut all: Vec<(K, Followed)>, url: &str, branch: &str) -> Vec<(K, bool)> {
    let repository = RepositoryId::of(url);
    all.retain(|(_, followed)| RepositoryId::of(&followed.url) == repository);
    let is_of_branch = |followed: &Followed| followed.branch.as_deref() == Some(branch);
    let is_followed = all.iter().any(|(_, followed)| is_of_branch(followed));
    all.into_iter()
        .map(|(key, followed)| (key, !is_followed || is_of_branch(&followed)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_follows_the_branch_counts_unless_nobody_does() {
        let followed = |url: &str, branch: Option<&str>| Followed {
            url: url.into(),
            branch: branch.map(Arc::from),
        };
        let all = vec![
            (
                "prod",
                followed("https://git.example/app.git", Some("prod")),
            ),
            ("main", followed("https://git.example/app", Some("main"))),
            ("tag", followed("https://git.example/app", None)),
            ("other", followed("https://git.example/other", Some("prod"))),
        ];
        let of = |branch| followers(all.clone(), "https://git.example/app", branch);
        assert_eq!(
            of("prod"),
            [("prod", true), ("main", false), ("tag", false)]
        );
        assert_eq!(
            of("main"),
            [("prod", false), ("main", true), ("tag", false)]
        );
        assert_eq!(
            of("proposed"),
            [("prod", true), ("main", true), ("tag", true)]
        );
        assert!(followers(all.clone(), "https://git.example/none", "main").is_empty());
    }

    const REPOSITORY: &str = "https://me:secret@git.example/app.git";

    fn delivery(files: Option<Files>, live: Live) -> Delivery {
        Delivery {
            name: "deliverable app".into(),
            revision: Some("main@sha1:2222222".into()),
            files,
            live,
            failure: None,
            trouble: None,
        }
    }

    #[test]
    fn delivery_that_does_not_get_on_says_what_it_waits_for() {
        let troubled = |live| Delivery {
            trouble: Some("`run`: port 8080 is taken".into()),
            ..delivery(Some(Files::Kept), live)
        };
        for live in [Live::False, Live::Unknown] {
            let stage = judge_delivered(REPOSITORY, &[troubled(live)]);
            assert!(
                matches!(&stage, Stage::Progressing { why } if why.ends_with(": `run`: port 8080 is taken")),
                "{stage:?}"
            );
        }
        assert_eq!(
            judge_delivered(REPOSITORY, &[troubled(Live::True)]),
            Stage::Done
        );
    }

    #[test]
    fn commit_that_was_pushed_over_comes_with_advice() {
        let stage = judge_delivered(REPOSITORY, &[delivery(Some(Files::Elsewhere), Live::True)]);
        assert!(
            matches!(&stage, Stage::Progressing { why } if why.contains("pushed over it")),
            "{stage:?}"
        );
    }

    #[test]
    fn commit_is_live_once_a_delivery_that_has_it_is() {
        let kept = |live| judge_delivered(REPOSITORY, &[delivery(Some(Files::Kept), live)]);
        assert_eq!(kept(Live::True), Stage::Done);
        assert!(matches!(kept(Live::False), Stage::Progressing { .. }));
        assert!(matches!(kept(Live::Unknown), Stage::Progressing { .. }));
    }

    #[test]
    fn commit_that_no_delivery_follows_says_what_would() {
        let stage = judge_delivered(REPOSITORY, &[]);
        let Stage::NoFollower { why } = stage else {
            panic!("{stage:?}");
        };
        assert_eq!(
            why,
            "no delivery follows https://git.example/app.git yet; create a Deliverable that does, or ask without --live"
        );
    }

    #[test]
    fn commit_that_a_delivery_does_not_have_is_waited_for() {
        for files in [None, Some(Files::Elsewhere)] {
            let stage = judge_delivered(REPOSITORY, &[delivery(files, Live::True)]);
            assert!(matches!(stage, Stage::Progressing { .. }), "{stage:?}");
        }
        let unfetched = Delivery {
            revision: None,
            ..delivery(None, Live::Unknown)
        };
        assert!(matches!(
            judge_delivered(REPOSITORY, &[unfetched]),
            Stage::Progressing { .. }
        ));
    }

    #[test]
    fn files_that_somebody_else_changed_do_not_run_until_that_is_taken_back() {
        let changed = delivery(Some(Files::Changed(vec!["app.yaml".into()])), Live::True);
        let stage = judge_delivered(REPOSITORY, &[changed]);
        assert!(
            matches!(&stage, Stage::Progressing { why } if why.contains("app.yaml")),
            "{stage:?}"
        );
    }

    #[test]
    fn delivery_that_fails_with_the_commit_says_why() {
        let failed = Delivery {
            failure: Some("no such image".into()),
            ..delivery(Some(Files::Kept), Live::False)
        };
        let stage = judge_delivered(REPOSITORY, std::slice::from_ref(&failed));
        assert!(matches!(&stage, Stage::Failed { reason } if reason.contains("no such image")));
        let before = Delivery {
            files: Some(Files::Elsewhere),
            ..failed
        };
        assert!(matches!(
            judge_delivered(REPOSITORY, &[before]),
            Stage::Progressing { .. }
        ));
    }

    #[test]
    fn all_deliveries_must_have_it() {
        let stages = [
            delivery(Some(Files::Kept), Live::True),
            delivery(Some(Files::Elsewhere), Live::True),
        ];
        assert!(matches!(
            judge_delivered(REPOSITORY, &stages),
            Stage::Progressing { .. }
        ));
    }
}
