//! `pathline seal`: the key by which secrets are sealed.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use pathline_clock::Clock;
use pathline_ledger::trackers::SealedSecrets;
use pathline_ledger::{Ledger, Location};
use serde_json::json;

use crate::cli::settings::DATA_DIR;
use crate::cli::{ResetArgs, RotateArgs, SealCommand};
use crate::terminal::client::{Client, ClientError};
use crate::terminal::output::{print_bytes, print_data};
use crate::terminal::report::{CommandError, Exit};
use crate::wiring::ledger_home;
use crate::wiring::seal_key::{self, KeyText};

pub(crate) async fn run(command: &SealCommand) -> Result<Exit, CommandError> {
    match command {
        SealCommand::New => {
            let key = KeyText::random()?;
            print_bytes(format!("{}\n", key.reveal()).as_bytes())?;
            Ok(Exit::Yes)
        }
        SealCommand::Rotate(args) => rotate(args).await,
        SealCommand::Reset(args) => reset(args).await,
    }
}

async fn rotate(args: &RotateArgs) -> Result<Exit, CommandError> {
    let (ledger, path) = open(args).await?;
    let rotated = seal_key::rotate(&ledger, &path).await;
    ledger.close().await;
    let count = rotated?;
    let answer = json!({"resealed": count, "key": path});
    print_data(args.output.format, &answer, |out| {
        writeln!(
            out,
            "sealed {count} secrets anew; the key is {}",
            path.display()
        )
    })?;
    Ok(Exit::Yes)
}

async fn reset(args: &ResetArgs) -> Result<Exit, CommandError> {
    let (ledger, path) = open(&args.at).await?;
    let forgotten = forget(&ledger, &path, args.forget_secrets).await;
    ledger.close().await;
    let SealedSecrets {
        tokens,
        configurations,
    } = forgotten?;
    let answer = json!({"tokens": tokens, "configurations": configurations});
    print_data(args.at.output.format, &answer, |out| {
        writeln!(
            out,
            "forgot the tokens of {} trackers, and the secrets of {configurations} configurations",
            tokens.len()
        )?;
        for name in &tokens {
            writeln!(
                out,
                "  pathline tracker set {name} --source-token-file FILE"
            )?;
        }
        Ok(())
    })?;
    Ok(Exit::Yes)
}

/// Forgets what is sealed, if that is wanted, and nobody has the key.
async fn forget(
    ledger: &Ledger,
    path: &Path,
    is_wanted: bool,
) -> Result<SealedSecrets, CommandError> {
    let secrets = ledger.trackers().sealed_secrets().await;
    let secrets = secrets.context("cannot read what is sealed")?;
    let is_empty = secrets == SealedSecrets::default();
    if !is_empty && seal_key::opens(ledger, path).await {
        let message = format!(
            "the key {} opens what is sealed; nothing is lost",
            path.display()
        );
        return Err(
            CommandError::new(message).with_hint("`pathline seal rotate` makes another key")
        );
    }
    if !is_wanted {
        let message = format!(
            "this would forget, for good, the tokens of {} trackers ({}) and the secrets of {} configurations",
            secrets.tokens.len(),
            secrets.tokens.join(", "),
            secrets.configurations
        );
        let hint = "if there is a copy of the key, put it back; else say so with --forget-secrets";
        return Err(CommandError::new(message)
            .with_hint(hint)
            .with_exit(Exit::Usage));
    }
    let forgotten = ledger.trackers().forget_secrets(Clock::system().now());
    Ok(forgotten.await.context("cannot forget what is sealed")?)
}

/// Opens the ledger of a Pathline that is stopped; returns it, and the file of the key.
async fn open(args: &RotateArgs) -> Result<(Ledger, PathBuf), CommandError> {
    let data_dir = args.data_dir.clone().unwrap_or_else(|| DATA_DIR.into());
    refuse_while_running(data_dir.clone()).await?;
    let own = Location::File(data_dir.join(ledger_home::FILE));
    let location = args.ledger.location()?.unwrap_or(own);
    if let Location::File(path) = &location
        && !path.exists()
    {
        let message = format!("there is no ledger {}", path.display());
        return Err(CommandError::new(message)
            .with_exit(Exit::Unknown)
            .with_hint("name the data directory with --data-dir, or the ledger with --ledger"));
    }
    let key = args.seal_key.clone();
    let key = key.unwrap_or_else(|| data_dir.join(seal_key::FILE));
    let ledger = Ledger::open(&location)
        .await
        .context("cannot open the ledger")?;
    Ok((ledger, key))
}

/// A Pathline that runs would go on with the old key.
async fn refuse_while_running(data_dir: PathBuf) -> Result<(), CommandError> {
    let options = pathline_client::Options {
        data_dir: Some(data_dir),
        ..pathline_client::Options::default()
    };
    let Ok(client) = Client::find(&options) else {
        return Ok(());
    };
    let answered: Result<serde_json::Value, ClientError> = client.get(&["healthz"], &[]).await;
    match answered {
        Err(ClientError::Unreachable { .. }) => Ok(()),
        _ => Err(CommandError::new("Pathline runs on this data directory")
            .with_hint("stop it first; it would go on with the old key")),
    }
}
