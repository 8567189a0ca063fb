//! Panics: what is printed when something goes wrong that nobody thought of has no secret in it.

use pathline_ledger::SealKey;
use pathline_ledger::trackers::NewConfiguration;
use pathline_release::application::Application;
use pathline_release::request::Body;
use pathline_remote::Secret;
use pathline_remote::git::Credentials;
use pathline_remote::http::Request;
use pathline_remote::registry::{DockerConfig, RegistryLogin};
use pathline_remote::source::{SourceReference, SourceRequest};

use super::*;

const SENTINEL: &str = "SENTINEL-of-the-panic";
/// The sentinel as it is in base64, wherever it begins.
const ENCODED: [&str; 3] = [
    "U0VOVElORUwtb2YtdGhlLXBhbmlj",
    "NFTlRJTkVMLW9mLXRoZS1wYW5pY",
    "TRU5USU5FTC1vZi10aGUtcGFuaW",
];
/// `bot:SENTINEL-of-the-panic`
const LOGIN: &str = "Ym90OlNFTlRJTkVMLW9mLXRoZS1wYW5pYw==";

fn assert_silent(said: &str) {
    for form in ENCODED.into_iter().chain([SENTINEL, LOGIN]) {
        assert!(!said.contains(form), "{form} is in {said}");
    }
}

fn application() -> Application {
    let text = format!(
        "shop: {{web: {{version: latest, token: {SENTINEL}, repository: {{image: {{domain: 127.0.0.1:1, auth: {LOGIN}}}}}, \
         environment: {{variable: {{DB_PASSWORD: {SENTINEL}}}, file: {{secret: {{db: {{mountPath: /a, \
         data: [{{name: a, value: {LOGIN}}}]}}}}}}}}}}}}"
    );
    Application::read(&text, &"shop.web".parse().unwrap()).unwrap()
}

#[test]
fn c14_debug_text_of_whatever_holds_a_secret_has_none() {
    let secret = Secret::new(SENTINEL);
    let url = Url::parse(&format!(
        "https://bot:{SENTINEL}@git.example/a?token={SENTINEL}"
    ))
    .unwrap();
    let login = RegistryLogin::Basic {
        username: "bot".to_owned(),
        password: secret.clone(),
    };
    let registry = RegistryHost {
        name: "registry.example".to_owned(),
        allows_http: false,
        budget: AMPLE,
        login: Some(login.clone()),
    };
    let settings = TrackingSettings {
        registries: vec![registry],
        ..TrackingSettings::default()
    };
    let body = format!(
        r#"{{"id": "shop.web", "token": "{SENTINEL}", "repo": "https://github.com/shop/web", "sourcePath": ""}}"#
    );
    let body = || Body::read(body.as_bytes()).unwrap();
    let new = body().create(&settings.known_hosts()).unwrap();
    let before = (&new.source, &new.token);
    let replacement = body().replace(&new.name, before, &settings.known_hosts());
    let asked = SourceRequest {
        url: "https://git.example/shop/web".to_owned(),
        reference: SourceReference::Head,
        path: String::new(),
        secret: Some(secret.clone()),
        github_api: None,
        allow_http: false,
    };
    let credentials = Credentials {
        username: "bot".to_owned(),
        password: SENTINEL.to_owned(),
    };
    let docker = format!(r#"{{"auths": {{"registry.example": {{"auth": "{LOGIN}"}}}}}}"#);
    let docker = DockerConfig::parse(docker.as_bytes()).unwrap();
    let request = Request::get(url).bearer(&secret).basic("bot", &secret);
    let request = request.body(SENTINEL).with_secret(&secret);
    let location = format!("postgres://bot:{SENTINEL}@db.example/pathline");
    let location: Location = location.parse().unwrap();
    let configuration = NewConfiguration::from(&application());
    let (_, secrets) = application().split();
    let said = [
        format!(
            "{secret:?} {login:?} {:?}",
            RegistryLogin::Identity(secret.clone())
        ),
        format!("{settings:?} {new:?} {replacement:?} {asked:?} {credentials:?}"),
        format!("{docker:?} {request:?} {location:?} {location}"),
        format!("{:?} {configuration:?} {secrets:?}", application()),
        format!(
            "{:?}",
            SealKey::new(SENTINEL.repeat(2).as_bytes()[..32].try_into().unwrap())
        ),
    ];
    for said in said {
        assert!(said.len() > 8, "there is something: {said}");
        assert_silent(&said);
    }
}

/// In a process of its own, whose words are read.
#[test]
fn c14_poll_that_panics_with_a_tracker_in_scope_says_no_secret() {
    const NAME: &str =
        "tracking::tests::secrecy::c14_poll_that_panics_with_a_tracker_in_scope_says_no_secret";
    if let Some(mut child) = pathline_testkit::child_of(NAME) {
        let ran = child.env("RUST_BACKTRACE", "full").output().unwrap();
        let said = [ran.stdout, ran.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(ran.status.success(), "{said}");
        assert!(
            said.contains("panicked at") && said.contains("shop.web"),
            "{said}"
        );
        assert_silent(&said);
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let ended = runtime.block_on(panicking());
    assert_silent(&format!("{ended} {ended:?}"));
    assert!(ended.is_panic());
}

async fn panicking() -> tokio::task::JoinError {
    let mut world = World::new().await;
    world.ledger = world
        .ledger
        .with_seal_key(SealKey::new(&[7; 32]))
        .await
        .unwrap();
    world.commit("latest");
    world.follow(&["shop.web"]).await;
    let mut member = world.tracker().clone();
    member.token = Some(Secret::new(SENTINEL));
    member.logins.insert("a".to_owned(), Secret::new(LOGIN));
    let circumstances = Circumstances {
        interval: world.tracking.settings.interval,
        is_wanted: true,
    };
    let place = world.looker.places().take(Vec::new());
    let (looker, polled) = (world.looker, member.clone());
    let task = async move {
        let looked = looker.poll(vec![polled], circumstances, place).await;
        let after = looked.into_iter().next().and_then(|it| it.after).unwrap();
        let (stored, failure) = (&after.stored, &after.last_failure);
        panic!(
            "{stored:?} {:?} {:?} {failure:?}",
            after.token, member.logins
        );
    };
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(task);
    let ended: Result<(), _> = tasks.join_next().await.unwrap();
    ended.unwrap_err()
}
