//! The client of the REST API.
//!
//! On the machine of `pathline up` the data directory says where it listens and holds a token;
//! elsewhere [`Options`] do.

mod endpoint;
mod error;
mod events;
mod options;

use std::path::PathBuf;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, IF_MATCH};
use reqwest::{RequestBuilder, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep, timeout_at};
use url::{Host, Url};

use self::endpoint::Endpoint;
pub use self::error::Error;
pub use self::events::{Event, Events};
pub use self::options::{DEFAULT_DATA_DIR, Options, ParseServerUrlError, Secret, ServerUrl};
use crate::api::{Problem, ProblemDetail, ServerFile};

/// The time that a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The time between two looks for a server that is not there.
const RETRY_INTERVAL: Duration = Duration::from_millis(300);
/// The time that an answer may take, from the first byte of the question to the last of the answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// The largest answer that is read.
const MAX_ANSWER_BYTES: usize = 64 << 20;
/// The longest address that can be asked for; HTTP libraries take 65,534 bytes.
const MAX_ADDRESS_BYTES: usize = 65_000;

/// A client of one Pathline; cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    url: Url,
    token_from: String,
    data_dir: Option<PathBuf>,
    /// The options it was found with, to find it again.
    options: Box<Options>,
}

impl Client {
    /// Finds the Pathline to ask; whether it is there shows when it is asked.
    ///
    /// # Errors
    /// If there is no address or no token, or they cannot be used.
    pub fn find(options: &Options) -> Result<Self, Error> {
        let endpoint = Endpoint::find(options)?;
        let bearer = format!("Bearer {}", endpoint.token.reveal());
        let mut bearer = HeaderValue::from_str(&bearer).map_err(|_| Error::MalformedToken {
            from: endpoint.token_from.clone(),
        })?;
        bearer.set_sensitive(true);
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("pathline/", env!("CARGO_PKG_VERSION")))
            .default_headers(HeaderMap::from_iter([(AUTHORIZATION, bearer)]))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT);
        // Where nothing is encrypted no authority is needed, and a minimal system has none.
        if endpoint.url.scheme() == "http" {
            builder = builder.tls_certs_only(None);
        }
        if is_this_machine(&endpoint.url) {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|source| Error::Unreachable {
            url: endpoint.url.clone(),
            data_dir: None,
            source,
        })?;
        let Endpoint {
            url,
            token_from,
            data_dir,
            ..
        } = endpoint;
        Ok(Self {
            http,
            url,
            token_from,
            data_dir,
            options: Box::new(options.clone()),
        })
    }

    /// Finds the Pathline to ask, also if it is started only later; `say_away` is told once that it is
    /// not there. Where none ever ran, none is waited for.
    ///
    /// # Errors
    /// As for [`Client::find`], and if none is there at the deadline.
    pub async fn await_server(
        options: &Options,
        deadline: Instant,
        say_away: impl FnOnce(&Error),
    ) -> Result<Self, Error> {
        let mut say_away = Some(say_away);
        loop {
            let error = match Self::find(options) {
                Err(error) if error.is_stopped() => error,
                found => return found,
            };
            if let Some(say_away) = say_away.take() {
                say_away(&error);
            }
            if timeout_at(deadline, sleep(RETRY_INTERVAL)).await.is_err() {
                return Err(error);
            }
        }
    }

    /// Finds the Pathline anew: one that was started again may have another address.
    fn find_again(&self) -> Result<Self, Error> {
        Self::find(&self.options)
    }

    /// Asks for what is at `path`, whose segments are encoded as needed.
    ///
    /// # Errors
    /// If the server cannot be reached, or answers something else.
    pub async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<T, Error> {
        let url = self.address(path, query);
        self.answer(self.http.get(url.clone()).timeout(ANSWER_TIMEOUT), &url)
            .await
    }

    /// Sends something to `path` and returns what it became.
    ///
    /// # Errors
    /// If the server cannot be reached, or answers something else.
    pub async fn post<B: Serialize + Sync, T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &B,
    ) -> Result<T, Error> {
        let url = self.address(path, &[]);
        let request = self
            .http
            .post(url.clone())
            .json(body)
            .timeout(ANSWER_TIMEOUT);
        self.answer(request, &url).await
    }

    /// Ends what is at `path` and returns what it has become.
    ///
    /// # Errors
    /// If the server cannot be reached, or answers something else.
    pub async fn delete<T: DeserializeOwned>(&self, path: &[&str]) -> Result<T, Error> {
        let url = self.address(path, &[]);
        let request = self.http.delete(url.clone()).timeout(ANSWER_TIMEOUT);
        self.answer(request, &url).await
    }

    /// Replaces what is at `path`, if it is still the edition that was read, and returns what it has become.
    ///
    /// # Errors
    /// If the server cannot be reached, or answers something else.
    pub async fn put<B: Serialize + Sync, T: DeserializeOwned>(
        &self,
        path: &[&str],
        edition: &str,
        body: &B,
    ) -> Result<T, Error> {
        let url = self.address(path, &[]);
        let request = self.http.put(url.clone()).header(IF_MATCH, edition);
        let request = request.json(body).timeout(ANSWER_TIMEOUT);
        self.answer(request, &url).await
    }

    /// Asks for something to be done at `path`, which has no answer but that it will be.
    ///
    /// # Errors
    /// If the server cannot be reached, or refuses.
    pub async fn request(&self, path: &[&str]) -> Result<(), Error> {
        let url = self.address(path, &[]);
        let request = self.http.post(url.clone()).timeout(ANSWER_TIMEOUT);
        self.send(request, &url).await.map(drop)
    }

    /// Removes what is at `path`.
    ///
    /// # Errors
    /// If the server cannot be reached, or refuses.
    pub async fn remove(&self, path: &[&str]) -> Result<(), Error> {
        let url = self.address(path, &[]);
        let request = self.http.delete(url.clone()).timeout(ANSWER_TIMEOUT);
        self.send(request, &url).await.map(drop)
    }

    /// Follows the events at `path`, also across restarts of the server.
    pub fn events(&self, path: &[&str], query: &[(&str, &str)]) -> Events {
        let path = path.iter().map(|&it| it.to_owned());
        let query = query.iter();
        let query = query.map(|&(key, value)| (key.to_owned(), value.to_owned()));
        Events::new(self.clone(), path.collect(), query.collect())
    }

    /// Returns the address of what is asked for.
    fn address<T: AsRef<str>>(&self, path: &[T], query: &[(T, T)]) -> Url {
        let mut url = self.url.clone();
        url.path_segments_mut()
            .expect("an address of http has segments")
            .pop_if_empty()
            .extend(path);
        if !query.is_empty() {
            let query = query.iter().map(|(key, value)| (key, value));
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    async fn answer<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
        url: &Url,
    ) -> Result<T, Error> {
        let response = self.send(request, url).await?;
        let body = self.body(response, url).await?;
        serde_json::from_slice(&body).map_err(|source| Error::Foreign {
            url: url.clone(),
            source,
        })
    }

    /// Sends a request; an answer other than success is an error, with what the server says.
    async fn send(&self, request: RequestBuilder, url: &Url) -> Result<Response, Error> {
        let bytes = url.as_str().len();
        if bytes > MAX_ADDRESS_BYTES {
            let limit = MAX_ADDRESS_BYTES;
            return Err(Error::LongQuestion { bytes, limit });
        }
        let sent = request.send().await;
        let response = sent.map_err(|source| self.failed(url, source))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = self.body(response, url).await?;
        match serde_json::from_slice::<Problem>(&body) {
            Ok(problem) => Err(self.refused(status, problem)),
            // A proxy in front of the address that was named, say.
            Err(_) if self.data_dir.is_none() && is_about_token(status) => {
                let problem = Problem {
                    error: ProblemDetail {
                        code: String::new(),
                        message: format!("{url} answered {status}"),
                        hint: None,
                        details: Vec::new(),
                    },
                };
                Err(self.refused(status, problem))
            }
            Err(_) => Err(Error::Stranger {
                url: url.clone(),
                status,
                has_moved: self.data_dir.is_some(),
            }),
        }
    }

    fn refused(&self, status: StatusCode, problem: Problem) -> Error {
        let own = self.data_dir.as_deref().map(ServerFile::token_path);
        let is_own = own.is_some_and(|own| own.display().to_string() == self.token_from);
        Error::refused(status, problem, &self.token_from, is_own)
    }

    async fn body(&self, mut response: Response, url: &Url) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        let broken = |source| self.failed(url, source);
        while let Some(chunk) = response.chunk().await.map_err(broken)? {
            if body.len() + chunk.len() > MAX_ANSWER_BYTES {
                return Err(Error::TooLarge {
                    url: url.clone(),
                    limit: MAX_ANSWER_BYTES,
                });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    fn failed(&self, url: &Url, source: reqwest::Error) -> Error {
        // The address is in our own message, and reqwest's form of it would repeat it.
        let source = source.without_url();
        if source.is_connect() {
            Error::Unreachable {
                url: self.url.clone(),
                data_dir: self.data_dir.clone(),
                source,
            }
        } else if source.is_timeout() {
            Error::Slow {
                url: url.clone(),
                source,
            }
        } else {
            Error::Broken {
                url: url.clone(),
                source,
            }
        }
    }
}

fn is_about_token(status: StatusCode) -> bool {
    matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
