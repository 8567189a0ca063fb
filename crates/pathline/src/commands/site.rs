//! `pathline site`: serves what a manifest names, as the sample application does.

use std::pin::pin;

use tokio_util::sync::CancellationToken;

use crate::cli::settings;
use crate::cli::{LogArgs, SiteArgs};
use crate::demo::site::{Manifest, Site};
use crate::terminal::logs::{self, Sink};
use crate::terminal::report::{CommandError, Exit};
use crate::terminal::signals::Signals;

pub(crate) async fn run(args: &SiteArgs, log: &LogArgs) -> Result<Exit, CommandError> {
    logs::start(&settings::verbosity(log), Sink::Stderr)?;
    let mut signals = Signals::listen()?;
    let site = match (&args.manifest, &args.text) {
        (Some(manifest), _) => Site::open(&Manifest::read(manifest)?)?,
        (None, text) => Site::of_text(text.as_deref().unwrap_or_default()),
    };
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
