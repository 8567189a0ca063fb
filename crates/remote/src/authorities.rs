//! Authorities: whose certificates are believed.

use std::sync::Arc;

use reqwest::{Certificate, Client, ClientBuilder};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};
use rustls_platform_verifier::Verifier;

/// Builds a client that believes the authorities of the machine, and others.
///
/// A minimal system has none of its own. There the client believes the others only: whatever is not encrypted can be asked all
/// the same, and every other host is refused with a word about its certificate.
pub(crate) fn build(
    begin: impl Fn() -> ClientBuilder,
    others: &[Certificate],
) -> Result<Client, reqwest::Error> {
    let of_machine = begin().tls_certs_merge(others.iter().cloned()).build();
    of_machine.or_else(|_| begin().tls_certs_only(others.iter().cloned()).build())
}

/// Returns settings of TLS that believe the authorities of the machine, and others, with the same exception.
///
/// # Errors
///
/// Fails when one of the others, in PEM, cannot be read.
pub(crate) fn tls(others: &[Vec<u8>]) -> Result<ClientConfig, rustls::Error> {
    let unreadable = |_| rustls::Error::General("a certificate cannot be read".to_owned());
    let mut roots = Vec::new();
    for pem in others {
        for certificate in CertificateDer::pem_slice_iter(pem) {
            roots.push(certificate.map_err(unreadable)?);
        }
    }
    let provider = CryptoProvider::get_default().cloned();
    let provider = provider.unwrap_or_else(|| Arc::new(aws_lc_rs::default_provider()));
    let settings = begin_tls(&provider)?;
    match Verifier::new_with_extra_roots(roots.iter().cloned(), provider) {
        Ok(verifier) => Ok(settings
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth()),
        Err(_) => {
            let mut store = RootCertStore::empty();
            for root in roots {
                store.add(root)?;
            }
            Ok(settings.with_root_certificates(store).with_no_client_auth())
        }
    }
}

fn begin_tls(
    provider: &Arc<CryptoProvider>,
) -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, rustls::Error> {
    ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_without_any_authority_can_be_built() {
        // What `build` falls back to, where a machine has no authorities.
        assert!(Client::builder().tls_certs_only(None).build().is_ok());
        assert!(build(Client::builder, &[]).is_ok());
    }
}
