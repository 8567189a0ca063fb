//! Files over the REST API of GitHub.
//!
//! The commit of a branch is asked for with the last one as its ETag: that is documented, costs no quota, and unlike a
//! stored ETag it works with every token. The file is then read at that very commit, so that it cannot move in between.

use jiff::SignedDuration;
use reqwest::header::{ACCEPT, HeaderName, IF_NONE_MATCH};
use reqwest::{StatusCode, Url};

use super::error::{refused, says_limited};
use super::{
    Known, MAX_FILE_BYTES, SourceAnswer, SourceClient, SourceError, SourceErrorKind,
    SourceReference, SourceRequest, answer, is_known,
};
use crate::git::smart::{blob_id, object_id};
use crate::http::{Answer, FailureKind, Request, Signs};

/// The most bytes of an answer that is a commit's id.
const MAX_ID_BYTES: u64 = 256;
/// The version of the API that is asked.
const VERSION: (HeaderName, &str) = (
    HeaderName::from_static("x-github-api-version"),
    "2022-11-28",
);
/// The least time that a host is left alone when it says that there were too many requests, and not until when.
const LIMITED: SignedDuration = SignedDuration::from_secs(60);

impl SourceClient {
    pub(super) async fn read_github(
        &self,
        request: &SourceRequest,
        known: Option<&Known>,
    ) -> Result<(SourceAnswer, Signs), SourceError> {
        let (commit, signs) = match &request.reference {
            SourceReference::Commit(commit) => (commit.clone(), Signs::default()),
            _ => match self.github_commit(request, known).await? {
                (Some(commit), signs) if !is_known(known, &commit) => (commit, signs),
                (_, signs) => return Ok((SourceAnswer::Unchanged, signs)),
            },
        };
        let (content, later) = self.github_file(request, &commit).await?;
        let blob = blob_id(&content).map(|it| it.to_string());
        let blob = blob.ok_or_else(|| {
            SourceError::new(SourceErrorKind::Failed, "the file has no id").at(later.clone())
        })?;
        let answer = answer(known, commit, blob, content);
        Ok((answer, signs.then(later)))
    }

    /// Asks for the commit; nothing if it is the known one.
    async fn github_commit(
        &self,
        request: &SourceRequest,
        known: Option<&Known>,
    ) -> Result<(Option<String>, Signs), SourceError> {
        let reference = match &request.reference {
            SourceReference::Head => "HEAD".to_owned(),
            SourceReference::Branch(name) => format!("heads/{name}"),
            SourceReference::Tag(name) => format!("tags/{name}"),
            SourceReference::Commit(id) => id.clone(),
        };
        let url = url(request, "commits", &reference)?;
        let mut asked = authorized(request, url)
            .header(ACCEPT, "application/vnd.github.sha")
            .cap(MAX_ID_BYTES);
        if let Some(known) = known {
            asked = asked.header(IF_NONE_MATCH, &format!("\"{}\"", known.commit));
        }
        let answer = self.http.send(asked).await?;
        match answer.status {
            StatusCode::NOT_MODIFIED if known.is_some() => Ok((None, answer.signs)),
            StatusCode::OK => {
                let text = String::from_utf8_lossy(&answer.body);
                match object_id(text.trim()) {
                    Some(id) => Ok((Some(id.to_string()), answer.signs)),
                    None => Err(answer.into_nonsense("answers with no commit").into()),
                }
            }
            // An empty repository, and a commit that nobody has.
            StatusCode::CONFLICT | StatusCode::UNPROCESSABLE_ENTITY => {
                let failure = answer.into_failure();
                Err(SourceError::of(SourceErrorKind::RefMissing, failure))
            }
            _ => Err(self.github_refused(answer, SourceErrorKind::RefMissing)),
        }
    }

    async fn github_file(
        &self,
        request: &SourceRequest,
        commit: &str,
    ) -> Result<(Vec<u8>, Signs), SourceError> {
        let mut url = url(request, "contents", &request.path)?;
        url.query_pairs_mut().append_pair("ref", commit);
        let asked = authorized(request, url)
            .header(ACCEPT, "application/vnd.github.raw+json")
            .cap(MAX_FILE_BYTES);
        let commit = commit.to_owned();
        let answer = match self.http.send(asked).await {
            Err(failure) if failure.kind == FailureKind::TooLarge => {
                return Err(SourceError::of(
                    SourceErrorKind::TooLarge { commit },
                    failure,
                ));
            }
            answer => answer?,
        };
        let says = |words: &str| String::from_utf8_lossy(&answer.body).contains(words);
        match answer.status {
            // The content of a directory is a list, whatever is accepted.
            StatusCode::OK if answer.media_type() == "application/json" => {
                let failure = answer.into_nonsense("is no file");
                Err(SourceError::of(
                    SourceErrorKind::FileMissing { commit },
                    failure,
                ))
            }
            StatusCode::OK => Ok((answer.body, answer.signs)),
            StatusCode::FORBIDDEN if says("too_large") => {
                let failure = answer.into_failure();
                Err(SourceError::of(
                    SourceErrorKind::TooLarge { commit },
                    failure,
                ))
            }
            _ => Err(self.github_refused(answer, SourceErrorKind::FileMissing { commit })),
        }
    }

    fn github_refused(&self, answer: Answer, missing: SourceErrorKind) -> SourceError {
        let is_vague = !answer.signs.is_limited() && says_limited(&answer);
        let mut error = refused(answer, missing);
        if is_vague && error.kind == SourceErrorKind::RateLimited {
            let until = self.http.clock().now().checked_add(LIMITED);
            error.signs.retry_after = until.ok();
        }
        error
    }
}

/// Returns the URL of something of the repository.
fn url(request: &SourceRequest, what: &str, path: &str) -> Result<Url, SourceError> {
    let invalid = || {
        let told = "the URL of a repository of GitHub is `https://HOST/OWNER/NAME`";
        SourceError::new(SourceErrorKind::Failed, told)
    };
    let repository = Url::parse(&request.url).map_err(|_| invalid())?;
    let names = repository.path().trim_matches('/');
    let (owner, name) = names.split_once('/').ok_or_else(invalid)?;
    let name = name.strip_suffix(".git").unwrap_or(name);
    let mut url = request.github_api.clone().ok_or_else(invalid)?;
    url.path_segments_mut()
        .map_err(|()| invalid())?
        .pop_if_empty()
        .extend(["repos", owner, name, what])
        .extend(path.split('/'));
    Ok(url)
}

fn authorized(request: &SourceRequest, url: Url) -> Request {
    let (header, version) = VERSION;
    let asked = Request::get(url)
        .header(header, version)
        .allow_http(request.allow_http);
    match &request.secret {
        Some(secret) => asked.bearer(secret),
        None => asked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_is_below_the_base_of_the_api() {
        let found = |repository: &str, api: &str, path: &str| {
            let request = SourceRequest {
                url: repository.to_owned(),
                reference: SourceReference::Head,
                path: String::new(),
                secret: None,
                github_api: Url::parse(api).ok(),
                allow_http: false,
            };
            url(&request, "contents", path)
                .map(|it| it.to_string())
                .ok()
        };
        let (public, own) = ("https://api.github.com", "https://ghe.example/api/v3/");
        for (repository, api, path, expected) in [
            (
                "https://github.com/team/app",
                public,
                "a/fathomable.yaml",
                Some("https://api.github.com/repos/team/app/contents/a/fathomable.yaml"),
            ),
            (
                "https://ghe.example/team/app.git/",
                own,
                "a b%#?.yaml",
                Some("https://ghe.example/api/v3/repos/team/app/contents/a%20b%25%23%3F.yaml"),
            ),
            ("https://github.com/team", public, "x", None),
            ("nonsense", public, "x", None),
        ] {
            assert_eq!(found(repository, api, path).as_deref(), expected);
        }
    }
}
