//! Authorities: whose certificates are believed.

use reqwest::{Certificate, Client, ClientBuilder};

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
