//! Files of repositories that are read through a cached repository: over ssh, on this machine, or where the server cannot
//! send single objects.

use reqwest::Url;

use super::{
    Known, MAX_FILE_BYTES, SourceAnswer, SourceClient, SourceError, SourceErrorKind,
    SourceReference, SourceRequest, is_known, known_blob,
};
use crate::git::{Credentials, Error, FetchedFile, FileState, HttpAccess, Reference, Remote};
use crate::http::{Signs, host_of};

/// The user beside a token; hosts look at the token alone.
pub(super) const TOKEN_USER: &str = "x-access-token";

impl SourceClient {
    /// Asks for the commit, and fetches it if it is another one than the known.
    pub(super) async fn read_cached(
        &self,
        request: &SourceRequest,
        known: Option<&Known>,
    ) -> Result<(SourceAnswer, Signs), SourceError> {
        let remote = Remote::new(&request.url).map_err(|e| failed(&e))?;
        let reference = reference(&request.reference);
        self.turn(&request.url).await?;
        let revision = self.git.resolve(&remote, &reference).await;
        let revision = revision.map_err(|e| failed(&e))?;
        if is_known(known, &revision.commit) {
            return Ok((SourceAnswer::Unchanged, Signs::default()));
        }
        self.turn(&request.url).await?;
        self.fetch_file(&remote, request, known).await
    }

    /// Fetches the commit over HTTP, with all its content.
    pub(super) async fn fetch_over_http(
        &self,
        request: &SourceRequest,
        base: &str,
        known: Option<&Known>,
    ) -> Result<(SourceAnswer, Signs), SourceError> {
        let remote = Remote::new(base).map_err(|e| failed(&e))?;
        let access = HttpAccess {
            extra_roots: self.http.extra_roots().into(),
            plain_credentials: request.allow_http,
            plain_hosts: Some(self.http.http_hosts().clone().into()),
        };
        let mut remote = remote.with_access(access);
        if let Some(secret) = super::asking::secret_for(request, base) {
            remote = remote.with_credentials(Credentials {
                username: TOKEN_USER.to_owned(),
                password: secret.reveal().to_owned(),
            });
        }
        self.turn(base).await?;
        self.fetch_file(&remote, request, known).await
    }

    /// Waits for the turn of a conversation of git's own: that counts as one request.
    async fn turn(&self, url: &str) -> Result<(), SourceError> {
        // What is no URL is a directory of this machine.
        let host = Url::parse(url).map(|it| host_of(&it)).unwrap_or_default();
        Ok(self.http.turn(&host).await?)
    }

    async fn fetch_file(
        &self,
        remote: &Remote,
        request: &SourceRequest,
        known: Option<&Known>,
    ) -> Result<(SourceAnswer, Signs), SourceError> {
        let reference = reference(&request.reference);
        let (path, known_blob) = (&request.path, known_blob(known));
        let fetched = self
            .git
            .read_file(remote, &reference, path, known_blob, MAX_FILE_BYTES)
            .await;
        // The file may hold secrets, which are kept sealed or not at all.
        self.git.forget(remote).await;
        let FetchedFile { commit, state } = fetched.map_err(|e| failed(&e))?;
        let answer = match (state, known_blob) {
            (FileState::Same, Some(_)) if is_known(known, &commit) => SourceAnswer::Unchanged,
            (FileState::Same, Some(blob)) => SourceAnswer::Moved {
                commit,
                blob: blob.to_owned(),
            },
            (FileState::Content { blob, content }, _) => SourceAnswer::Read {
                commit,
                blob,
                content,
            },
            (FileState::Missing | FileState::Same, _) => return Err(missing(request, commit)),
            (FileState::TooLarge, _) => return Err(too_large(request, commit)),
        };
        Ok((answer, Signs::default()))
    }
}

/// Names a reference as git's own module does.
pub(super) fn reference(reference: &SourceReference) -> Reference {
    match reference {
        SourceReference::Head => Reference::Name("HEAD".to_owned()),
        SourceReference::Branch(name) => Reference::Branch(name.clone()),
        SourceReference::Tag(name) => Reference::Tag(name.clone()),
        SourceReference::Commit(id) => Reference::Commit {
            id: id.clone(),
            branch: None,
        },
    }
}

/// Makes an error of one of git.
pub(super) fn failed(error: &Error) -> SourceError {
    let told = error.to_string();
    let kind = match error {
        Error::UnknownReference { .. } => SourceErrorKind::RefMissing,
        Error::Unauthenticated { .. } => SourceErrorKind::AuthFailed,
        // The words of ssh.
        Error::Unreachable { .. } if told.contains("Permission denied (") => {
            SourceErrorKind::AuthFailed
        }
        // The words of git for a commit that it does not have, or does not show.
        _ if told.contains("not our ref") => SourceErrorKind::RefMissing,
        _ => SourceErrorKind::Failed,
    };
    SourceError::new(kind, told)
}

pub(super) fn missing(request: &SourceRequest, commit: String) -> SourceError {
    let told = format!("commit {commit} has no file `{}`", request.path);
    SourceError::new(SourceErrorKind::FileMissing { commit }, told)
}

pub(super) fn too_large(request: &SourceRequest, commit: String) -> SourceError {
    let path = &request.path;
    let told = format!("`{path}` has more than {MAX_FILE_BYTES} bytes in commit {commit}");
    SourceError::new(SourceErrorKind::TooLarge { commit }, told)
}
