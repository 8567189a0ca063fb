//! A short notation for histories.

use pathline_lineage::simulate::{Report, simulate};
use serde_json::{Value, json};

/// Declares a resource that reads params and takes outputs of others.
pub(crate) fn resource(name: &str, tracing: &str, inputs: &[&str], reads: &[&str]) -> Value {
    json!({"name": name, "tracing": tracing, "inputs": inputs, "reads": reads})
}

/// The owner has these inputs now.
pub(crate) fn owner(inputs: Value) -> Value {
    json!({ "owner": inputs })
}

/// An apply to the object that is named like its resource.
pub(crate) fn applied(resource: &str, generation: i64, inputs: Value) -> Value {
    json!({"applied": {"resource": resource, "uid": resource, "generation": generation, "inputs": inputs}})
}

/// The object says that it is done with its generation.
pub(crate) fn done(resource: &str, generation: i64, outputs: Value) -> Value {
    seen(resource, generation, generation, outputs)
}

/// A healthy object that has observed some generation.
pub(crate) fn seen(resource: &str, generation: i64, observed: i64, outputs: Value) -> Value {
    json!({"seen": {"resource": resource, "uid": resource, "generation": generation, "observed": observed,
                    "healthy": true, "outputs": outputs}})
}

/// Runs a history.
pub(crate) fn run(resources: &[Value], steps: &[Value]) -> Report {
    simulate(&json!({"resources": resources, "steps": steps})).expect("a history")
}

/// Returns what an output is made from, as `name=value evidence`.
pub(crate) fn from(report: &Report, resource: &str) -> Vec<String> {
    let output = report.outputs.iter().find(|it| it.resource == resource);
    let from = output.map(|it| it.from.iter()).into_iter().flatten();
    from.map(|it| format!("{}={} {}", it.name, text(&it.value), it.evidence))
        .collect()
}

/// Returns the value of an output.
pub(crate) fn output(report: &Report, resource: &str) -> Option<String> {
    let output = report.outputs.iter().find(|it| it.resource == resource);
    output.map(|it| text(&it.value))
}

/// Returns what is said of each input of the owner, as `name=value arrived mixed unused`.
pub(crate) fn inputs(report: &Report) -> Vec<String> {
    let said = |is: bool, word: &str| {
        if is {
            format!(" {word}")
        } else {
            String::new()
        }
    };
    let inputs = report.inputs.iter().map(|it| {
        let value = text(&it.value);
        let said = [
            said(it.arrived, "arrived"),
            said(it.mixed, "mixed"),
            said(it.unused, "unused"),
        ];
        format!("{}={value}{}", it.name, said.concat())
    });
    inputs.collect()
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
