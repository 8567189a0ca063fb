//! The certificates of a server that nobody else vouches for.
//!
//! There is a certificate authority, which is kept and which clients are told to trust. The server's
//! certificate is signed by it, lives in memory only, and is made anew long before it expires. They
//! are two, because a server certificate that is its own authority is refused by rustls.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use jiff::{Timestamp, ToSpan};
use parking_lot::Mutex;
use pathline_clock::Clock;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use crate::secrets;

/// The number of days a server certificate is good for, and after how many it is replaced.
const LEAF_DAYS: i64 = 90;
const RENEW_DAYS: i64 = 30;

/// The reason for which there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] secrets::Error),
    /// A key or a certificate cannot be made, or the stored one is damaged.
    #[error(
        "cannot make a certificate; if a file in the directory `pki` is damaged, remove \
         `ca.crt` and `ca.key` there and every kubeconfig made from them"
    )]
    Certificate(#[from] rcgen::Error),
    /// The certificate was made but cannot be used.
    #[error("cannot use the certificate")]
    Tls(#[from] rustls::Error),
}

/// A certificate authority, and its key.
pub struct Authority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// Reads the authority of a data directory, making it first if there is none.
    ///
    /// # Errors
    /// Fails if a file cannot be read or written, or is damaged.
    pub(crate) fn open(data_dir: &Path) -> Result<Self, Error> {
        let [key_path, certificate_path] =
            ["ca.key", "ca.crt"].map(|name| data_dir.join("pki").join(name));
        if secrets::read(&key_path)?.is_none() {
            // A certificate without its key is of no use, and would not fit the next key.
            let _ = std::fs::remove_file(&certificate_path);
        }
        let new_key = KeyPair::generate()?.serialize_pem();
        let key = secrets::read_or_create(&key_path, || new_key)?;
        let new_certificate = self_signed(&KeyPair::from_pem(&key)?)?;
        let certificate = secrets::read_or_create(&certificate_path, || new_certificate)?;
        Self::from_pem(certificate, &key)
    }

    /// Makes a new authority. Returns its certificate and its key, both as PEM text, to be kept.
    ///
    /// # Errors
    /// Fails if the system has no randomness to give.
    pub fn generate() -> Result<(String, String), Error> {
        let key = KeyPair::generate()?;
        Ok((self_signed(&key)?, key.serialize_pem()))
    }

    /// Takes an authority from where it was kept.
    ///
    /// # Errors
    /// Fails if the key is damaged.
    pub fn from_pem(certificate: String, key: &str) -> Result<Self, Error> {
        Ok(Self {
            certificate,
            issuer: Issuer::new(authority_params()?, KeyPair::from_pem(key)?),
        })
    }

    /// Returns the certificate clients have to trust, as PEM text.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Returns what a server needs that clients know by `names`, which may be addresses. Its certificate is replaced
    /// in time, by `clock`.
    ///
    /// # Errors
    /// Fails if no certificate can be made.
    pub fn server_config(
        self: &Arc<Self>,
        names: Vec<String>,
        clock: Clock,
    ) -> Result<ServerConfig, Error> {
        let leaves = Leaves::new(Arc::clone(self), names, clock)?;
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(leaves));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }

    fn leaf(&self, names: Vec<String>, now: Timestamp) -> Result<CertifiedKey, Error> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(names)?;
        params
            .distinguished_name
            .push(DnType::CommonName, "pathline");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        // A day back, for clients whose clocks are a little behind.
        let (year, month, day_of_month) = day(now, -1);
        params.not_before = rcgen::date_time_ymd(year, month, day_of_month);
        let (year, month, day_of_month) = day(now, LEAF_DAYS);
        params.not_after = rcgen::date_time_ymd(year, month, day_of_month);
        let certificate = params.signed_by(&key, &self.issuer)?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let key = aws_lc_rs::sign::any_supported_type(&key)?;
        Ok(CertifiedKey::new(vec![certificate.der().clone()], key))
    }
}

/// Returns the names of an API that listens on `address`: it, and every name of this machine's loopback.
pub(crate) fn names_of(address: IpAddr) -> Vec<String> {
    let known = ["localhost", "127.0.0.1", "::1", "kubernetes.default.svc"];
    let mut names = known.map(str::to_owned).to_vec();
    if !address.is_unspecified() && !address.is_loopback() {
        names.push(address.to_string());
    }
    names
}

fn self_signed(key: &KeyPair) -> Result<String, rcgen::Error> {
    Ok(authority_params()?.self_signed(key)?.pem())
}

fn authority_params() -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(Vec::new())?;
    params
        .distinguished_name
        .push(DnType::CommonName, "pathline-ca");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    // It outlives the data directory: replacing it would break every kubeconfig handed out.
    params.not_before = rcgen::date_time_ymd(2020, 1, 1);
    params.not_after = rcgen::date_time_ymd(2199, 12, 31);
    Ok(params)
}

/// Returns year, month and day of the day `days` after `now`.
fn day(now: Timestamp, days: i64) -> (i32, u8, u8) {
    let date = now
        .to_zoned(jiff::tz::TimeZone::UTC)
        .date()
        .saturating_add(days.days());
    (
        date.year().into(),
        date.month().unsigned_abs(),
        date.day().unsigned_abs(),
    )
}

/// Hands out the server certificate, replacing it in time.
struct Leaves {
    authority: Arc<Authority>,
    names: Vec<String>,
    clock: Clock,
    current: Mutex<Leaf>,
}

struct Leaf {
    certificate: Arc<CertifiedKey>,
    made: Timestamp,
}

impl Leaves {
    fn new(authority: Arc<Authority>, names: Vec<String>, clock: Clock) -> Result<Self, Error> {
        let now = clock.now();
        let certificate = Arc::new(authority.leaf(names.clone(), now)?);
        Ok(Self {
            authority,
            names,
            clock,
            current: Mutex::new(Leaf {
                certificate,
                made: now,
            }),
        })
    }

    fn certificate(&self) -> Arc<CertifiedKey> {
        let now = self.clock.now();
        let mut leaf = self.current.lock();
        if now.duration_since(leaf.made).as_hours() >= RENEW_DAYS * 24 {
            match self.authority.leaf(self.names.clone(), now) {
                Ok(certificate) => {
                    *leaf = Leaf {
                        certificate: Arc::new(certificate),
                        made: now,
                    };
                }
                // The old one is good for weeks; the next connection tries again.
                Err(error) => tracing::warn!(%error, "cannot renew the server certificate"),
            }
        }
        Arc::clone(&leaf.certificate)
    }
}

impl std::fmt::Debug for Leaves {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Leaves")
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

impl ResolvesServerCert for Leaves {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.certificate())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use jiff::SignedDuration;

    use super::*;

    fn mk_authority() -> (Arc<Authority>, tempfile::TempDir) {
        let directory = tempfile::tempdir().unwrap();
        secrets::make_dir(&directory.path().join("pki")).unwrap();
        (
            Arc::new(Authority::open(directory.path()).unwrap()),
            directory,
        )
    }

    #[test]
    fn the_authority_is_kept_and_its_key_is_private() {
        let (authority, directory) = mk_authority();
        let again = Authority::open(directory.path()).unwrap();
        assert_eq!(again.certificate(), authority.certificate());
        let key = directory.path().join("pki/ca.key");
        assert_eq!(key.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn the_server_certificate_is_replaced_long_before_it_expires() {
        let (authority, _directory) = mk_authority();
        let start = Timestamp::now();
        let clock = Clock::standing(start);
        let names = names_of([127, 0, 0, 1].into());
        let leaves = Leaves::new(authority, names, clock.clone()).unwrap();
        let after = |days: i64| {
            clock.set(start + SignedDuration::from_hours(24 * days));
            leaves.certificate()
        };
        let first = after(0);
        assert!(Arc::ptr_eq(&first, &after(RENEW_DAYS - 1)));
        let second = after(RENEW_DAYS);
        assert_ne!(first.cert, second.cert, "it is replaced");
        assert!(
            Arc::ptr_eq(&second, &after(RENEW_DAYS + 1)),
            "and then kept"
        );
    }

    #[test]
    fn an_authority_is_the_same_wherever_it_was_kept() {
        let (certificate, key) = Authority::generate().unwrap();
        let authority = Authority::from_pem(certificate.clone(), &key).unwrap();
        assert_eq!(authority.certificate(), certificate);
        let names = names_of([192, 0, 2, 1].into());
        assert_eq!(names.last().map(String::as_str), Some("192.0.2.1"));
        let config = Arc::new(authority).server_config(names, Clock::system());
        config.unwrap();
        assert!(Authority::from_pem(certificate, "garbage").is_err());
    }

    #[test]
    fn a_damaged_key_is_reported_not_replaced() {
        let (_, directory) = mk_authority();
        let path = directory.path().join("pki/ca.key");
        std::fs::write(&path, "garbage").unwrap();
        assert!(matches!(
            Authority::open(directory.path()),
            Err(Error::Certificate(_))
        ));
        assert_eq!(std::fs::read_to_string(path).unwrap(), "garbage");
    }
}
