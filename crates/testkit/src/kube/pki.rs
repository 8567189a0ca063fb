//! Keys, certificates and tokens of a throw-away control plane.

use std::path::{Path, PathBuf};

use anyhow::Result;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};
use uuid::Uuid;

/// Files for the flags of kube-apiserver and kube-controller-manager.
#[derive(Debug)]
pub(super) struct Pki {
    directory: PathBuf,
    ca_pem: String,
    admin_token: String,
}

impl Pki {
    /// Makes a CA with a server certificate for loopback, a key that signs service-account tokens
    /// and one static token for an administrator.
    pub(super) fn create(directory: &Path) -> Result<Self> {
        let ca = CertifiedIssuer::self_signed(ca_params()?, KeyPair::generate()?)?;
        let server_key = KeyPair::generate()?;
        let server = server_params()?.signed_by(&server_key, &ca)?;
        let signing_key = KeyPair::generate()?;
        let admin_token = Uuid::new_v4().simple().to_string();

        std::fs::create_dir_all(directory)?;
        let pki = Self {
            directory: directory.to_path_buf(),
            ca_pem: ca.pem(),
            admin_token,
        };
        std::fs::write(pki.ca(), &pki.ca_pem)?;
        std::fs::write(pki.server_certificate(), server.pem())?;
        std::fs::write(pki.server_key(), server_key.serialize_pem())?;
        std::fs::write(pki.account_private_key(), signing_key.serialize_pem())?;
        std::fs::write(pki.account_public_key(), signing_key.public_key_pem())?;
        let users = format!("{},admin,admin,\"system:masters\"\n", pki.admin_token);
        std::fs::write(pki.tokens(), users)?;
        Ok(pki)
    }

    pub(super) fn ca(&self) -> PathBuf {
        self.directory.join("ca.crt")
    }

    pub(super) fn server_certificate(&self) -> PathBuf {
        self.directory.join("server.crt")
    }

    pub(super) fn server_key(&self) -> PathBuf {
        self.directory.join("server.key")
    }

    pub(super) fn account_private_key(&self) -> PathBuf {
        self.directory.join("accounts.key")
    }

    pub(super) fn account_public_key(&self) -> PathBuf {
        self.directory.join("accounts.pub")
    }

    pub(super) fn tokens(&self) -> PathBuf {
        self.directory.join("tokens.csv")
    }

    /// Returns the kubeconfig of the administrator for the server on this port of loopback.
    pub(super) fn kubeconfig(&self, port: u16) -> String {
        serde_json::json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "real", "cluster": {
                "server": format!("https://127.0.0.1:{port}"),
                "certificate-authority": self.ca(),
            }}],
            "users": [{"name": "admin", "user": {"token": self.admin_token}}],
            "contexts": [{"name": "real", "context": {
                "cluster": "real", "user": "admin", "namespace": "default",
            }}],
            "current-context": "real",
        })
        .to_string()
    }
}

fn ca_params() -> Result<CertificateParams> {
    let mut params = CertificateParams::new(Vec::new())?;
    params
        .distinguished_name
        .push(DnType::CommonName, "pathline test CA");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::DigitalSignature,
    ];
    Ok(params)
}

fn server_params() -> Result<CertificateParams> {
    let names = [
        "127.0.0.1",
        "10.0.0.1",
        "localhost",
        "kubernetes.default.svc",
    ];
    let mut params = CertificateParams::new(names.map(String::from))?;
    params
        .distinguished_name
        .push(DnType::CommonName, "kube-apiserver");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    Ok(params)
}
