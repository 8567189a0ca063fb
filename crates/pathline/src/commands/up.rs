//! `pathline up`: Pathline on a data directory, until a signal.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use crate::cli::settings::UpSettings;
use crate::cli::{LogArgs, UpArgs};
use crate::terminal::logs::{self, Sink};
use crate::terminal::output::{Format, print_data, say};
use crate::terminal::report::{CommandError, Exit};
use crate::terminal::signals::Signals;
use crate::wiring::instance::{Instance, Options};

/// The output of `up` when it is ready.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ready {
    ready: bool,
    url: String,
    kubernetes: String,
    kubeconfig: PathBuf,
    data_dir: PathBuf,
}

pub(crate) async fn run(args: &UpArgs, log: &LogArgs) -> Result<Exit, CommandError> {
    let settings = UpSettings::resolve(args, log)?;
    logs::start(&settings.verbosity, Sink::Stderr)?;
    let mut signals = Signals::listen()?;
    let options = Options {
        data_dir: settings.data_dir,
        adopt: args.adopt,
        listen: settings.listen,
        kube_listen: settings.kube_listen,
        admission: settings.admission,
        ytt: settings.ytt,
        ledger: settings.ledger,
        trackers: settings.trackers,
    };
    let mut instance = tokio::select! {
        started = Instance::start(&options) => started?,
        name = signals.next() => {
            tracing::info!("{name} before the start was complete: stopping");
            return Ok(Exit::Yes);
        }
    };
    let outcome = tokio::select! {
        failure = go_on(&mut instance, args.output.format) => Err(failure),
        name = signals.next() => {
            say(&format!("{name}: stopping; once more to stop at once"));
            Ok(Exit::Yes)
        }
    };
    signals.bound(instance.stop()).await?;
    outcome
}

/// Says when it is ready, and then waits until something breaks.
async fn go_on(instance: &mut Instance, format: Format) -> CommandError {
    if let Err(failure) = instance.prepared().await {
        return failure;
    }
    let ready = Ready::of(instance);
    match print_data(format, &ready, |out| ready.write_text(out)) {
        Ok(()) => instance.broken().await,
        Err(error) => error.into(),
    }
}

impl Ready {
    fn of(instance: &Instance) -> Self {
        Self {
            ready: true,
            url: format!("http://{}", instance.listen()),
            kubernetes: format!("https://{}", instance.kube_listen()),
            kubeconfig: instance.kubeconfig().to_owned(),
            data_dir: instance.data_dir().to_owned(),
        }
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "ready")?;
        writeln!(out, "  Pathline    {}", self.url)?;
        writeln!(out, "  Kubernetes  {}", self.kubernetes)?;
        writeln!(out, "  kubeconfig  {}", self.kubeconfig.display())
    }
}
