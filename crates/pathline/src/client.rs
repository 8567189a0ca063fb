//! Asks a Pathline that runs, over REST.
//!
//! On the machine of `pathline up` the data directory says where it listens and holds a token;
//! elsewhere arguments or variables do ([`ServerArgs`]).

mod error;
mod events;
mod place;

use std::path::PathBuf;
use std::time::Duration;

use pathline_server::api::{Problem, ProblemDetail};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{RequestBuilder, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep, timeout_at};
use url::{Host, Url};

pub(crate) use self::error::ClientError;
pub(crate) use self::events::Events;
use self::place::Place;
use crate::cli::ServerArgs;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(5);
/// The time between two looks for a server that is not there.
const LOOK_AGAIN: Duration = Duration::from_millis(300);
/// How long an answer may take, from the first byte of the question to the last of the answer.
const ANSWER: Duration = Duration::from_secs(30);
/// The largest answer that is read.
const LIMIT: usize = 64 << 20;
/// The longest address that can be asked for; HTTP libraries take 65,534 bytes.
const LONGEST_ADDRESS: usize = 65_000;

/// A way to one Pathline.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    url: Url,
    token_from: String,
    data_dir: Option<PathBuf>,
    /// How it was found, to find it again.
    args: Box<ServerArgs>,
}

impl Client {
    /// Finds the Pathline to ask; whether it is there shows when it is asked.
    pub(crate) fn find(args: &ServerArgs) -> Result<Self, ClientError> {
        let place = Place::find(args)?;
        let bearer = format!("Bearer {}", place.token.reveal());
        let mut bearer =
            HeaderValue::from_str(&bearer).map_err(|_| ClientError::MalformedToken {
                from: place.token_from.clone(),
            })?;
        bearer.set_sensitive(true);
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("pathline/", env!("CARGO_PKG_VERSION")))
            .default_headers(HeaderMap::from_iter([(AUTHORIZATION, bearer)]))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT);
        if is_this_machine(&place.url) {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|source| ClientError::Unreachable {
            url: place.url.clone(),
            data_dir: None,
            source,
        })?;
        let Place {
            url,
            token_from,
            data_dir,
            ..
        } = place;
        Ok(Self {
            http,
            url,
            token_from,
            data_dir,
            args: Box::new(args.clone()),
        })
    }

    /// Finds the Pathline to ask, also if it is started only later; `say_away` is told once that it is
    /// not there. Where none ever ran, none is waited for.
    pub(crate) async fn await_server(
        args: &ServerArgs,
        deadline: Instant,
        say_away: impl FnOnce(&ClientError),
    ) -> Result<Self, ClientError> {
        let mut say_away = Some(say_away);
        loop {
            let error = match Self::find(args) {
                Err(error) if error.is_stopped() => error,
                found => return found,
            };
            if let Some(say_away) = say_away.take() {
                say_away(&error);
            }
            if timeout_at(deadline, sleep(LOOK_AGAIN)).await.is_err() {
                return Err(error);
            }
        }
    }

    /// Finds the Pathline anew: one that was started again may have another address.
    fn find_again(&self) -> Result<Self, ClientError> {
        Self::find(&self.args)
    }

    /// Asks for what is at `path`, whose segments are encoded as needed.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<T, ClientError> {
        let url = self.address(path, query);
        self.answer(self.http.get(url.clone()).timeout(ANSWER), &url)
            .await
    }

    /// Sends something to `path` and returns what it became.
    pub(crate) async fn post<B: Serialize + Sync, T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &B,
    ) -> Result<T, ClientError> {
        let url = self.address(path, &[]);
        let request = self.http.post(url.clone()).json(body).timeout(ANSWER);
        self.answer(request, &url).await
    }

    /// Ends what is at `path` and returns what it has become.
    pub(crate) async fn delete<T: DeserializeOwned>(
        &self,
        path: &[&str],
    ) -> Result<T, ClientError> {
        let url = self.address(path, &[]);
        let request = self.http.delete(url.clone()).timeout(ANSWER);
        self.answer(request, &url).await
    }

    /// Follows the events at `path`, also across restarts of the server.
    pub(crate) fn events(&self, path: &[&str], query: &[(&str, &str)]) -> Events {
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
    ) -> Result<T, ClientError> {
        let response = self.send(request, url).await?;
        let body = self.body(response, url).await?;
        serde_json::from_slice(&body).map_err(|source| ClientError::Foreign {
            url: url.clone(),
            source,
        })
    }

    /// Sends a request; an answer other than success is an error, with what the server says.
    async fn send(&self, request: RequestBuilder, url: &Url) -> Result<Response, ClientError> {
        let bytes = url.as_str().len();
        if bytes > LONGEST_ADDRESS {
            let limit = LONGEST_ADDRESS;
            return Err(ClientError::LongQuestion { bytes, limit });
        }
        let sent = request.send().await;
        let response = sent.map_err(|source| self.failed(url, source))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = self.body(response, url).await?;
        match serde_json::from_slice::<Problem>(&body) {
            Ok(problem) => Err(ClientError::refused(status, problem, &self.token_from)),
            // A proxy in front of the address that was named, say.
            Err(_) if self.data_dir.is_none() && is_about_token(status) => {
                let problem = Problem {
                    error: ProblemDetail {
                        code: String::new(),
                        message: format!("{url} answered {status}"),
                        hint: None,
                    },
                };
                Err(ClientError::refused(status, problem, &self.token_from))
            }
            Err(_) => Err(ClientError::Stranger {
                url: url.clone(),
                status,
                has_moved: self.data_dir.is_some(),
            }),
        }
    }

    async fn body(&self, mut response: Response, url: &Url) -> Result<Vec<u8>, ClientError> {
        let mut body = Vec::new();
        let broken = |source| self.failed(url, source);
        while let Some(chunk) = response.chunk().await.map_err(broken)? {
            if body.len() + chunk.len() > LIMIT {
                return Err(ClientError::TooLarge {
                    url: url.clone(),
                    limit: LIMIT,
                });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    fn failed(&self, url: &Url, source: reqwest::Error) -> ClientError {
        // The address is in our own message, and reqwest's form of it would repeat it.
        let source = source.without_url();
        if source.is_connect() {
            ClientError::Unreachable {
                url: self.url.clone(),
                data_dir: self.data_dir.clone(),
                source,
            }
        } else if source.is_timeout() {
            ClientError::Slow {
                url: url.clone(),
                source,
            }
        } else {
            ClientError::Broken {
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

#[cfg(test)]
mod tests;
