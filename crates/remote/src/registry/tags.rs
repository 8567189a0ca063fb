//! Lists of tags.

use std::collections::HashSet;

use reqwest::{Method, StatusCode, Url};
use serde::Deserialize;

use super::RegistryError;
use super::conversation::Conversation;
use super::link::{next, resolve};
use crate::http::{Answer, Request};

/// The number of tags that are asked for in a page; some registries refuse more.
const PAGE: &str = "1000";
/// The most pages of a list.
const MAX_PAGES: usize = 1000;
/// The most bytes of all pages of a list.
const MAX_LIST_BYTES: u64 = 16 << 20;

/// A page of a list.
#[derive(Deserialize)]
struct Page {
    tags: Option<Vec<String>>,
}

impl Conversation<'_> {
    /// Reads all pages, or none: a list with a hole in it looks like tags that were removed.
    pub(super) async fn tags(&mut self) -> Result<(Vec<String>, usize), RegistryError> {
        let plain = self.url("tags", "list")?;
        let mut url = plain.clone();
        url.query_pairs_mut().append_pair("n", PAGE);
        let (mut tags, mut seen) = (Vec::new(), HashSet::new());
        let (mut left, mut pages) = (MAX_LIST_BYTES, 0);
        loop {
            let mut answer = self.page(&url, left).await?;
            let is_refused = matches!(answer.status.as_u16(), 400 | 405);
            if is_refused && pages == 0 && url != plain {
                url.clone_from(&plain);
                answer = self.page(&url, left).await?;
            }
            if answer.status != StatusCode::OK {
                return Err(self.fail(answer));
            }
            pages += 1;
            left -= (answer.body.len() as u64).min(left);
            seen.insert(url.clone());
            let Ok(page) = serde_json::from_slice::<Page>(&answer.body) else {
                return Err(self.nonsense(answer, "answers with no list of tags"));
            };
            tags.extend(page.tags.unwrap_or_default());
            // The length of a page says nothing: registries filter what they list.
            let Some(target) = next(&answer.headers) else {
                tags.sort_unstable();
                tags.dedup();
                return Ok((tags, pages));
            };
            let Some(following) = resolve(&url, &target) else {
                return Err(self.nonsense(answer, "continues its list of tags elsewhere"));
            };
            if seen.contains(&following) {
                return Err(self.nonsense(answer, "comes back to a page of its list of tags"));
            }
            if pages == MAX_PAGES {
                let why = format!("has more than {MAX_PAGES} pages of tags");
                return Err(self.nonsense(answer, &why));
            }
            url = following;
        }
    }

    async fn page(&mut self, url: &Url, cap: u64) -> Result<Answer, RegistryError> {
        self.send(Method::GET, url, |request: Request| request.cap(cap))
            .await
    }
}
