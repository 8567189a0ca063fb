//! Endpoints: the address of a Pathline, and the token for it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use url::Url;

use super::error::Error;
use super::options::{DEFAULT_DATA_DIR, Options, Secret, ServerUrl};
use crate::api::ServerFile;

/// The most that is read of a file that holds an address or a token.
const MAX_FILE_BYTES: u64 = 64 << 10;

/// The address of a Pathline, and the token for it.
#[derive(Debug)]
pub(super) struct Endpoint {
    pub(super) url: Url,
    pub(super) token: Secret,
    /// The place of the token, in words.
    pub(super) token_from: String,
    /// The data directory that named the address, if one did.
    pub(super) data_dir: Option<PathBuf>,
}

impl Endpoint {
    /// Finds out from the options and the data directory, in this order.
    ///
    /// The token of a data directory is only ever shown to the Pathline that runs on it: an address
    /// that was typed may be anybody's.
    pub(super) fn find(options: &Options) -> Result<Self, Error> {
        let data_dir = options
            .data_dir
            .clone()
            .unwrap_or_else(|| DEFAULT_DATA_DIR.into());
        let local = local_address(&data_dir);
        let (url, is_local) = match (&options.server, local) {
            (Some(typed), Ok(local)) => (typed.as_url().clone(), *typed.as_url() == local),
            (Some(typed), Err(_)) => (typed.as_url().clone(), false),
            (None, local) => (local?, true),
        };
        let (token, token_from) = match (&options.token_file, &options.token) {
            (Some(path), _) => read_token(path)?,
            (None, Some(token)) => (token.clone(), "the variable PATHLINE_TOKEN".to_owned()),
            (None, None) if is_local => read_token(&ServerFile::token_path(&data_dir))?,
            (None, None) => return Err(Error::NoToken { url }),
        };
        Ok(Self {
            url,
            token,
            token_from,
            data_dir: is_local.then_some(data_dir),
        })
    }
}

fn local_address(data_dir: &Path) -> Result<Url, Error> {
    let path = ServerFile::path(data_dir);
    let unreadable = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => Error::NotThere {
            data_dir: data_dir.to_owned(),
        },
        _ => Error::File {
            path: path.clone(),
            source,
        },
    };
    let text = read(&path).map_err(unreadable)?;
    let file = serde_json::from_str::<ServerFile>(&text).ok();
    let url = file.and_then(|file| file.url.parse::<ServerUrl>().ok());
    url.map(|url| url.as_url().clone())
        .ok_or(Error::NoAddress { path })
}

fn read_token(path: &Path) -> Result<(Secret, String), Error> {
    let text = read(path).map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })?;
    Ok((Secret::new(&text), path.display().to_string()))
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?
        .take(MAX_FILE_BYTES)
        .read_to_string(&mut text)?;
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

    fn mk_options(dir: &tempfile::TempDir) -> Options {
        Options {
            data_dir: Some(dir.path().to_owned()),
            ..Options::default()
        }
    }

    #[test]
    fn data_directory_gives_address_and_token() {
        let endpoint = Endpoint::find(&mk_options(&mk_data_dir())).unwrap();
        assert_eq!(endpoint.url.as_str(), "http://127.0.0.1:7701/");
        assert_eq!(endpoint.token.reveal(), "ours");
    }

    #[test]
    fn our_token_is_not_shown_to_another_server() {
        let dir = mk_data_dir();
        let mut options = mk_options(&dir);
        options.server = Some("http://elsewhere.example".parse().unwrap());
        assert!(matches!(
            Endpoint::find(&options),
            Err(Error::NoToken { .. })
        ));
        options.server = Some("http://127.0.0.1:7701".parse().unwrap());
        assert_eq!(Endpoint::find(&options).unwrap().token.reveal(), "ours");
        options.token = Some(Secret::new("typed"));
        assert_eq!(Endpoint::find(&options).unwrap().token.reveal(), "typed");
    }

    #[test]
    fn token_of_a_file_wins_over_the_variable() {
        let dir = mk_data_dir();
        let file = dir.path().join("reader");
        std::fs::write(&file, "read").unwrap();
        let options = Options {
            token: Some(Secret::new("typed")),
            token_file: Some(file),
            ..mk_options(&dir)
        };
        assert_eq!(Endpoint::find(&options).unwrap().token.reveal(), "read");
    }

    #[test]
    fn directory_without_a_pathline_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let error = Endpoint::find(&mk_options(&dir)).unwrap_err();
        assert!(matches!(error, Error::NotThere { .. }), "{error}");
        std::fs::write(ServerFile::path(dir.path()), "{").unwrap();
        let error = Endpoint::find(&mk_options(&dir)).unwrap_err();
        assert!(matches!(error, Error::NoAddress { .. }), "{error}");
    }
}
