//! Reading objects, one or many.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Api;
use super::call::{Call, Reply};
use super::options::{ListOptions, Version};
use super::resource::Resource;
use super::selectable;
use crate::selector::{FieldSelector, LabelSelector};
use crate::status::Status;
use crate::store::{Snapshot, Stored};

/// The objects of a collection that are meant.
pub(super) struct Filter {
    resource: Arc<Resource>,
    labels: LabelSelector,
    fields: FieldSelector,
}

/// The position at which a list goes on, as clients carry it around.
#[derive(Debug, Serialize, Deserialize)]
struct Continue {
    v: String,
    rv: u64,
    start: String,
}

/// One part of a list.
struct Page {
    revision: u64,
    items: Vec<Arc<Stored>>,
    next: Option<String>,
    remaining: Option<usize>,
}

impl Filter {
    /// Reads the selectors of `options` against `resource`.
    pub(super) fn new(resource: &Arc<Resource>, options: &ListOptions) -> Result<Self, Status> {
        let fields = selectable::parse(&options.fields, resource)?;
        Ok(Self {
            resource: Arc::clone(resource),
            labels: options.labels.clone(),
            fields,
        })
    }

    fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Returns whether a stored object is meant.
    pub(super) fn matches(&self, stored: &Stored) -> bool {
        if self.is_empty() {
            return true;
        }
        let object = self.resource.present(stored);
        self.labels
            .matches(object["metadata"]["labels"].as_object())
            && selectable::matches(&self.fields, &self.resource, &object)
    }
}

impl Api {
    /// Answers a GET of one object.
    pub(super) fn get(&self, call: &Call) -> Result<Reply, Status> {
        let asked = call
            .query
            .text("resourceVersion")
            .and_then(|it| it.parse().ok())
            .unwrap_or(0);
        let revision = self.store.revision();
        if asked > revision {
            return Err(Status::too_large_resource_version(asked, revision));
        }
        let stored = self
            .store
            .get(&call.key())
            .ok_or_else(|| call.not_found())?;
        Ok(Reply::ok(
            call.view().object(call.resource.present(&stored)),
        ))
    }

    /// Answers a GET of a collection.
    pub(super) fn list(&self, call: &Call, options: &ListOptions) -> Result<Reply, Status> {
        let filter = Filter::new(&call.resource, options)?;
        let page = self.page(call, options, &filter)?;
        let shown: Vec<Cow<'_, Value>> = page
            .items
            .iter()
            .map(|stored| call.resource.present(stored))
            .collect();
        let mut metadata = json!({"resourceVersion": page.revision.to_string()});
        if let Some(next) = &page.next {
            metadata["continue"] = next.as_str().into();
        }
        if let Some(remaining) = page.remaining {
            metadata["remainingItemCount"] = remaining.into();
        }
        Ok(Reply::ok(call.view().list(&shown, &metadata)))
    }

    fn page(&self, call: &Call, options: &ListOptions, filter: &Filter) -> Result<Page, Status> {
        let token = options
            .continue_token
            .as_deref()
            .map(read_token)
            .transpose()?;
        let Snapshot { revision, items } = self.snapshot(call, options, token.as_ref())?;
        let start = token.map(|token| token.start).unwrap_or_default();
        let mut chosen = items
            .into_iter()
            .skip_while(|stored| !start.is_empty() && position(stored) <= start)
            .filter(|stored| filter.matches(stored));
        let Some(limit) = options.limit else {
            return Ok(Page {
                revision,
                items: chosen.collect(),
                next: None,
                remaining: None,
            });
        };
        let items: Vec<Arc<Stored>> = chosen.by_ref().take(limit).collect();
        let rest = chosen.count();
        let last = items.last().filter(|_| rest > 0);
        let next = last.map(|stored| write_token(revision, position(stored)));
        // With a selector a real server does not know how many are left to look at.
        let remaining = Some(rest).filter(|rest| *rest > 0 && filter.is_empty());
        Ok(Page {
            revision,
            items,
            next,
            remaining,
        })
    }

    fn snapshot(
        &self,
        call: &Call,
        options: &ListOptions,
        token: Option<&Continue>,
    ) -> Result<Snapshot, Status> {
        let (collection, namespace) = (&call.resource.collection, call.listed_namespace());
        if let Some(token) = token {
            if !matches!(options.version, Version::Latest | Version::Any) {
                let message = "specifying resource version is not allowed when using continue";
                return Err(Status::bad_request(message));
            }
            return self
                .store
                .list_at(collection, namespace, token.rv)
                .map_err(|_| {
                    Status::expired(
                        "The provided continue parameter is too old to display a consistent list \
                     result. You must start a new list without the continue parameter.",
                    )
                });
        }
        match options.version {
            Version::Latest | Version::Any => Ok(self.store.list(collection, namespace)),
            Version::NotOlderThan(asked) | Version::Exact(asked)
                if asked > self.store.revision() =>
            {
                Err(Status::too_large_resource_version(
                    asked,
                    self.store.revision(),
                ))
            }
            Version::NotOlderThan(_) => Ok(self.store.list(collection, namespace)),
            Version::Exact(asked) => {
                self.store
                    .list_at(collection, namespace, asked)
                    .map_err(|_| {
                        Status::expired("The resourceVersion for the provided list is too old.")
                    })
            }
        }
    }
}

/// Returns where an object stands in the order of lists. A NUL sorts before anything in a name, so
/// that the order of positions is that of namespaces and then names.
fn position(stored: &Stored) -> String {
    format!("{}\0{}", stored.key.namespace, stored.key.name)
}

fn write_token(rv: u64, start: String) -> String {
    let token = Continue {
        v: "meta.k8s.io/v1".to_owned(),
        rv,
        start,
    };
    let text = serde_json::to_vec(&token).expect("a token is plain text and a number");
    URL_SAFE_NO_PAD.encode(text)
}

fn read_token(text: &str) -> Result<Continue, Status> {
    let invalid = |why: &str| {
        Status::bad_request(format!(
            "invalid continue token: continue key is not valid: {why}"
        ))
    };
    let bytes = URL_SAFE_NO_PAD
        .decode(text)
        .map_err(|error| invalid(&error.to_string()))?;
    let token: Continue =
        serde_json::from_slice(&bytes).map_err(|error| invalid(&error.to_string()))?;
    if token.v == "meta.k8s.io/v1" && token.rv > 0 {
        Ok(token)
    } else {
        Err(invalid("it is of another version"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continue_tokens_survive_the_round_trip() {
        let token = read_token(&write_token(7, "ns\0name".to_owned())).unwrap();
        assert_eq!((token.rv, token.start.as_str()), (7, "ns\0name"));
    }

    #[test]
    fn foreign_tokens_are_refused() {
        for text in ["abc", "!!", "e30", ""] {
            assert_eq!(read_token(text).unwrap_err().code(), 400, "{text}");
        }
    }
}
