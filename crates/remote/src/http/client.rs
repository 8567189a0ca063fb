//! The client.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use pathline_clock::Clock;
use reqwest::Url;

use super::exchange::Exchange;
use super::pace::{Pace, host_of};
use super::scrub::Scrubber;
use super::transport::Transport;
use super::{Answer, Failure, FailureKind, Request, Signs};
use crate::authorities;

/// The settings of a client.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Certificates of authorities, as PEM, that are trusted beside those of the machine.
    pub extra_roots: Vec<Vec<u8>>,
    /// Hosts, with their port where it is not 80, that may be asked without TLS, whoever redirects to them.
    pub http_hosts: BTreeSet<String>,
    /// The time-outs.
    pub timeouts: Timeouts,
    /// The clock by which hosts say when they want to be asked again.
    pub clock: Clock,
}

/// The time-outs of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until there is a connection.
    pub connect: Duration,
    /// Until the headers of an answer are there.
    pub header: Duration,
    /// Until all is there, with all redirects, and without what a request waits for its turn.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            header: Duration::from_secs(30),
            total: Duration::from_secs(60),
        }
    }
}

/// The one client of all polls, with one pool of connections; cheap to clone.
#[derive(Clone, Debug)]
pub struct HttpClient {
    pub(super) transport: Transport,
    pub(super) options: Arc<Options>,
    /// The pace of requests; without one they go at once.
    pace: Option<Arc<dyn Pace>>,
}

/// Takes the pieces of a body, until it has enough.
pub(crate) type Sink<'a> = dyn FnMut(&[u8]) -> ControlFlow<()> + Send + 'a;

impl HttpClient {
    /// Makes a client.
    ///
    /// # Errors
    ///
    /// Fails when a certificate cannot be read.
    pub fn new(options: Options) -> Result<Self, Failure> {
        let tls = authorities::tls(&options.extra_roots);
        let tls = tls.map_err(|failed| setup(&format!("TLS cannot be set up: {failed}")))?;
        let transport = Transport::new(tls, options.timeouts.connect);
        Ok(Self {
            transport,
            options: Arc::new(options),
            pace: None,
        })
    }

    /// Returns the same client, with the same connections, whose requests wait for their turn.
    #[must_use]
    pub fn paced(&self, pace: Arc<dyn Pace>) -> Self {
        Self {
            pace: Some(pace),
            ..self.clone()
        }
    }

    /// Returns the clock of the client.
    pub fn clock(&self) -> &Clock {
        &self.options.clock
    }

    /// Returns the certificates that are trusted beside those of the machine.
    pub(crate) fn extra_roots(&self) -> &[Vec<u8>] {
        &self.options.extra_roots
    }

    /// Sends a request, and reads the answer up to the cap of the request.
    ///
    /// # Errors
    ///
    /// Fails when there is no answer, or more of it than the cap; a status that is not a good one is an answer.
    pub async fn send(&self, request: Request) -> Result<Answer, Failure> {
        let mut body = Vec::new();
        let mut keep = |piece: &[u8]| {
            body.extend_from_slice(piece);
            ControlFlow::Continue(())
        };
        let answer = self.send_into(&request, &mut keep).await?;
        match answer.status.is_success() {
            true => Ok(Answer { body, ..answer }),
            false => Ok(answer),
        }
    }

    /// Sends a request, and gives the content of a good answer away, piece by piece.
    pub(crate) async fn send_into(
        &self,
        request: &Request,
        sink: &mut Sink<'_>,
    ) -> Result<Answer, Failure> {
        let exchange = Exchange {
            client: self,
            request,
            scrubber: Scrubber::new(&request.secrets),
        };
        exchange.run(sink).await
    }

    /// Waits for the turn of something that is sent to a host, over HTTP or not.
    pub(crate) async fn turn(&self, host: &str) -> Result<(), Failure> {
        let Some(pace) = &self.pace else {
            return Ok(());
        };
        pace.turn(host).await.map_err(|until| Failure {
            kind: FailureKind::Held,
            status: None,
            signs: Box::default(),
            message: format!("{host} does not want to be asked before {until}"),
        })
    }

    /// Passes on what a host says beside an answer.
    pub(super) fn heed(&self, url: &Url, signs: &Signs) {
        if let Some(pace) = &self.pace {
            pace.heed(&host_of(url), signs);
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.options.clock.now()
    }

    /// Returns the hosts that may be asked without TLS.
    pub(crate) fn http_hosts(&self) -> &BTreeSet<String> {
        &self.options.http_hosts
    }

    /// Tells whether a URL may be asked; the own one of a request that may do without TLS, its host may be.
    pub(super) fn may_ask(&self, url: &Url, own: Option<&Url>) -> bool {
        let is_own = || own.is_some_and(|own| host_of(own) == host_of(url));
        match url.scheme() {
            "https" => true,
            "http" => is_own() || self.options.http_hosts.contains(&host_of(url)),
            _ => false,
        }
    }
}

fn setup(why: &str) -> Failure {
    Failure {
        kind: FailureKind::Forbidden,
        status: None,
        signs: Box::default(),
        message: why.to_owned(),
    }
}
