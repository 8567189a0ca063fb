//! In which form the client wants the answer.

use http::HeaderMap;

use crate::status::Status;

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The objects themselves.
    Object,
    /// Rows and columns for people.
    Table,
    /// Nothing but `metadata`.
    Metadata,
}

/// The encoding of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

/// The form and encoding chosen from an `Accept` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Accept {
    /// The form.
    pub(crate) form: Form,
    /// The encoding.
    pub(crate) encoding: Encoding,
}

impl Accept {
    const PLAIN: Self = Self {
        form: Form::Object,
        encoding: Encoding::Json,
    };

    /// Chooses the first thing on the client's list that this server has.
    pub(crate) fn parse(headers: &HeaderMap) -> Result<Self, Status> {
        let header = headers
            .get(http::header::ACCEPT)
            .and_then(|accept| accept.to_str().ok());
        let header = header.unwrap_or_default().trim();
        if header.is_empty() {
            return Ok(Self::PLAIN);
        }
        header
            .split(',')
            .find_map(|clause| Self::clause(clause.trim()))
            .ok_or_else(Status::not_acceptable)
    }

    fn clause(clause: &str) -> Option<Self> {
        let mut parts = clause.split(';').map(str::trim);
        let encoding = match parts.next()? {
            "application/json" | "*/*" | "application/*" => Encoding::Json,
            "application/yaml" => Encoding::Yaml,
            _ => return None,
        };
        let form = match parameter(clause, "as") {
            None => Form::Object,
            Some("Table") if is_meta_v1(clause) => Form::Table,
            Some("PartialObjectMetadata" | "PartialObjectMetadataList") if is_meta_v1(clause) => {
                Form::Metadata
            }
            Some(_) => return None,
        };
        Some(Self { form, encoding })
    }
}

fn is_meta_v1(clause: &str) -> bool {
    parameter(clause, "g").unwrap_or("meta.k8s.io") == "meta.k8s.io"
        && parameter(clause, "v").unwrap_or("v1") == "v1"
}

fn parameter<'a>(clause: &'a str, key: &str) -> Option<&'a str> {
    clause
        .split(';')
        .skip(1)
        .find_map(|part| part.trim().strip_prefix(key)?.strip_prefix('='))
}

/// Returns whether the client would rather have the whole discovery in one document.
pub(crate) fn wants_aggregated_discovery(headers: &HeaderMap) -> bool {
    let header = headers
        .get(http::header::ACCEPT)
        .and_then(|accept| accept.to_str().ok());
    header.unwrap_or_default().split(',').any(|clause| {
        parameter(clause, "as") == Some("APIGroupDiscoveryList")
            && parameter(clause, "g") == Some("apidiscovery.k8s.io")
            && parameter(clause, "v") == Some("v2")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(text: &str) -> Result<Accept, Status> {
        let mut headers = HeaderMap::new();
        headers.insert("accept", text.parse().unwrap());
        Accept::parse(&headers)
    }

    #[test]
    fn the_first_form_that_exists_is_taken() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        assert_eq!(accept(table).unwrap().form, Form::Table);
        let partial = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
        assert_eq!(accept(partial).unwrap().form, Form::Metadata);
        let protobuf = "application/vnd.kubernetes.protobuf,application/json";
        assert_eq!(accept(protobuf).unwrap(), Accept::PLAIN);
        let old = "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        assert_eq!(accept(old).unwrap().form, Form::Object);
        assert_eq!(accept("application/yaml").unwrap().encoding, Encoding::Yaml);
        assert_eq!(accept("*/*").unwrap(), Accept::PLAIN);
    }

    #[test]
    fn a_client_that_accepts_nothing_we_have_is_told_so() {
        assert_eq!(accept("text/html").unwrap_err().code(), 406);
    }
}
