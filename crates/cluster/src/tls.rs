//! The certificates of the served API.
//!
//! The data directory keeps a certificate authority of its own, which clients are told to trust.
//! The server's certificate is signed by it, lives in memory only, and is made anew long before it
//! expires. They are two, because a server certificate that is its own authority is refused by
//! rustls.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use jiff::{Timestamp, ToSpan};
use parking_lot::Mutex;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use crate::secrets;

/// How many days a server certificate is good for, and after how many it is replaced.
const LEAF_DAYS: i64 = 90;
const RENEW_DAYS: i64 = 30;

/// Why there is no certificate.
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

/// The certificate authority of one data directory.
pub(crate) struct Authority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// Reads the authority of a data directory, making it first if there is none.
    ///
    /// # Errors
    /// When a file cannot be read or written, or is damaged.
    pub(crate) fn open(data_dir: &Path) -> Result<Self, Error> {
        let [key_path, certificate_path] =
            ["ca.key", "ca.crt"].map(|name| data_dir.join("pki").join(name));
        if !key_path.exists() {
            // A certificate without its key is of no use, and would not fit the next key.
            let _ = std::fs::remove_file(&certificate_path);
        }
        let new_key = KeyPair::generate()?.serialize_pem();
        let key = KeyPair::from_pem(&secrets::read_or_create(&key_path, || new_key)?)?;
        let new_certificate = authority_params()?.self_signed(&key)?.pem();
        let certificate = secrets::read_or_create(&certificate_path, || new_certificate)?;
        Ok(Self {
            certificate,
            issuer: Issuer::new(authority_params()?, key),
        })
    }

    /// Returns the certificate clients have to trust, as PEM text.
    pub(crate) fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Returns what a server that listens on `address` needs.
    ///
    /// # Errors
    /// When no certificate can be made.
    pub(crate) fn server_config(self: &Arc<Self>, address: IpAddr) -> Result<ServerConfig, Error> {
        let leaves = Leaves::new(Arc::clone(self), address, Timestamp::now())?;
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(leaves));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }

    /// Makes a server certificate for `address` and every name of this machine's loopback.
    fn leaf(&self, address: IpAddr, now: Timestamp) -> Result<CertifiedKey, Error> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(vec![
            "localhost".to_owned(),
            "127.0.0.1".to_owned(),
            "::1".to_owned(),
            "kubernetes.default.svc".to_owned(),
        ])?;
        if !address.is_unspecified() && !address.is_loopback() {
            params.subject_alt_names.push(SanType::IpAddress(address));
        }
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
    address: IpAddr,
    current: Mutex<Leaf>,
}

struct Leaf {
    certificate: Arc<CertifiedKey>,
    made: Timestamp,
}

impl Leaves {
    fn new(authority: Arc<Authority>, address: IpAddr, now: Timestamp) -> Result<Self, Error> {
        let certificate = Arc::new(authority.leaf(address, now)?);
        Ok(Self {
            authority,
            address,
            current: Mutex::new(Leaf {
                certificate,
                made: now,
            }),
        })
    }

    fn at(&self, now: Timestamp) -> Arc<CertifiedKey> {
        let mut leaf = self.current.lock();
        if now.duration_since(leaf.made).as_hours() >= RENEW_DAYS * 24 {
            match self.authority.leaf(self.address, now) {
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
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl ResolvesServerCert for Leaves {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.at(Timestamp::now()))
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
        let leaves = Leaves::new(authority, [127, 0, 0, 1].into(), start).unwrap();
        let first = leaves.at(start);
        let days = |count: i64| start + SignedDuration::from_hours(24 * count);
        assert!(Arc::ptr_eq(&first, &leaves.at(days(RENEW_DAYS - 1))));
        let second = leaves.at(days(RENEW_DAYS));
        assert_ne!(first.cert, second.cert, "it is replaced");
        assert!(
            Arc::ptr_eq(&second, &leaves.at(days(RENEW_DAYS + 1))),
            "and then kept"
        );
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
