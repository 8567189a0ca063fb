//! Arguments that say which Pathline a command asks.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use pathline_client::{Options, Secret, ServerUrl};

/// Arguments that say how to reach a Pathline that runs; for every command that asks one.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Which Pathline")]
pub(crate) struct ServerArgs {
    /// The address of Pathline, such as http://127.0.0.1:7700 [default: the one that runs on the data directory]
    #[arg(
        long,
        env = "PATHLINE_SERVER",
        hide_env_values = true,
        value_name = "URL"
    )]
    pub(crate) server: Option<ServerUrl>,

    /// Read the token from this file [default: the variable PATHLINE_TOKEN, or the data directory]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) token_file: Option<PathBuf>,

    // Hidden, for other users of the machine can read the arguments of a process, but not its
    // variables.
    #[arg(long, env = "PATHLINE_TOKEN", hide_env_values = true, hide = true)]
    pub(crate) token: Option<Secret>,

    /// The data directory of a Pathline on this machine [default: .pathline]
    #[arg(long, env = "PATHLINE_DATA_DIR", hide_env_values = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data_dir: Option<PathBuf>,
}

impl ServerArgs {
    /// Returns the same for the client.
    pub(crate) fn options(&self) -> Options {
        Options {
            server: self.server.clone(),
            token_file: self.token_file.clone(),
            token: self.token.clone(),
            data_dir: self.data_dir.clone(),
        }
    }
}
