//! The realization of owners, told as stories that hold on every cluster.

#![expect(
    clippy::unwrap_used,
    reason = "a story that cannot go on stops where it is"
)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "a literal is given away at the call"
)]

mod accounts;
mod change;
mod cleanup;
mod delivery;
mod flow;
mod numbers;
mod order;
mod paths;
mod refusals;
mod runnables;
mod runs;
mod writes;

use pathline_testkit::kube::{Options, RealCluster};
use serde_json::{Value, json};

use crate::world::World;

/// Makes each story a test on an embedded cluster, and all of them one test on a real one.
macro_rules! stories {
    (
        on both: $($module:ident::$story:ident),* $(,)?;
        where rights are checked: $($real_module:ident::$real_story:ident),* $(,)?
    ) => {
        crate::world::embedded_stories![$($module::$story),*];

        #[tokio::test]
        async fn every_story_holds_on_a_real_api_server() {
            let suite = "owners on a real API server";
            let options = Options { definitions: pathline_engine::crds::all(), ..Options::default() };
            let Some(cluster) = RealCluster::shared(suite, options).await else { return };
            $({
                println!("story: {}", stringify!($story));
                let mut world = Box::pin(World::on(cluster.kubeconfig())).await;
                // All stories of one test would be too much for a stack.
                Box::pin($module::$story(&mut world)).await;
                world.end().await;
            })*
            $({
                println!("story: {}", stringify!($real_story));
                let mut world = Box::pin(World::on(cluster.kubeconfig())).await;
                Box::pin($real_module::$real_story(&mut world)).await;
                world.end().await;
            })*
        }
    };
}

stories![
    on both:
    accounts::the_nearest_account_is_used_and_a_missing_one_is_waited_for,
    accounts::an_account_that_is_made_anew_is_used_again,
    flow::issue_860_values_flow_through_a_chain_that_is_declared_backwards,
    flow::a_new_value_flows_to_the_end,
    flow::issue_907_a_resource_waits_until_its_input_exists,
    flow::options_follow_the_labels_and_pass_through_follows_its_input,
    order::everything_may_be_applied_in_any_order,
    order::a_kind_that_is_installed_later_is_stamped_then,
    order::a_change_while_the_engine_was_stopped_is_not_missed,
    paths::the_seed_is_stamped_as_its_table_says,
    paths::an_object_that_leaves_the_path_stays_until_its_consumer_works_without_it,
    paths::what_joins_the_path_is_waited_for_and_changes_nothing_before,
    change::a_new_template_reaches_the_objects,
    change::what_others_write_survives_and_what_they_break_is_mended,
    change::issue_589_a_takeover_of_fields_of_others_is_told,
    change::issue_1048_a_null_param_is_honoured,
    change::nothing_is_written_when_nothing_changed,
    cleanup::issue_54_what_a_deleted_template_stamped_goes_with_it,
    cleanup::issue_56_what_a_deleted_chain_stamped_goes_with_it,
    cleanup::issue_59_a_resource_that_leaves_the_blueprint_takes_its_object_with_it,
    cleanup::what_was_stamped_but_never_reported_is_found,
    cleanup::an_object_that_changes_its_name_is_replaced,
    cleanup::a_waiting_resource_keeps_its_object,
    cleanup::what_a_deleted_owner_stamped_goes_with_it,
    runs::issue_587_a_run_without_a_spec_is_created_once,
    runs::going_back_to_old_inputs_finds_the_old_run,
    runs::a_failing_run_keeps_the_output_of_the_last_good_one,
    runs::runs_that_are_too_many_go,
    runs::a_lifecycle_that_changes_leaves_nothing_behind,
    runs::a_run_without_a_name_says_so,
    runnables::a_runnable_runs_anew_for_new_inputs,
    runnables::a_run_template_that_changes_wakes_its_runnables,
    runnables::what_a_runnable_selects_is_watched,
    runnables::a_supply_chain_looks_through_a_runnable,
    numbers::metrics_tell_of_queues_looks_and_calls,
    numbers::issue_984_no_secret_is_listed,
    delivery::a_deployment_is_handed_on_once_it_is_observed,
    delivery::completion_and_failure_are_observed,
    refusals::owners_without_a_blueprint_say_why,
    refusals::issue_860_cycles_and_unknown_resources_are_refused,
    refusals::templates_that_cannot_be_stamped_say_why,
    refusals::bad_objects_give_a_condition_and_disturb_nobody_else,
    refusals::issue_733_an_object_of_another_owner_is_never_written,
    writes::few_writes_and_no_reads,
    writes::independent_resources_do_not_wait_for_each_other;
    where rights are checked:
    accounts::role_edits_wake_owners_whose_account_may_not_write,
    accounts::what_the_account_may_not_remove_is_shown_and_removed_later,
];

/// Returns a template body that stamps a Test with this spec.
fn test_object(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "test.pathline.dev/v1", "kind": "Test", "metadata": {"name": name}, "spec": spec})
}

/// Returns a template body that stamps a ConfigMap with this data.
fn config_map(name: &str, data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

impl World {
    /// Makes a chain of two: a Test that gives a source, and a ConfigMap that shows its revision.
    async fn apply_small_chain(&self) {
        let source = json!({
            "template": test_object("fetch", json!({"url": "$(workload.spec.source.git.url)$"})),
            "urlPath": ".status.url",
            "revisionPath": ".status.revision",
        });
        let show =
            json!({"template": config_map("shown", json!({"revision": "$(source.revision)$"}))});
        self.apply_spec("ClusterSourceTemplate", "fetch", source)
            .await;
        self.apply_spec("ClusterTemplate", "show", show).await;
        self.apply_chain("small", json!([
            {"name": "fetch", "templateRef": {"kind": "ClusterSourceTemplate", "name": "fetch"}},
            {
                "name": "show",
                "templateRef": {"kind": "ClusterTemplate", "name": "show"},
                "sources": [{"name": "code", "resource": "fetch"}],
            },
        ]))
        .await;
    }

    /// Applies a workload for that chain.
    async fn apply_small_workload(&self) {
        self.apply_workload(
            "app",
            json!({"source": {"git": {"url": "https://host/app"}}}),
        )
        .await;
    }

    /// Plays the controller that fetches.
    async fn fetched(&self, revision: &str) {
        self.set_status(
            "fetch",
            json!({"url": "file:///artifact", "revision": revision}),
        )
        .await;
    }

    /// Waits until the ConfigMap shows a revision.
    async fn wait_shown(&self, revision: &str) -> Value {
        let what = format!("with revision {revision}");
        self.wait_for("ConfigMap", "shown", &what, |shown| {
            shown["data"]["revision"] == revision
        })
        .await
    }
}
