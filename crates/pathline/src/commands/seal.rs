//! `pathline seal`: the key by which secrets are sealed.

use std::path::PathBuf;

use anyhow::Context as _;
use pathline_ledger::{Ledger, Location};
use serde_json::json;

use crate::cli::settings::DATA_DIR;
use crate::cli::{RotateArgs, SealCommand};
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
    }
}

async fn rotate(args: &RotateArgs) -> Result<Exit, CommandError> {
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
    let path = args
        .seal_key
        .clone()
        .unwrap_or_else(|| data_dir.join(seal_key::FILE));
    let ledger = Ledger::open(&location)
        .await
        .context("cannot open the ledger")?;
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
