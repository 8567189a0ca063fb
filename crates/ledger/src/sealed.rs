//! Secrets in columns: sealed at rest, and bound to the row that they are in.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// The beginning of every sealed text: how it is sealed.
const PREFIX: &str = "x1:";
const NONCE_BYTES: usize = 24;
/// The beginning of what is hashed to the id of a key: no other hash of the key begins so.
const ID_LABEL: &[u8] = b"pathline: id of a seal key\0";
const ID_BYTES: usize = 4;
/// The beginning of what is hashed to the key of digests.
const DIGEST_LABEL: &[u8] = b"pathline: digests of secrets\0";

/// The key that seals secrets. It is kept beside the ledger, not in it, and never shown.
#[derive(Clone)]
pub struct SealKey {
    cipher: XChaCha20Poly1305,
    id: String,
    /// The key of digests, from which the key itself does not follow.
    digests: Zeroizing<[u8; 32]>,
}

/// A secret: a password, a token of a registry. It shows itself only when told to.
#[derive(Clone, Eq, PartialEq)]
pub struct SecretText(Zeroizing<String>);

/// The row and column of a secret. A sealed text is of no use in any other.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The table.
    pub table: &'static str,
    /// The column.
    pub column: &'static str,
    /// The name by which the row is known for as long as it is there.
    pub key: &'a str,
}

/// A text that is not sealed with this key for this row.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "a secret in the ledger cannot be opened; it was sealed with another key, or the row was edited \
     by hand"
)]
pub struct NotSealed;

impl SealKey {
    /// Returns the key with these bytes, which are as good as they are random.
    pub fn new(bytes: &[u8; 32]) -> Self {
        let hash = Sha256::new().chain_update(ID_LABEL).chain_update(bytes);
        let hash = hash.finalize();
        let id = hash.iter().take(ID_BYTES);
        let digests = Sha256::new().chain_update(DIGEST_LABEL).chain_update(bytes);
        Self {
            digests: Zeroizing::new(digests.finalize().into()),
            cipher: XChaCha20Poly1305::new(bytes.into()),
            id: id.map(|byte| format!("{byte:02x}")).collect(),
        }
    }

    /// Returns the id of the key, by which another one is noticed. It gives nothing of the key away.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns a digest of secret bytes, in hexadecimal digits. Without the key nobody can try what they may have been, and
    /// the same bytes have the same digest for as long as the key is the same.
    pub fn digest(&self, secret: &[u8]) -> String {
        let mut digest = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(&*self.digests)
            .expect("a key of any length will do");
        digest.update(secret);
        let digest = digest.finalize().into_bytes();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Seals a secret for a column: the same secret looks different each time.
    ///
    /// # Errors
    /// If the system has no randomness to give.
    pub fn seal(&self, secret: &SecretText, row: Row<'_>) -> Result<String, getrandom::Error> {
        // So many bytes that random ones never repeat, however much is sealed with one key.
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce)?;
        let payload = Payload {
            msg: secret.reveal().as_bytes(),
            aad: &row.associated_data(),
        };
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.expect("a text in memory is shorter than the cipher can take");
        let bytes = [nonce.as_slice(), &sealed].concat();
        Ok(format!("{PREFIX}{}", STANDARD_NO_PAD.encode(bytes)))
    }

    /// Opens what a column holds.
    ///
    /// # Errors
    /// If it was sealed with another key, for another row or column, or has been changed since.
    pub fn open(&self, sealed: &str, row: Row<'_>) -> Result<SecretText, NotSealed> {
        let text = sealed.strip_prefix(PREFIX).ok_or(NotSealed)?;
        let bytes = STANDARD_NO_PAD.decode(text).map_err(|_| NotSealed)?;
        let (nonce, sealed) = bytes.split_first_chunk().ok_or(NotSealed)?;
        let payload = Payload {
            msg: sealed,
            aad: &row.associated_data(),
        };
        let nonce: &[u8; NONCE_BYTES] = nonce;
        let opened = self.cipher.decrypt(&XNonce::from(*nonce), payload);
        let opened = opened.map_err(|_| NotSealed)?;
        let text = String::from_utf8(opened).map_err(|_| NotSealed)?;
        Ok(SecretText::new(text))
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey(…)")
    }
}

impl SecretText {
    /// Takes a secret over; its memory is cleared when it is dropped.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(Zeroizing::new(secret.into()))
    }

    /// Returns the secret, for the one who has to send it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText(…)")
    }
}

impl Row<'_> {
    /// Each part with its length before it, so that no two rows give the same bytes.
    fn associated_data(self) -> Vec<u8> {
        let parts = [self.table, self.column, self.key];
        let parts =
            parts.map(|part| [&(part.len() as u64).to_le_bytes(), part.as_bytes()].concat());
        parts.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: Row<'static> = Row {
        table: "tracker",
        column: "token",
        key: "shop.web",
    };

    fn key(byte: u8) -> SealKey {
        SealKey::new(&[byte; 32])
    }

    fn sealed(secret: &str) -> String {
        key(1).seal(&SecretText::new(secret), ROW).unwrap()
    }

    #[test]
    fn sealed_secret_is_opened_with_its_key() {
        for secret in ["s3cret", "", "ä\0\n", &"x".repeat(100_000)] {
            let sealed = sealed(secret);
            assert!(sealed.is_ascii());
            assert_eq!(key(1).open(&sealed, ROW).unwrap().reveal(), secret);
        }
    }

    #[test]
    fn sealed_text_hides_the_secret_and_that_two_are_equal() {
        let (one, other) = (sealed("s3cret"), sealed("s3cret"));
        assert_ne!(one, other);
        assert!(!one.contains("s3cret"));
        assert!(!one.contains(&STANDARD_NO_PAD.encode("s3cret")));
    }

    #[test]
    fn wrong_key_opens_nothing() {
        assert_eq!(key(2).open(&sealed("s3cret"), ROW), Err(NotSealed));
    }

    #[test]
    fn secret_of_another_row_or_column_is_not_opened() {
        let sealed = sealed("s3cret");
        let others = [
            Row {
                key: "shop.db",
                ..ROW
            },
            Row {
                column: "password",
                ..ROW
            },
            Row {
                table: "registry",
                ..ROW
            },
            // The same letters, cut at other places.
            Row {
                table: "trackert",
                column: "oken",
                ..ROW
            },
        ];
        for other in others {
            assert_eq!(key(1).open(&sealed, other), Err(NotSealed), "{other:?}");
        }
    }

    #[test]
    fn damaged_text_is_not_opened() {
        let whole = sealed("s3cret");
        for length in 0..whole.len() {
            assert_eq!(
                key(1).open(&whole[..length], ROW),
                Err(NotSealed),
                "{length}"
            );
        }
        for index in PREFIX.len()..whole.len() {
            let mut text = whole.clone().into_bytes();
            text[index] = if text[index] == b'A' { b'B' } else { b'A' };
            let text = String::from_utf8(text).unwrap();
            assert_eq!(key(1).open(&text, ROW), Err(NotSealed), "{index}");
        }
        for text in ["s3cret", "x2:", "x1:*", &format!("{whole}AAAA")] {
            assert_eq!(key(1).open(text, ROW), Err(NotSealed), "{text}");
        }
    }

    #[test]
    fn neither_key_nor_secret_shows_itself() {
        let shown = format!("{:?} {:?}", SecretText::new("s3cret"), key(0x41));
        assert_eq!(shown, "SecretText(…) SealKey(…)");
    }

    #[test]
    fn keys_are_told_apart_by_their_ids_for_ever() {
        assert_eq!(key(1).id(), "782f7d55");
        assert_ne!(key(1).id(), key(2).id());
    }

    /// A secret that was sealed once is opened for ever.
    #[test]
    fn secret_that_was_sealed_earlier_is_opened() {
        let earlier = "x1:Iyl7fY99Br0UZqZ0UYGWIwFe5S5ImCzPE8+yZliM7v4XEsnm9x47GDeKGBzkZw";
        assert_eq!(key(1).open(earlier, ROW).unwrap().reveal(), "s3cret");
    }
}
