//! Tests of what flows between resources.

use super::*;

#[test]
fn what_is_handed_on_is_an_input_of_the_kind_that_is_given() {
    let two = |target: &str| json!([labelled("a", "a"), {"passThrough": target, "selector": {"matchLabels": {"b": "x"}}}]);
    let giver = |kind: &str, target: &str| {
        json!({
            "name": "r",
            "templateRef": {"kind": kind, "options": two(target)},
            "sources": [{"name": "s", "resource": "git"}],
            "configs": [{"name": "c", "resource": "config"}],
        })
    };
    let with_giver = |make: fn(Value) -> Value, kind: &str, target: &str| {
        make(json!({"resources": [
            resource("git", "ClusterSourceTemplate"), resource("config", "ClusterConfigTemplate"), giver(kind, target),
        ]}))
    };
    let place = "spec.resources[2].templateRef.options[1].passThrough";
    for make in [chain, delivery] {
        assert_eq!(admit(&with_giver(make, "ClusterSourceTemplate", "s")), []);
        assert_eq!(admit(&with_giver(make, "ClusterConfigTemplate", "c")), []);
        for (kind, target) in [
            ("ClusterSourceTemplate", "c"),
            ("ClusterConfigTemplate", "s"),
            ("ClusterSourceTemplate", "x"),
        ] {
            assert_refused(
                &with_giver(make, kind, target),
                Rule::UnknownPassThrough,
                place,
                &format!(
                    "error validating resource [r]: pass through [{target}] does not refer to a known input"
                ),
            );
        }
        assert_refused(
            &with_giver(make, "ClusterTemplate", "s"),
            Rule::PassThroughKind,
            place,
            "error validating resource [r]: TemplateRef.Kind [ClusterTemplate] is not a known type",
        );
    }
    assert_refused(
        &with_giver(chain, "ClusterImageTemplate", "s"),
        Rule::UnknownPassThrough,
        place,
        "error validating resource [r]: pass through [s] does not refer to a known input",
    );
}

#[test]
fn inputs_of_a_supply_chain_come_from_what_gives_them() {
    let kinds = [
        ("sources", "ClusterSourceTemplate"),
        ("images", "ClusterImageTemplate"),
        ("configs", "ClusterConfigTemplate"),
    ];
    for (field, wanted) in kinds {
        let taking = |producer: &str| {
            chain(json!({"resources": [
                resource("a", "ClusterSourceTemplate"), resource("b", "ClusterImageTemplate"),
                resource("c", "ClusterConfigTemplate"), resource("d", "ClusterTemplate"),
                with(resource("r", "ClusterTemplate"), field, json!([{"name": "n", "resource": producer}])),
            ]}))
        };
        let place = format!("spec.resources[4].{field}[0]");
        for (producer, kind) in [
            ("a", kinds[0].1),
            ("b", kinds[1].1),
            ("c", kinds[2].1),
            ("d", "ClusterTemplate"),
        ] {
            if kind == wanted {
                assert_eq!(admit(&taking(producer)), []);
            } else {
                assert_refused(
                    &taking(producer),
                    Rule::KindMismatch,
                    &place,
                    &format!(
                        "invalid {field} for resource [r]: resource [{producer}] providing [n] must reference a {wanted}"
                    ),
                );
            }
        }
        assert_refused(
            &taking("nobody"),
            Rule::UnknownResource,
            &place,
            &format!(
                "invalid {field} for resource [r]: [n] is provided by unknown resource [nobody]"
            ),
        );
    }
}

#[test]
fn only_a_deployment_template_takes_a_deployment_and_never_a_config() {
    let deployment = json!({"resource": "git"});
    let of = |resource: Value| {
        delivery(json!({"resources": [super::resource("git", "ClusterSourceTemplate"), resource]}))
    };
    assert_refused(
        &of(resource("r", "ClusterDeploymentTemplate")),
        Rule::DeploymentInput,
        "spec.resources[1]",
        "spec.resources[r] is a ClusterDeploymentTemplate and must receive a deployment",
    );
    assert_refused(
        &of(with(
            resource("r", "ClusterTemplate"),
            "deployment",
            deployment.clone(),
        )),
        Rule::DeploymentInput,
        "spec.resources[1].deployment",
        "spec.resources[r] receives a deployment but is not a ClusterDeploymentTemplate",
    );
    let configured = with(
        with(
            resource("r", "ClusterDeploymentTemplate"),
            "deployment",
            deployment,
        ),
        "configs",
        json!([]),
    );
    assert_refused(
        &of(configured),
        Rule::DeploymentInput,
        "spec.resources[1].configs",
        "spec.resources[r] is a ClusterDeploymentTemplate and must not receive config",
    );
}

#[test]
fn what_cartographer_stores_without_asking_is_stored_with_a_warning() {
    let taking = |field: &str, producer: &str| {
        delivery(json!({"resources": [
            resource("git", "ClusterSourceTemplate"),
            with(resource("r", "ClusterTemplate"), field, json!([{"name": "n", "resource": producer}])),
        ]}))
    };
    assert_warned(
        &taking("sources", "nobody"),
        Rule::UnknownResource,
        "spec.resources[1].sources[0]",
        "invalid sources for resource [r]: [n] is provided by unknown resource [nobody]",
    );
    assert_warned(
        &taking("configs", "git"),
        Rule::KindMismatch,
        "spec.resources[1].configs[0]",
        "invalid configs for resource [r]: resource [git] providing [n] must reference a ClusterConfigTemplate",
    );
    let twice = chain(json!({"resources": [
        resource("a", "ClusterSourceTemplate"), resource("b", "ClusterSourceTemplate"),
        with(resource("r", "ClusterTemplate"), "sources",
            json!([{"name": "n", "resource": "a"}, {"name": "n", "resource": "b"}])),
    ]}));
    assert_warned(
        &twice,
        Rule::DuplicateInput,
        "spec.resources[2].sources[1]",
        "sources for resource [r] take [n] from both [a] and [b]",
    );
}

#[test]
fn a_cycle_is_refused_860() {
    let waits = |name: &str, producer: &str| {
        with(
            resource(name, "ClusterSourceTemplate"),
            "sources",
            json!([{"name": "s", "resource": producer}]),
        )
    };
    for make in [chain, delivery] {
        assert_refused(
            &make(json!({"resources": [waits("a", "b"), waits("b", "a")]})),
            Rule::Cycle,
            "spec.resources",
            "resources wait for each other: [a -> b -> a]",
        );
        assert_refused(
            &make(json!({"resources": [waits("a", "a")]})),
            Rule::Cycle,
            "spec.resources",
            "resources wait for each other: [a -> a]",
        );
    }
}
