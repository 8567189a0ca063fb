//! Digests and previews against yaml.v3, on values made up at random.

mod values;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use pathline_blueprint::output::Output;
use pathline_testkit::go_oracle;
use serde_json::json;

#[test]
fn digests_and_previews_agree_with_yaml_v3() {
    let suite = "digests and previews agree with yaml.v3";
    let values = go_oracle::draw(suite, &values::value());
    let Some(answers) = go_oracle::ask(suite, "yaml", &values) else {
        return;
    };
    let epoch = Time(jiff::Timestamp::UNIX_EPOCH);
    let disagreements: Vec<_> = values
        .iter()
        .zip(&answers)
        .filter_map(|(value, theirs)| {
            let status = Output::Config(value.clone()).status(&[], &epoch);
            let ours = json!({"preview": status[0].preview, "digest": status[0].digest});
            (ours != *theirs).then(|| format!("{value}\n ours   {ours}\n theirs {theirs}"))
        })
        .collect();
    go_oracle::report(&disagreements, values.len());
}
