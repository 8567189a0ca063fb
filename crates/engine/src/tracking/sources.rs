//! Questions to repositories: what does the application file say?

use std::sync::Arc;

use pathline_release::poll::{FingerprintKey, HostKey, Requests};
use pathline_release::request::{Reference, Scheme, SourceLocation};
use pathline_release::tracker::SourceProblem;
use pathline_remote::Secret;
use pathline_remote::git::Git;
use pathline_remote::http::{HttpClient, Signs};
use pathline_remote::source::{
    Known, SourceAnswer, SourceClient, SourceErrorKind, SourceReference, SourceRequest,
};

use super::Tracking;
use super::gate::Gates;
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
    /// The requests that it took, if there was nothing new.
    pub(super) requests: Option<Requests>,
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
                requests: Some(Requests::new()),
            };
        }
        let key = HostKey {
            host: source.repository.host.clone(),
            credentials: token.and_then(|it| self.fingerprints.fingerprint(it.reveal())),
        };
        let visit = self.gates.pass(key).await;
        let request = self.request(source, token);
        let client = self.client.paced(visit.clone());
        match client.read(&request, known).await {
            Ok((answer, signs)) => {
                let outcome = match &answer {
                    SourceAnswer::Unchanged => PollOutcome::Unchanged,
                    SourceAnswer::Moved { .. } | SourceAnswer::Read { .. } => PollOutcome::Changed,
                };
                self.metrics.asked(visit.host(), outcome);
                let is_unchanged = matches!(answer, SourceAnswer::Unchanged);
                Source {
                    known: known_after(&answer, known),
                    answer: Ok(answer),
                    signs,
                    requests: is_unchanged.then(|| visit.requests()),
                }
            }
            Err(error) => {
                let problem = of_source(&error);
                self.metrics.asked(visit.host(), counted_source(problem));
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
                        not_before: visit.not_before(&error.signs),
                        is_held: error.is_held(),
                    }),
                    signs: *error.signs,
                    requests: None,
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
