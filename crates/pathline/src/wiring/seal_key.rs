//! The key that seals secrets: given, or kept in the data directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use pathline_ledger::{Error, Ledger, SealKey};

use crate::terminal::report::{CommandError, Exit};
use crate::wiring::private;

/// The file name of the key in the data directory.
pub(crate) const FILE: &str = "seal.key";
/// The number of bytes of a key.
const BYTES: usize = 32;

/// The advice where the key is not the one that secrets are sealed with, or is not there.
const PUT_BACK: &str = "put the copy of the key back, or give it with --seal-key or PATHLINE_SEAL_KEY; docs/trackers.md \
                        says what to do if it is lost (`pathline seal reset`). Where nothing is sealed yet, `pathline seal new` makes one";

/// A key as text: 64 hexadecimal digits.
pub(crate) struct KeyText(zeroize::Zeroizing<String>);

/// The place that a key comes from.
#[derive(Debug, Clone)]
pub(crate) enum KeySource {
    /// A file that somebody has made.
    File(PathBuf),
    /// A text, from the environment.
    Text(pathline_client::Secret),
    /// The data directory, where one is made if there is none.
    DataDir(PathBuf),
    /// Nobody has given one, and others share the ledger.
    None,
}

impl KeyText {
    /// Makes a key.
    pub(crate) fn random() -> anyhow::Result<Self> {
        let mut bytes = zeroize::Zeroizing::new([0_u8; BYTES]);
        getrandom::fill(&mut *bytes).context("the system has no random numbers to give")?;
        let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
        Ok(Self(zeroize::Zeroizing::new(digits.collect())))
    }

    /// Reads a key; nothing if it is none.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_key = text.len() == 2 * BYTES && text.bytes().all(|it| it.is_ascii_hexdigit());
        is_key.then(|| Self(zeroize::Zeroizing::new(text.to_owned())))
    }

    /// Returns the digits.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the key itself.
    pub(crate) fn key(&self) -> SealKey {
        let mut bytes = zeroize::Zeroizing::new([0_u8; BYTES]);
        for (byte, pair) in bytes.iter_mut().zip(self.0.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).unwrap_or_default();
            *byte = u8::from_str_radix(pair, 16).expect("they are hexadecimal digits");
        }
        SealKey::new(&bytes)
    }
}

/// Gives the ledger the key to seal with, if there is one.
pub(crate) async fn give(ledger: Ledger, source: &KeySource) -> Result<Ledger, CommandError> {
    let path = match source {
        KeySource::None => return Ok(ledger),
        KeySource::Text(text) => {
            let key = KeyText::read(text.reveal()).ok_or_else(|| malformed("PATHLINE_SEAL_KEY"))?;
            return ledger.with_seal_key(key.key()).await.map_err(explain);
        }
        KeySource::File(path) => path.clone(),
        KeySource::DataDir(data_dir) => {
            let path = data_dir.join(FILE);
            if !path.exists() && !next(&path).exists() {
                // It is kept only if nothing is sealed with a key that was lost: it would hide that.
                let key = KeyText::random()?;
                let ledger = ledger.with_seal_key(key.key()).await.map_err(explain)?;
                private::write(&path, &format!("{}\n", key.reveal()))
                    .context("cannot keep the key that seals secrets")?;
                return Ok(ledger);
            }
            path
        }
    };
    let key = from_file(&path)?;
    match ledger.clone().with_seal_key(key.key()).await {
        // A rotation that was interrupted has sealed everything with the next key.
        Err(Error::WrongSealKey { .. }) if next(&path).exists() => {
            let key = from_file(&next(&path))?;
            let ledger = ledger.with_seal_key(key.key()).await.map_err(explain)?;
            finish_rotation(&path)?;
            Ok(ledger)
        }
        given => given.map_err(explain),
    }
}

/// Tells whether what is sealed can be opened with the key in a file, or the next one of a rotation that was interrupted.
pub(crate) async fn opens(ledger: &Ledger, path: &Path) -> bool {
    for path in [path.to_owned(), next(path)] {
        if let Ok(key) = from_file(&path)
            && ledger.clone().with_seal_key(key.key()).await.is_ok()
        {
            return true;
        }
    }
    false
}

/// Seals everything with another key, which takes the place of the one in a file; returns how many secrets there are.
///
/// The next key is written down before anything is sealed with it, and both are kept until the one has taken the place of
/// the other, so that there is a key for the ledger at any moment.
pub(crate) async fn rotate(ledger: &Ledger, path: &Path) -> Result<u64, CommandError> {
    let old = from_file(path)?;
    let next = next(path);
    let new = match next.exists() {
        // An earlier rotation was interrupted, before or after it had sealed everything.
        true => from_file(&next)?,
        false => {
            let new = KeyText::random()?;
            private::write(&next, &format!("{}\n", new.reveal()))
                .context("cannot keep the next key")?;
            new
        }
    };
    let count = ledger
        .reseal(&old.key(), &new.key())
        .await
        .map_err(explain)?;
    finish_rotation(path)?;
    Ok(count)
}

fn finish_rotation(path: &Path) -> Result<(), CommandError> {
    fs::rename(next(path), path).context("cannot put the next key into place")?;
    Ok(())
}

/// Returns the file of the key that takes the place of another one.
fn next(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".next");
    name.into()
}

fn from_file(path: &Path) -> Result<KeyText, CommandError> {
    let text = fs::read_to_string(path).map_err(|error| {
        let is_missing = error.kind() == io::ErrorKind::NotFound;
        let failed =
            anyhow::Error::new(error).context(format!("cannot read the key {}", path.display()));
        let failed = CommandError::from(failed).with_exit(Exit::Unknown);
        match is_missing {
            true => failed.with_hint(PUT_BACK),
            false => failed,
        }
    })?;
    KeyText::read(&text).ok_or_else(|| malformed(&path.display().to_string()))
}

fn malformed(place: &str) -> CommandError {
    CommandError::new(format!(
        "{place} holds no key: 64 hexadecimal digits are expected"
    ))
    .with_hint("`pathline seal new` makes one")
    .with_exit(Exit::Usage)
}

fn explain(error: Error) -> CommandError {
    let is_wrong = matches!(error, Error::WrongSealKey { .. });
    let failed = CommandError::from(anyhow::Error::new(error));
    match is_wrong {
        true => failed.with_hint(PUT_BACK),
        false => failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_64_digits_and_no_two_are_the_same() {
        let (one, other) = (KeyText::random().unwrap(), KeyText::random().unwrap());
        assert_eq!(one.reveal().len(), 64);
        assert_ne!(one.reveal(), other.reveal());
        let read = KeyText::read(&format!(" {}\n", one.reveal())).unwrap();
        assert_eq!(read.reveal(), one.reveal());
        for bad in ["", "12", &"g".repeat(64), &"1".repeat(65)] {
            assert!(KeyText::read(bad).is_none(), "{bad}");
        }
    }
}
