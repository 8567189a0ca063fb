//! `pathline controller`: Pathline on a cluster that is there already, until a signal.

use std::io::{self, Write};

use serde::Serialize;

use crate::cli::settings::verbosity;
use crate::cli::{ControllerArgs, LogArgs};
use crate::terminal::logs::{self, Sink};
use crate::terminal::output::{print_data, say};
use crate::terminal::report::{CommandError, Exit};
use crate::terminal::signals::Signals;
use crate::wiring::controller::Controller;

/// The output of `controller` when it is ready.
#[derive(Serialize)]
struct Ready {
    ready: bool,
    url: String,
    cluster: String,
    webhook: Option<String>,
}

pub(crate) async fn run(args: &ControllerArgs, log: &LogArgs) -> Result<Exit, CommandError> {
    logs::start(&verbosity(log), Sink::Stderr)?;
    let mut signals = Signals::listen()?;
    let mut controller = tokio::select! {
        started = Controller::start(args) => started?,
        name = signals.next() => {
            tracing::info!("{name} before the start was complete: stopping");
            return Ok(Exit::Yes);
        }
    };
    let ready = Ready {
        ready: true,
        url: format!("http://{}", controller.listen()),
        cluster: controller.cluster().to_owned(),
        webhook: controller
            .webhook()
            .map(|address| format!("https://{address}")),
    };
    print_data(args.output.format, &ready, |out| ready.write_text(out))?;

    tokio::select! {
        failure = controller.broken() => {
            signals.bound(controller.stop()).await?;
            Err(failure)
        }
        name = signals.next() => {
            say(&format!("{name}: stopping; once more to stop at once"));
            signals.bound(controller.stop()).await?;
            Ok(Exit::Yes)
        }
    }
}

impl Ready {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "ready")?;
        writeln!(out, "  Pathline    {}", self.url)?;
        writeln!(out, "  Kubernetes  {}", self.cluster)?;
        match &self.webhook {
            Some(webhook) => writeln!(out, "  webhook     {webhook}"),
            None => Ok(()),
        }
    }
}
