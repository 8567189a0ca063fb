//! Authentication: bearer tokens, and tokens of service accounts.

use anyhow::{Context, Result};
use http::{Request, header};
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::api::{DeleteParams, ObjectMeta, PostParams};
use kube::client::{Body, ClientBuilder};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use serde_json::Value;

use super::expect::{eventually, refusal, refused};
use super::requests::Raw;
use super::target::Target;

conformance!(api:
    token_of_an_account_authenticates_until_the_account_is_gone,
    token_of_a_missing_account_is_not_found,
    unknown_tokens_and_none_are_unauthorized,
    token_with_a_nonsense_lifetime_is_refused,
);

fn mk_account(name: &str) -> ServiceAccount {
    ServiceAccount {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        ..ServiceAccount::default()
    }
}

fn mk_request(seconds: Option<i64>) -> TokenRequest {
    TokenRequest {
        spec: Some(TokenRequestSpec {
            expiration_seconds: seconds,
            ..Default::default()
        }),
        ..TokenRequest::default()
    }
}

/// Connects with another token, or with none.
async fn connect(t: &Target, token: Option<&str>) -> Result<Client> {
    let mut kubeconfig = Kubeconfig::read_from(&t.access.kubeconfig)?;
    for user in &mut kubeconfig.auth_infos {
        user.auth_info = Some(serde_json::from_value(serde_json::json!({"token": token}))?);
    }
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(ClientBuilder::try_from(config)?.build())
}

/// Asks for something that every authenticated client may see on a real server too.
async fn code_of_version(client: &Client, path: &str) -> Result<(u16, Value)> {
    let request = Request::get(path)
        .header(header::ACCEPT, "application/json")
        .body(Body::empty())?;
    let response = client.send(request).await?;
    let code = response.status().as_u16();
    let body = response.into_body().collect_bytes().await?;
    Ok((code, serde_json::from_slice(&body).unwrap_or_default()))
}

async fn token_of_an_account_authenticates_until_the_account_is_gone(t: &Target) -> Result<()> {
    let accounts: Api<ServiceAccount> = t.api();
    accounts
        .create(&PostParams::default(), &mk_account("robot"))
        .await?;
    let answer = accounts
        .create_token_request("robot", &PostParams::default(), &mk_request(Some(600)))
        .await?;
    let token = answer
        .status
        .and_then(|status| status.token)
        .context("a token")?;
    assert_eq!(token.split('.').count(), 3, "a signed token");

    let robot = connect(t, Some(&token)).await?;
    assert_eq!(code_of_version(&robot, "/api").await?.0, 200);
    let broken = connect(t, Some(&format!("{token}x"))).await?;
    assert_eq!(code_of_version(&broken, "/api").await?.0, 401);

    accounts.delete("robot", &DeleteParams::default()).await?;
    // A real server remembers for ten seconds who a token belongs to.
    let body = eventually("the end of the token", async || {
        let (code, body) = code_of_version(&robot, "/api").await?;
        Ok((code == 401).then_some(body))
    })
    .await?;
    assert_eq!(body["reason"], "Unauthorized", "{body}");
    accounts
        .create(&PostParams::default(), &mk_account("robot"))
        .await?;
    assert_eq!(
        code_of_version(&robot, "/api").await?.0,
        401,
        "a namesake is someone else"
    );
    Ok(())
}

async fn token_of_a_missing_account_is_not_found(t: &Target) -> Result<()> {
    let accounts: Api<ServiceAccount> = t.api();
    let answer = accounts
        .create_token_request("nope", &PostParams::default(), &mk_request(None))
        .await;
    assert_eq!(
        refusal(answer),
        "404 NotFound: serviceaccounts \"nope\" not found"
    );
    Ok(())
}

async fn unknown_tokens_and_none_are_unauthorized(t: &Target) -> Result<()> {
    for token in ["nonsense", "a.b.c", "", "\u{e4}"] {
        let Ok(client) = connect(t, Some(token)).await else {
            continue;
        };
        let list = "/api/v1/namespaces/default/configmaps";
        let (code, body) = code_of_version(&client, list).await?;
        if token.is_empty() {
            assert!(
                [401, 403].contains(&code),
                "anonymous clients see nothing: {body}"
            );
        } else {
            assert_eq!(
                (code, &body["reason"]),
                (401, &Value::from("Unauthorized")),
                "{body}"
            );
            assert_eq!(body["message"], "Unauthorized");
        }
    }
    Ok(())
}

async fn token_with_a_nonsense_lifetime_is_refused(t: &Target) -> Result<()> {
    let accounts: Api<ServiceAccount> = t.api();
    accounts
        .create(&PostParams::default(), &mk_account("robot"))
        .await?;
    for seconds in [0, 599, -1, 1 << 33] {
        let request = mk_request(Some(seconds));
        let status = refused(
            accounts
                .create_token_request("robot", &PostParams::default(), &request)
                .await,
        );
        assert_eq!(
            (status.code, status.reason.as_str()),
            (422, "Invalid"),
            "{status:?}"
        );
    }
    let path = "/api/v1/namespaces/NS/serviceaccounts/robot/token";
    let answer = Raw::post(
        path,
        r#"{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}"#,
    )
    .send(t)
    .await?;
    assert_eq!(answer.code, 201, "{}", answer.text);
    assert_eq!(
        answer.json()["spec"]["expirationSeconds"],
        3600,
        "an hour unless told"
    );
    Ok(())
}
