//! Where Pathline is, and with which token it lets us in.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use pathline_server::api::ServerFile;
use url::Url;

use super::error::ClientError;
use crate::cli::{Secret, ServerArgs, ServerUrl};
use crate::settings::DATA_DIR;

/// The most that is read of a file that holds an address or a token.
const LIMIT: u64 = 64 << 10;

/// Where a Pathline is, and how to get in.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) url: Url,
    pub(super) token: Secret,
    /// Where the token was found, in words.
    pub(super) token_from: String,
    /// The data directory that named the address, if one did.
    pub(super) data_dir: Option<PathBuf>,
}

impl Place {
    /// Finds out from arguments, variables and the data directory, in this order.
    ///
    /// The token of a data directory is only ever shown to the Pathline that runs on it: an address
    /// that was typed may be anybody's.
    pub(super) fn find(args: &ServerArgs) -> Result<Self, ClientError> {
        let data_dir = args.data_dir.clone().unwrap_or_else(|| DATA_DIR.into());
        let local = local_address(&data_dir);
        let (url, is_local) = match (&args.server, local) {
            (Some(typed), Ok(local)) => (typed.as_url().clone(), *typed.as_url() == local),
            (Some(typed), Err(_)) => (typed.as_url().clone(), false),
            (None, local) => (local?, true),
        };
        let (token, token_from) = match (&args.token_file, &args.token) {
            (Some(path), _) => read_token(path)?,
            (None, Some(token)) => (token.clone(), "the variable PATHLINE_TOKEN".to_owned()),
            (None, None) if is_local => read_token(&ServerFile::token_path(&data_dir))?,
            (None, None) => return Err(ClientError::NoToken { url }),
        };
        Ok(Self {
            url,
            token,
            token_from,
            data_dir: is_local.then_some(data_dir),
        })
    }
}

fn local_address(data_dir: &Path) -> Result<Url, ClientError> {
    let path = ServerFile::path(data_dir);
    let unreadable = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => ClientError::NotThere {
            data_dir: data_dir.to_owned(),
        },
        _ => ClientError::File {
            path: path.clone(),
            source,
        },
    };
    let text = read(&path).map_err(unreadable)?;
    let file = serde_json::from_str::<ServerFile>(&text).ok();
    let url = file.and_then(|file| file.url.parse::<ServerUrl>().ok());
    url.map(|url| url.as_url().clone())
        .ok_or(ClientError::NoAddress { path })
}

fn read_token(path: &Path) -> Result<(Secret, String), ClientError> {
    let text = read(path).map_err(|source| ClientError::File {
        path: path.to_owned(),
        source,
    })?;
    Ok((Secret::new(&text), path.display().to_string()))
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LIMIT).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mk_data_dir() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let file = r#"{"url":"http://127.0.0.1:7701"}"#;
        std::fs::write(ServerFile::path(dir.path()), file).unwrap();
        std::fs::write(ServerFile::token_path(dir.path()), "ours\n").unwrap();
        dir
    }

    fn args(dir: &tempfile::TempDir) -> ServerArgs {
        ServerArgs {
            data_dir: Some(dir.path().to_owned()),
            ..ServerArgs::default()
        }
    }

    #[test]
    fn data_directory_gives_address_and_token() {
        let place = Place::find(&args(&mk_data_dir())).unwrap();
        assert_eq!(place.url.as_str(), "http://127.0.0.1:7701/");
        assert_eq!(place.token.reveal(), "ours");
    }

    #[test]
    fn our_token_is_not_shown_to_another_server() {
        let dir = mk_data_dir();
        let mut args = args(&dir);
        args.server = Some("http://elsewhere.example".parse().unwrap());
        assert!(matches!(
            Place::find(&args),
            Err(ClientError::NoToken { .. })
        ));
        args.server = Some("http://127.0.0.1:7701".parse().unwrap());
        assert_eq!(Place::find(&args).unwrap().token.reveal(), "ours");
        args.token = Some(Secret::new("typed"));
        assert_eq!(Place::find(&args).unwrap().token.reveal(), "typed");
    }

    #[test]
    fn token_of_a_file_wins_over_the_variable() {
        let dir = mk_data_dir();
        let file = dir.path().join("reader");
        std::fs::write(&file, "read").unwrap();
        let args = ServerArgs {
            token: Some(Secret::new("typed")),
            token_file: Some(file),
            ..args(&dir)
        };
        assert_eq!(Place::find(&args).unwrap().token.reveal(), "read");
    }

    #[test]
    fn directory_without_a_pathline_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let error = Place::find(&args(&dir)).unwrap_err();
        assert!(matches!(error, ClientError::NotThere { .. }), "{error}");
        std::fs::write(ServerFile::path(dir.path()), "{").unwrap();
        let error = Place::find(&args(&dir)).unwrap_err();
        assert!(matches!(error, ClientError::NoAddress { .. }), "{error}");
    }
}
