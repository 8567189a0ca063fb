//! `pathline demo`: everything in one place, for somebody who wants to see it first.

use std::time::Duration;

use crate::cli::settings;
use crate::cli::settings::TrackerSettings;
use crate::cli::{Address, DemoArgs, LogArgs};
use crate::demo::{Display, Performance, Scene};
use crate::terminal::logs::{self, Sink};
use crate::terminal::output::{print_data, say};
use crate::terminal::report::{CommandError, Exit};
use crate::terminal::signals::Signals;
use crate::wiring::admission::Mode;
use crate::wiring::instance::{Instance, Options};

pub(crate) async fn run(args: &DemoArgs, log: &LogArgs) -> Result<Exit, CommandError> {
    let timeout = Duration::try_from(args.timeout).map_err(|_| {
        CommandError::new("`--timeout` must not be negative").with_exit(Exit::Usage)
    })?;
    let mut signals = Signals::listen()?;
    let mut scene = Scene::open(args.dir.as_deref())?;
    logs::start(
        &settings::file_verbosity(log),
        Sink::File(scene.create_log()?),
    )?;
    let outcome = perform(args, timeout, &mut scene, &mut signals).await;
    if outcome.is_err() && scene.is_temporary() {
        say(&format!(
            "everything is still in {}",
            scene.root().display()
        ));
        scene.keep();
    }
    scene.close()?;
    outcome
}

/// Starts an instance, plays on it and stops it, whatever happens in between.
async fn perform(
    args: &DemoArgs,
    timeout: Duration,
    scene: &mut Scene,
    signals: &mut Signals,
) -> Result<Exit, CommandError> {
    let display = Display::new();
    display.line(&format!("Setting up in {}", scene.root().display()));
    display.doing("starting Pathline");
    // Not cut short by a signal: it takes a moment, and the directory is removed after it.
    let mut instance = Instance::start(&options(scene)).await?;
    scene.release_site();
    let shown = tokio::select! {
        outcome = show(args, timeout, scene, &display, &mut instance) => outcome,
        name = signals.next() => {
            display.rest();
            say(&format!("{name}: stopping; once more to stop at once"));
            // Whoever asked for two commits has not got them.
            Ok(if args.once { Exit::No } else { Exit::Yes })
        }
    };
    display.rest();
    let stopped = signals.bound(instance.stop()).await;
    shown.and_then(|exit| stopped.map(|()| exit))
}

/// Shows two commits arrive and prints what came of it; then, unless asked not to, goes on.
async fn show(
    args: &DemoArgs,
    timeout: Duration,
    scene: &Scene,
    display: &Display,
    instance: &mut Instance,
) -> Result<Exit, CommandError> {
    let mut performance = Performance::new(scene, display, instance.client());
    tokio::select! {
        played = performance.play(timeout) => played?,
        failure = instance.broken() => return Err(failure),
    }
    let summary = performance.summary(instance);
    print_data(args.output.format, &summary, |out| {
        if args.once {
            summary.write_text(out)
        } else {
            summary.write_invitation(out)
        }
    })?;
    if args.once {
        return Ok(Exit::Yes);
    }
    let fate = if scene.is_temporary() {
        "removes everything"
    } else {
        "stops it"
    };
    say(&format!("\nCtrl-C {fate}."));
    tokio::select! {
        failure = performance.encore() => Err(failure),
        failure = instance.broken() => Err(failure),
    }
}

fn options(scene: &Scene) -> Options {
    let any_free: Address = "127.0.0.1:0".parse().expect("it is an address");
    Options {
        trackers: TrackerSettings::default(),
        data_dir: scene.data_dir(),
        adopt: false,
        listen: any_free.clone(),
        kube_listen: any_free,
        admission: Mode::Enforce,
        ytt: None,
        ledger: None,
    }
}
