//! Messages in the shapes that forges and registries document, and what each of them hints at.

use pathline_release::ingest::{Hint, Sender};
use serde_json::{Value, json};

/// All senders.
pub(crate) const ALL: [Sender; 8] = [
    Sender::GitHub,
    Sender::GitLab,
    Sender::Gitea,
    Sender::Distribution,
    Sender::DockerHub,
    Sender::Harbor,
    Sender::Quay,
    Sender::Generic,
];

fn pushed(location: &str, reference: &str) -> Vec<Hint> {
    vec![Hint::Repository {
        location: location.to_owned(),
        reference: Some(reference.to_owned()),
    }]
}

fn image(registry: Option<&str>, repository: &str) -> Vec<Hint> {
    vec![Hint::Image {
        registry: registry.map(str::to_owned),
        repository: repository.to_owned(),
    }]
}

/// A push or a tag of GitLab.
fn gitlab(kind: &str, reference: &str) -> Value {
    json!({
        "object_kind": kind, "event_name": kind,
        "before": "95790bf891e76fee5e1747ab589903a6a1f80f22",
        "after": "da1560886d4f094c3e6c9ef40349f7d38b5d27d7",
        "ref": reference, "checkout_sha": "da1560886d4f094c3e6c9ef40349f7d38b5d27d7",
        "user_id": 4, "user_name": "Jo", "project_id": 15,
        "project": {
            "id": 15, "name": "Web", "namespace": "Shop",
            "web_url": "https://gitlab.example:8443/shop/front/web",
            "git_ssh_url": "git@gitlab.example:shop/front/web.git",
            "git_http_url": "https://gitlab.example:8443/shop/front/web.git",
            "path_with_namespace": "shop/front/web", "default_branch": "main"
        },
        "commits": [], "total_commits_count": 0
    })
}

#[test]
fn push_and_tag_of_gitlab_are_hints_at_the_repository() {
    let place = "gitlab.example:8443/shop/front/web";
    for (kind, reference) in [("push", "refs/heads/main"), ("tag_push", "refs/tags/v1")] {
        let mut message = gitlab(kind, reference);
        assert_eq!(Sender::GitLab.hints("", &message), pushed(place, reference));
        // A group's or a system's hook has other words in the header.
        let hints = Sender::GitLab.hints("System Hook", &message);
        assert_eq!(hints, pushed(place, reference));
        message["project"]["git_http_url"].take();
        assert_eq!(Sender::GitLab.hints("", &message), pushed(place, reference));
    }
    for kind in ["merge_request", "pipeline", "note", "Push"] {
        let message = gitlab(kind, "refs/heads/main");
        assert_eq!(Sender::GitLab.hints("Push Hook", &message), [], "{kind}");
    }
}

#[test]
fn push_of_gitea_is_a_hint_at_the_repository() {
    let message = json!({
        "ref": "refs/heads/main", "before": "28e1879d", "after": "bffeb742",
        "compare_url": "https://gitea.example/Shop/web/compare/28e1879d...bffeb742",
        "commits": [{"id": "bffeb742", "message": "x", "author": {"username": "jo"}}],
        "repository": {
            "id": 140, "owner": {"id": 1, "login": "Shop"}, "name": "web", "full_name": "Shop/web",
            "html_url": "https://gitea.example/Shop/web",
            "ssh_url": "git@gitea.example:Shop/web.git",
            "clone_url": "https://gitea.example/Shop/web.git", "default_branch": "main"
        },
        "pusher": {"login": "jo"}, "sender": {"login": "jo"}
    });
    let hints = Sender::Gitea.hints("push", &message);
    assert_eq!(hints, pushed("gitea.example/shop/web", "refs/heads/main"));
    assert_eq!(Sender::Gitea.hints("pull_request", &message), []);
    assert_eq!(Sender::Gitea.hints("", &message), []);
}

#[test]
fn container_of_gitea_is_a_hint_at_the_image_on_its_host() {
    let mut message = json!({
        "action": "created", "repository": null,
        "package": {
            "id": 7, "owner": {"id": 1, "login": "Shop", "username": "Shop"}, "repository": null,
            "creator": {"login": "jo"}, "type": "container", "name": "web", "version": "1.2",
            "html_url": "https://gitea.example:3000/Shop/-/packages/container/web/1.2"
        },
        "sender": {"login": "jo"}
    });
    let hints = |message: &Value| Sender::Gitea.hints("package", message);
    assert_eq!(
        hints(&message),
        image(Some("gitea.example:3000"), "shop/web")
    );
    message["package"]["html_url"].take();
    assert_eq!(hints(&message), image(None, "shop/web"));
    message["repository"] = json!({"html_url": "https://gitea.example/Shop/web"});
    assert_eq!(hints(&message), image(Some("gitea.example"), "shop/web"));
    message["package"]["type"] = json!("npm");
    assert_eq!(hints(&message), []);
}

#[test]
fn push_to_docker_hub_is_a_hint_at_the_image() {
    let message = |name: &str| {
        json!({
            "callback_url": "https://registry.hub.docker.com/u/shop/web/hook/2141b5bi5i5b02bec211i4eeih0242eg11000a/",
            "push_data": {"pushed_at": 1_417_566_161, "pusher": "jo", "tag": "latest"},
            "repository": {
                "comment_count": 0, "date_created": 1_417_494_799, "is_official": false, "is_private": true,
                "name": "web", "namespace": "shop", "owner": "shop", "repo_name": name,
                "repo_url": "https://registry.hub.docker.com/u/shop/web/", "status": "Active"
            }
        })
    };
    let hints = |message: &Value| Sender::DockerHub.hints("", message);
    assert_eq!(
        hints(&message("shop/web")),
        image(Some("docker.io"), "shop/web")
    );
    assert_eq!(
        hints(&message("redis")),
        image(Some("docker.io"), "library/redis")
    );
    assert_eq!(hints(&json!({"repository": {"repo_name": "shop/web"}})), []);
}

#[test]
fn artifact_of_harbor_is_a_hint_in_both_formats() {
    let content = json!({
        "resources": [{
            "digest": "sha256:8a9e9863dbb6e10edb5adfe917c00da84e1700fa76e7ed02476aa6e6fb8ee0d8",
            "tag": "latest", "resource_url": "harbor.example/shop/web:latest"
        }],
        "repository": {
            "date_created": 1_586_922_308, "name": "web", "namespace": "shop",
            "repo_full_name": "shop/web", "repo_type": "private"
        }
    });
    let own = |kind: &str| {
        json!({"type": kind, "occur_at": 1_586_922_308, "operator": "admin",
               "event_data": content})
    };
    let cloud = |kind: &str| {
        json!({"specversion": "1.0", "id": "66d9e1d6", "requestid": "ad54aeb7",
               "source": "/projects/2/webhook/policies/15", "type": kind,
               "datacontenttype": "application/json", "time": "2023-04-03T06:50:08Z",
               "data": content, "operator": "admin"})
    };
    let hints = |message: &Value| Sender::Harbor.hints("", message);
    for message in [
        own("PUSH_ARTIFACT"),
        own("DELETE_ARTIFACT"),
        cloud("harbor.artifact.pushed"),
        cloud("harbor.artifact.deleted"),
    ] {
        assert_eq!(hints(&message), image(None, "shop/web"), "{message}");
    }
    for message in [
        own("PULL_ARTIFACT"),
        own("SCANNING_COMPLETED"),
        cloud("harbor.artifact.pulled"),
        cloud("PUSH_ARTIFACT"),
    ] {
        assert_eq!(hints(&message), [], "{message}");
    }
    let named = Sender::Harbor
        .delivery(&cloud("harbor.artifact.pushed"))
        .map(str::to_owned);
    assert_eq!(named.as_deref(), Some("66d9e1d6"));
    assert_eq!(Sender::Harbor.delivery(&own("PUSH_ARTIFACT")), None);
    assert_eq!(Sender::Generic.delivery(&cloud("x")), None);
}

#[test]
fn push_to_quay_is_a_hint_and_a_build_is_none() {
    let mut message = json!({
        "name": "web", "repository": "shop/web", "namespace": "shop",
        "docker_url": "quay.example:8443/shop/web",
        "homepage": "https://quay.example:8443/repository/shop/web", "updated_tags": ["latest"]
    });
    let hints = |message: &Value| Sender::Quay.hints("", message);
    assert_eq!(
        hints(&message),
        image(Some("quay.example:8443"), "shop/web")
    );
    // Older versions have the ids of images beside the tags.
    message["updated_tags"] = json!({"latest": "b750fe79"});
    assert_eq!(
        hints(&message),
        image(Some("quay.example:8443"), "shop/web")
    );
    let build = json!({"build_id": "296ec063", "docker_url": "quay.io/shop/web", "docker_tags": ["latest"]});
    assert_eq!(hints(&build), []);
}
