//! `pathline site`: serves what a manifest names, as the sample application does.

use std::pin::pin;

use tokio_util::sync::CancellationToken;

use crate::cli::{LogArgs, SiteArgs};
use crate::logs::{self, Sink};
use crate::report::{Exit, Failure};
use crate::settings;
use crate::signals::Signals;
use crate::site::{Manifest, Site};

pub(crate) async fn run(args: &SiteArgs, log: &LogArgs) -> Result<Exit, Failure> {
    logs::start(&settings::verbosity(log), Sink::Stderr)?;
    let mut signals = Signals::listen()?;
    let manifest = Manifest::read(&args.manifest)?;
    let site = Site::open(&manifest)?;
    let listener = pathline_server::listen(args.listen.as_str(), "--listen").await?;
    let address = pathline_server::reachable(listener.local_addr()?);
    tracing::info!(
        commit = site.commit(),
        files = site.len(),
        "serving on http://{address}"
    );

    let shutdown = CancellationToken::new();
    let limits = pathline_server::Limits::default();
    let mut server = pin!(pathline_server::serve(
        listener,
        site.router(),
        limits,
        shutdown.clone()
    ));
    tokio::select! {
        () = &mut server => {}
        name = signals.next() => {
            tracing::info!("{name}: stopping");
            shutdown.cancel();
            signals.bound(server).await?;
        }
    }
    Ok(Exit::Yes)
}
