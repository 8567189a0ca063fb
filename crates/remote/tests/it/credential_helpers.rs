//! Programs that know logins, played by scripts.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use pathline_remote::Secret;
use pathline_remote::registry::{CredentialHelpers, DockerConfig, HelperError, RegistryLogin};

use crate::polling::{image, login};

fn script(directory: &Path, name: &str, lines: &str) -> Result<()> {
    let path = directory.join(format!("docker-credential-{name}"));
    std::fs::write(&path, format!("#!/bin/sh\n{lines}\n"))?;
    std::fs::set_permissions(path, Permissions::from_mode(0o755))?;
    Ok(())
}

fn config(name: &str) -> DockerConfig {
    let text = format!("{{\"credsStore\": {name:?}}}");
    DockerConfig::parse(text.as_bytes()).expect("Docker writes it so")
}

#[tokio::test]
async fn program_is_asked_for_the_registry_and_believed() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let answer = r#"[ "$1" = get ] && read -r key; printf '{"ServerURL": "%s", "Username": "bot", "Secret": "for %s"}' "$key" "$key""#;
    script(directory.path(), "good", answer)?;
    let token = r#"printf '{"Username": "<token>", "Secret": "refresh"}'"#;
    script(directory.path(), "token", token)?;
    let unknown = "echo credentials not found in native keychain; exit 1";
    script(directory.path(), "empty", unknown)?;
    let helpers = CredentialHelpers::default().in_directory(directory.path());
    let app = image("r.example:5000", "team/app");
    let found = helpers.login(&config("good"), &app).await?;
    assert_eq!(found, Some(login("bot", "for r.example:5000")));
    let hub = helpers
        .login(&config("good"), &image("docker.io", "a"))
        .await?;
    assert_eq!(hub, Some(login("bot", "for https://index.docker.io/v1/")));
    let found = helpers.login(&config("token"), &app).await?;
    assert_eq!(found, Some(RegistryLogin::Identity(Secret::new("refresh"))));
    assert_eq!(helpers.login(&config("empty"), &app).await?, None);
    Ok(())
}

#[tokio::test]
async fn program_that_fails_hangs_or_talks_too_much_is_given_up() -> Result<()> {
    let directory = tempfile::tempdir()?;
    script(
        directory.path(),
        "failing",
        "echo s3cret; echo s3cret >&2; exit 1",
    )?;
    script(directory.path(), "silent", "exec sleep 1000")?;
    script(directory.path(), "endless", "exec yes s3cret")?;
    script(directory.path(), "nonsense", "echo s3cret")?;
    let helpers = CredentialHelpers::default()
        .in_directory(directory.path())
        .with_timeout(Duration::from_secs(2));
    let app = image("r.example", "app");
    for name in [
        "failing", "silent", "endless", "nonsense", "absent", "../sh", "",
    ] {
        let config = format!("{{\"credHelpers\": {{\"r.example\": {name:?}}}}}");
        let config = DockerConfig::parse(config.as_bytes())?;
        let error = helpers.login(&config, &app).await.unwrap_err();
        let is_expected = match name {
            "silent" => matches!(error, HelperError::TimedOut { .. }),
            "absent" => matches!(error, HelperError::NotRun { .. }),
            "../sh" | "" => matches!(error, HelperError::InvalidName { .. }),
            _ => matches!(error, HelperError::Failed { .. }),
        };
        assert!(is_expected, "{name}: {error}");
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error}");
    }
    Ok(())
}
