//! Questions to repositories: what does the application file say?

use std::sync::Arc;

use pathline_release::poll::{FingerprintKey, HostKey};
use pathline_release::request::{Reference, Scheme, SourceLocation};
use pathline_release::tracker::SourceProblem;
use pathline_remote::Secret;
use pathline_remote::git::Git;
use pathline_remote::http::{HttpClient, Signs};
use pathline_remote::source::{
    Known, SourceAnswer, SourceClient, SourceErrorKind, SourceReference, SourceRequest,
};

use super::Tracking;
use super::gate::{Gates, Held};
use super::metrics::{PollOutcome, TrackingMetrics};
use super::outcome::{Trouble, counted_source, of_source};
use super::settings::TrackingSettings;

/// Asks repositories.
pub(super) struct Sources {
    client: SourceClient,
    gates: Arc<Gates>,
    fingerprints: FingerprintKey,
    settings: Arc<TrackingSettings>,
    metrics: TrackingMetrics,
}

/// The answer of a repository.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) answer: Result<SourceAnswer, Trouble<SourceProblem>>,
    /// The file as it is known from now on; nothing if it was not read.
    pub(super) known: Option<Known>,
    pub(super) signs: Signs,
}

impl Sources {
    pub(super) fn new(
        http: HttpClient,
        git: Git,
        gates: Arc<Gates>,
        tracking: &Tracking,
        fingerprints: FingerprintKey,
    ) -> Self {
        Self {
            client: SourceClient::new(http, git),
            gates,
            fingerprints,
            settings: Arc::clone(&tracking.settings),
            metrics: tracking.metrics.clone(),
        }
    }

    /// Reads a file, unless it is as it is known.
    pub(super) async fn read(
        &self,
        source: &SourceLocation,
        token: Option<&Secret>,
        known: Option<&Known>,
    ) -> Source {
        // A commit never changes, so what was read of it once is all there is.
        if let (Reference::Commit(commit), Some(known)) = (&source.reference, known)
            && known.commit == *commit
            && known.blob.is_some()
        {
            return Source {
                answer: Ok(SourceAnswer::Unchanged),
                known: Some(known.clone()),
                signs: Signs::default(),
            };
        }
        let key = HostKey {
            host: source.repository.host.clone(),
            credentials: token.and_then(|it| self.fingerprints.fingerprint(it.reveal())),
        };
        let _permit = match self.gates.pass(&key).await {
            Ok(permit) => permit,
            Err(Held(until)) => return held(until),
        };
        let request = self.request(source, token);
        match self.client.read(&request, known).await {
            Ok((answer, signs)) => {
                self.gates.heed(&key, &signs);
                let outcome = match &answer {
                    SourceAnswer::Unchanged => PollOutcome::Unchanged,
                    SourceAnswer::Moved { .. } | SourceAnswer::Read { .. } => PollOutcome::Changed,
                };
                self.metrics.asked(&key.host, outcome);
                Source {
                    known: known_after(&answer, known),
                    answer: Ok(answer),
                    signs,
                }
            }
            Err(error) => {
                let problem = of_source(&error);
                self.metrics.asked(&key.host, counted_source(problem));
                let known = match &error.kind {
                    SourceErrorKind::FileMissing { commit }
                    | SourceErrorKind::TooLarge { commit } => Some(Known {
                        commit: commit.clone(),
                        blob: None,
                    }),
                    // Nothing is known any more: what was read before counts as news when it is back.
                    SourceErrorKind::RefMissing => Some(nothing_known()),
                    _ => None,
                };
                Source {
                    known,
                    answer: Err(Trouble {
                        problem,
                        message: error.message.clone(),
                        not_before: self.gates.heed(&key, &error.signs),
                    }),
                    signs: *error.signs,
                }
            }
        }
    }

    fn request(&self, source: &SourceLocation, token: Option<&Secret>) -> SourceRequest {
        let repository = &source.repository;
        let host = self.settings.git_host(&repository.host);
        SourceRequest {
            url: repository.to_string(),
            reference: match &source.reference {
                Reference::Head => SourceReference::Head,
                Reference::Branch(name) => SourceReference::Branch(name.clone()),
                Reference::Tag(name) => SourceReference::Tag(name.clone()),
                Reference::Commit(commit) => SourceReference::Commit(commit.clone()),
            },
            path: source.path.file(),
            secret: token.cloned(),
            github_api: host.and_then(|it| it.github_api.clone()),
            allow_http: repository.scheme == Scheme::Http,
        }
    }
}

fn known_after(answer: &SourceAnswer, known: Option<&Known>) -> Option<Known> {
    match answer {
        SourceAnswer::Unchanged => known.cloned(),
        SourceAnswer::Moved { commit, blob } | SourceAnswer::Read { commit, blob, .. } => {
            Some(Known {
                commit: commit.clone(),
                blob: Some(blob.clone()),
            })
        }
    }
}

/// Returns what is known of a reference that is not there: no commit is this one.
fn nothing_known() -> Known {
    Known {
        commit: String::new(),
        blob: None,
    }
}

fn held(until: jiff::Timestamp) -> Source {
    Source {
        answer: Err(Trouble {
            problem: SourceProblem::RateLimited,
            message: format!("the host does not want to be asked before {until}"),
            not_before: Some(until),
        }),
        known: None,
        signs: Signs::default(),
    }
}
