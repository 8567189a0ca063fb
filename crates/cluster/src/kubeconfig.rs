//! The file that tells clients where the API is and how to be let in.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Returns a kubeconfig for the API at `address`.
pub(crate) fn kubeconfig(address: SocketAddr, certificate: &str, token: &str) -> String {
    let address = SocketAddr::new(reachable(address.ip()), address.port());
    let certificate = STANDARD.encode(certificate);
    format!(
        "apiVersion: v1
kind: Config
clusters:
- name: pathline
  cluster:
    server: https://{address}
    certificate-authority-data: {certificate}
users:
- name: admin
  user:
    token: {token}
contexts:
- name: pathline
  context:
    cluster: pathline
    user: admin
    namespace: default
current-context: pathline
"
    )
}

/// Returns an address to connect to: a server that listens everywhere is reached on loopback.
fn reachable(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    }
}

#[cfg(test)]
mod tests {
    use kube::config::Kubeconfig;

    use super::*;

    #[test]
    fn clients_can_read_it() {
        let text = kubeconfig("[::]:7443".parse().unwrap(), "PEM", "secret");
        let config = Kubeconfig::from_yaml(&text).unwrap();
        let cluster = config.clusters[0].cluster.as_ref().unwrap();
        assert_eq!(cluster.server.as_deref(), Some("https://[::1]:7443"));
        assert_eq!(cluster.certificate_authority_data.as_deref(), Some("UEVN"));
        assert_eq!(config.current_context.as_deref(), Some("pathline"));
    }
}
