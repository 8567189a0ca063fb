//! Files over git's own protocol, on the pooled client and without a repository on disk.
//!
//! A host that is known to speak version 2 is asked for one reference in one request. A commit that has moved is asked for
//! alone, then the trees on the way to the file, each by its id. Hosts that cannot do that are asked for the whole commit.

use std::io;
use std::ops::ControlFlow;

use gix::ObjectId;
use reqwest::Method;

use super::asking::{Trouble, UPLOAD_PACK, ask, checked, nonsense, origin};
use super::cached::{failed, reference};
use super::hosts::Place;
use super::walk::Walk;
use super::{
    Known, SourceAnswer, SourceClient, SourceError, SourceErrorKind, SourceReference,
    SourceRequest, is_known,
};
use crate::git::smart::{Capabilities, Discovery, Listing, object_id};
use crate::http::{Answer, Signs};

/// The tail of the URL that is asked first.
const INFO_REFS: &str = "/info/refs?service=git-upload-pack";

/// The commit that was found, and where.
struct Tip {
    commit: Option<ObjectId>,
    place: Place,
    capabilities: Capabilities,
    signs: Signs,
}

impl SourceClient {
    pub(super) async fn read_smart(
        &self,
        request: &SourceRequest,
        known: Option<&Known>,
    ) -> Result<(SourceAnswer, Signs), SourceError> {
        let name = reference(&request.reference).full_name();
        let name = name.map_err(|e| failed(&e))?;
        let tip = self.tip(request, &name).await?;
        let signs = match &tip.place.moved {
            Some(moved) => Signs {
                moved: Some(moved.clone()),
                ..tip.signs
            },
            None => tip.signs,
        };
        let Some(commit) = tip.commit else {
            let told = format!("{} has no {}", request.url, reference(&request.reference));
            return Err(SourceError::new(SourceErrorKind::RefMissing, told).at(signs));
        };
        if is_known(known, &commit.to_string()) {
            return Ok((SourceAnswer::Unchanged, signs));
        }
        let base = &tip.place.base;
        if tip.capabilities.can_filter() {
            let walk = Walk {
                client: self,
                request,
                base,
                capabilities: &tip.capabilities,
            };
            match walk.read(commit, known).await {
                Ok((answer, later)) => return Ok((answer, signs.then(later))),
                Err(Trouble::Final(error)) => return Err(error.at(signs)),
                Err(Trouble::Protocol(_)) => {}
            }
        }
        let fetched = self.fetch_over_http(request, base, known).await;
        let (answer, later) = fetched.map_err(|e| e.at(signs.clone()))?;
        Ok((answer, signs.then(later)))
    }

    /// Asks for the commit of a reference, in one request where the host is known.
    async fn tip(&self, request: &SourceRequest, name: &str) -> Result<Tip, SourceError> {
        let place = self.hosts.place(&request.url);
        if let Some(capabilities) = self.hosts.capabilities(&origin(&place.base)) {
            match self.list(request, place, capabilities, name).await {
                Ok(tip) => return Ok(tip),
                Err(Trouble::Final(error)) => return Err(error),
                Err(Trouble::Protocol(_)) => self.hosts.forget_place(&request.url),
            }
        }
        let tip = match self.discover(request, &request.url, name).await {
            Err(error) if error.status == Some(404) && !request.url.ends_with(".git") => {
                let base = format!("{}.git", request.url.trim_end_matches('/'));
                let found = self.discover(request, &base, name).await;
                found.map_err(|_| error)?
            }
            found => found?,
        };
        if !tip.capabilities.is_v2() {
            self.hosts.forget_capabilities(&origin(&tip.place.base));
            let commit = tip.commit.or_else(|| own_commit(request));
            return Ok(Tip { commit, ..tip });
        }
        let key = origin(&tip.place.base);
        self.hosts.learn_capabilities(key, tip.capabilities.clone());
        let listed = self
            .list(request, tip.place, tip.capabilities, name)
            .await
            .map_err(|trouble| match trouble {
                Trouble::Final(error) | Trouble::Protocol(error) => error.at(tip.signs.clone()),
            })?;
        let signs = tip.signs.then(listed.signs);
        Ok(Tip { signs, ..listed })
    }

    /// Asks what the server can do, and which references it has if it is an old one.
    async fn discover(
        &self,
        request: &SourceRequest,
        base: &str,
        name: &str,
    ) -> Result<Tip, SourceError> {
        let base = base.trim_end_matches('/');
        let asked = ask(request, Method::GET, base, INFO_REFS)?;
        let mut discovery = Discovery::new(name);
        let mut trouble = None;
        let mut sink = |piece: &[u8]| keep_first(discovery.push(piece), &mut trouble);
        let answer = self.http.send_into(&asked, &mut sink).await?;
        let answer = checked(answer, "advertisement")?;
        let found = trouble.map_or_else(|| discovery.finish(), Err);
        let (capabilities, commit) = match found {
            Ok(found) => found,
            Err(e) => return Err(nonsense(answer, &e)),
        };
        let place = self.place_of(request, base, &answer);
        let mut signs = answer.signs;
        signs.moved.clone_from(&place.moved);
        Ok(Tip {
            commit,
            place,
            capabilities,
            signs,
        })
    }

    /// Returns where a repository has answered, and remembers it if it is likely to stay there.
    fn place_of(&self, request: &SourceRequest, base: &str, answer: &Answer) -> Place {
        let answered = answer.url.as_str().strip_suffix(INFO_REFS);
        let answered = answered.unwrap_or(base).trim_end_matches('/').to_owned();
        let is_elsewhere = answered != request.url.trim_end_matches('/');
        // Some hosts only want the name to be whole.
        let is_whole = answered == format!("{}.git", request.url.trim_end_matches('/'));
        let mut moved = answer.signs.moved.clone().filter(|_| !is_whole);
        if let Some(moved) = &mut moved {
            moved.from.clone_from(&request.url);
            moved.to.clone_from(&answered);
        }
        let is_kept = is_whole || moved.is_some();
        let place = Place {
            base: answered,
            moved,
        };
        if is_elsewhere && is_kept {
            self.hosts.learn_place(&request.url, place.clone());
        }
        place
    }

    /// Asks for one reference.
    async fn list(
        &self,
        request: &SourceRequest,
        place: Place,
        capabilities: Capabilities,
        name: &str,
    ) -> Result<Tip, Trouble> {
        // A commit stands for itself.
        if let Some(commit) = own_commit(request) {
            return Ok(Tip {
                commit: Some(commit),
                place,
                capabilities,
                signs: Signs::default(),
            });
        }
        let asked = ask(request, Method::POST, &place.base, UPLOAD_PACK);
        let asked = asked
            .map_err(Trouble::Final)?
            .body(capabilities.list_request(name));
        let mut listing = Listing::new(name);
        let mut trouble = None;
        let mut sink = |piece: &[u8]| keep_first(listing.push(piece), &mut trouble);
        let answer = self.http.send_into(&asked, &mut sink).await;
        let answer = answer.map_err(|e| Trouble::Final(e.into()))?;
        let answer = checked(answer, "result").map_err(Trouble::of)?;
        match trouble.map_or_else(|| listing.finish(), Err) {
            Ok(commit) => Ok(Tip {
                commit,
                place,
                capabilities,
                signs: answer.signs,
            }),
            Err(e) => Err(Trouble::Protocol(nonsense(answer, &e))),
        }
    }
}

/// Returns the commit that a reference is itself.
fn own_commit(request: &SourceRequest) -> Option<ObjectId> {
    match &request.reference {
        SourceReference::Commit(id) => object_id(id),
        _ => None,
    }
}

/// Goes on reading until there is an error, which is kept.
fn keep_first(
    pushed: io::Result<ControlFlow<()>>,
    trouble: &mut Option<io::Error>,
) -> ControlFlow<()> {
    pushed.unwrap_or_else(|e| {
        *trouble = Some(e);
        ControlFlow::Break(())
    })
}
