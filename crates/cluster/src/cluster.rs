//! A cluster in a data directory, in one process.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderValue, Request};
use parking_lot::Mutex;
use pathline_clock::Clock;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::admission::Admission;
use crate::api::ApiService;
use crate::auth::Auth;
use crate::gc::Collector;
use crate::kubeconfig::kubeconfig;
use crate::lock::{self, Lock};
use crate::store::{self, Refused, Store};
use crate::tls::{self, Authority};
use crate::{secrets, serve};

/// The directory of a cluster, and how much it keeps.
#[derive(Clone, Debug)]
pub struct Options {
    /// The directory with everything the cluster remembers. It is created if it does not exist.
    pub data_dir: PathBuf,
    /// The most events that watches can resume from.
    pub history_events: usize,
    /// The most bytes of objects in those events.
    pub history_bytes: usize,
    /// The admission hook that is asked before an object is written, if there is one.
    pub admission: Option<Arc<dyn Admission>>,
    /// The clock by which tokens end and objects are dated.
    pub clock: Clock,
}

impl Options {
    /// Returns the usual options for a data directory.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        let store::Limits { events, bytes } = store::Limits::default();
        Self {
            data_dir: data_dir.into(),
            history_events: events,
            history_bytes: bytes,
            admission: None,
            clock: Clock::system(),
        }
    }
}

/// The reason for which a cluster cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A file or directory cannot be used.
    #[error(transparent)]
    File(#[from] secrets::Error),
    /// The directory is in use.
    #[error(transparent)]
    Lock(#[from] lock::Error),
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// There is no certificate.
    #[error(transparent)]
    Tls(#[from] tls::Error),
    /// The first objects cannot be written.
    #[error("cannot write to the database in {}: {why}", .data_dir.display())]
    Write {
        /// The data directory.
        data_dir: PathBuf,
        /// The message of the database.
        why: String,
    },
}

/// The reason for which a cluster cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The listener has no address.
    #[error("cannot find out which address the API listens on")]
    Address(#[source] io::Error),
    /// There is no certificate.
    #[error(transparent)]
    Tls(#[from] tls::Error),
}

/// An embedded Kubernetes API. A cheap handle: clones are the same cluster.
#[derive(Clone)]
pub struct Cluster {
    parts: Arc<Parts>,
}

struct Parts {
    store: Store,
    auth: Auth,
    authority: Arc<Authority>,
    clock: Clock,
    service: ApiService,
    tasks: TaskTracker,
    shutdown: CancellationToken,
    _stop_when_dropped: DropGuard,
    lock: Mutex<Option<Lock>>,
}

impl Cluster {
    /// Opens the cluster of a data directory, making a new one if there is none, and starts the
    /// loops that belong to it.
    ///
    /// # Errors
    /// Fails if another process has the directory open, or a file in it cannot be used.
    pub async fn open(options: Options) -> Result<Self, OpenError> {
        let Options {
            data_dir,
            history_events,
            history_bytes,
            admission,
            clock,
        } = options;
        secrets::make_dir(&data_dir.join("pki"))?;
        let lock = Lock::acquire(&data_dir)?;
        let authority = Arc::new(Authority::open(&data_dir)?);
        let limits = store::Limits {
            events: history_events,
            bytes: history_bytes,
        };
        let database = data_dir.join("cluster.db");
        secrets::make_private(&database)?;
        let store = Store::open(&database, limits).await?;
        let auth = Auth::open(&data_dir, store.clone())?;
        let shutdown = CancellationToken::new();
        let tasks = TaskTracker::new();
        let certificate = authority.certificate().into();
        let collector = Collector::start(store.clone(), certificate, clock.clone()).await;
        let collector = collector.map_err(|refused: Refused| OpenError::Write {
            data_dir,
            why: refused.to_string(),
        })?;
        tasks.spawn(collector.run(shutdown.clone()));
        let service = ApiService::new(
            store.clone(),
            auth.clone(),
            admission,
            clock.clone(),
            shutdown.clone(),
        );
        tasks.spawn(service.clone().run(shutdown.clone()));
        let lock = Mutex::new(Some(lock));
        let parts = Parts {
            store,
            auth,
            authority,
            clock,
            service,
            tasks,
            _stop_when_dropped: shutdown.clone().drop_guard(),
            shutdown,
            lock,
        };
        Ok(Self {
            parts: Arc::new(parts),
        })
    }

    /// Returns a client of this cluster, in process, who may do everything.
    pub fn client(&self) -> kube::Client {
        let token = format!("Bearer {}", self.parts.auth.admin_token());
        let mut token = HeaderValue::from_str(&token).expect("the token is base64 text");
        token.set_sensitive(true);
        let service =
            self.service()
                .map_request(move |mut request: Request<kube::client::Body>| {
                    request.headers_mut().insert(AUTHORIZATION, token.clone());
                    request
                });
        kube::Client::new(service, "default")
    }

    /// Returns the API as a tower service. It asks everyone for a bearer token.
    pub fn service(&self) -> ApiService {
        self.parts.service.clone()
    }

    /// Serves the API over TLS until `shutdown`, then lets requests under way finish. Watches end
    /// at once.
    ///
    /// # Errors
    /// Fails if no certificate can be made for the listener's address.
    pub async fn serve(
        &self,
        listener: TcpListener,
        shutdown: CancellationToken,
    ) -> Result<(), ServeError> {
        let address = listener.local_addr().map_err(ServeError::Address)?;
        let tls = self
            .parts
            .authority
            .server_config(tls::names_of(address.ip()), self.parts.clock.clone())?;
        let stop = shutdown.child_token();
        let _stop_if_abandoned = stop.clone().drop_guard();
        let serving = serve::serve_tls(listener, tls, self.service(), stop.clone());
        tokio::pin!(serving);
        tokio::select! {
            () = serving.as_mut() => return Ok(()),
            () = self.parts.shutdown.cancelled() => stop.cancel(),
        }
        serving.await;
        Ok(())
    }

    /// Follows whether writes reach the disk: false from a write that did not until it was seen that
    /// they do again.
    pub fn writable(&self) -> watch::Receiver<bool> {
        self.parts.store.writable()
    }

    /// Returns the text of a kubeconfig for the API served at `address`: the administrator's.
    pub fn kubeconfig(&self, address: SocketAddr) -> String {
        kubeconfig(
            address,
            self.parts.authority.certificate(),
            self.parts.auth.admin_token(),
        )
    }

    /// Stops the loops, closes the database and lets go of the data directory. Every handle is of
    /// no use then.
    pub async fn close(self) {
        self.parts.shutdown.cancel();
        self.parts.tasks.close();
        self.parts.tasks.wait().await;
        self.parts.store.close().await;
        drop(self.parts.lock.lock().take());
    }
}
