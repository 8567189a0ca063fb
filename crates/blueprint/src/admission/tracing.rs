//! The rules of `artifactTracing`.

use pathline_jsonpath::JsonPath;
use serde_json::Value;

use super::node::Node;
use super::{Refusal, Rule};
use crate::{correlation, evaluate, interpolate};

/// Applies the rules to `artifactTracing` of a template; `body` is what the template stamps.
pub(super) fn tracing(tracing: &Node<'_>, body: Option<&Value>) -> Vec<Refusal> {
    let path = tracing.get("observedGenerationPath");
    let correlation = tracing.get("correlationRules");
    let selector = tracing.get("liveSelector");
    if path.is_none() && correlation.is_none() && selector.is_none() {
        let message =
            "it says nothing; give observedGenerationPath, correlationRules or liveSelector";
        return vec![refuse(tracing, message)];
    }
    let path = path.and_then(|path| no_path(&path));
    let correlation = correlation.iter().flat_map(|_| correlations(tracing, body));
    let selector = selector.iter().flat_map(live_selector);
    path.into_iter()
        .chain(correlation)
        .chain(selector)
        .collect()
}

fn correlations(tracing: &Node<'_>, body: Option<&Value>) -> Vec<Refusal> {
    let rules = tracing.items("correlationRules");
    if rules.is_empty() {
        let message = "correlationRules is empty; add {input, output}, or leave it out";
        return vec![refuse(&tracing.nearest("correlationRules"), message)];
    }
    let both = rules.iter().flat_map(|rule| {
        let input = rule.nearest("input");
        let output = rule.nearest("output");
        let broken = [no_input(&input), no_path(&output)];
        let written = written_by_us(&output, body);
        broken.into_iter().chain([written]).flatten()
    });
    both.collect()
}

fn no_input(input: &Node<'_>) -> Option<Refusal> {
    let text = input.value.as_str().unwrap_or_default();
    no_path(input).or_else(|| {
        let message = format!(
            "[{text}] is no input as a whole; write source.revision, sources.NAME.revision, image, \
             images.NAME.image, config, configs.NAME.config, deployment.revision, params.NAME, or a \
             field of the owner such as workload.spec.image"
        );
        correlation::provable(text)
            .is_none()
            .then(|| refuse(input, &message))
    })
}

/// Refuses an output that always holds, since the template itself writes it.
fn written_by_us(output: &Node<'_>, body: Option<&Value>) -> Option<Refusal> {
    let text = output.value.as_str()?;
    evaluate::value(text, body?).is_ok().then(|| {
        let message = format!(
            "[{text}] is stamped by this template, so it says nothing about what was used; name a \
             field that the controller of the object sets, such as one below .status"
        );
        refuse(output, &message)
    })
}

fn no_path(path: &Node<'_>) -> Option<Refusal> {
    let text = path.value.as_str().unwrap_or_default();
    let reason = JsonPath::parse(text).err()?;
    Some(refuse(path, &format!("[{text}] is no path: {reason}")))
}

fn live_selector(selector: &Node<'_>) -> Vec<Refusal> {
    if selector.is_empty("matchLabels") {
        let message =
            "liveSelector has no matchLabels; without any it selects every object of the kind";
        return vec![refuse(selector, message)];
    }
    let labels = selector.nearest("matchLabels");
    let broken = interpolate::places(labels.value).err();
    let broken = broken.map(|reason| refuse(&labels, &reason.to_string()));
    broken.into_iter().collect()
}

fn refuse(node: &Node<'_>, message: &str) -> Refusal {
    node.refuse(Rule::Tracing, format!("invalid artifactTracing: {message}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::admit;
    use crate::template::TemplateKind;

    use super::*;

    fn refused(kind: TemplateKind, tracing: &Value) -> Vec<(String, String)> {
        let stamped = json!({"apiVersion": "v1", "kind": "Build", "spec": {"revision": "$(source.revision)$"}});
        let mut template = json!({"kind": kind.name(), "metadata": {"name": "t"}, "spec": {
            "template": stamped,
            "artifactTracing": tracing,
        }});
        if kind == TemplateKind::Deployment {
            template["spec"]["observedMatches"] = json!([]);
        }
        let refusals = admit(&template).into_iter();
        let message = |message: String| message.replacen("invalid artifactTracing: ", "", 1);
        refusals
            .map(|refusal| (refusal.path.to_string(), message(refusal.message)))
            .collect()
    }

    #[test]
    fn what_can_be_traced_is_admitted_for_every_kind() {
        let rule =
            |input: &str| json!({"correlationRules": [{"input": input, "output": ".status.used"}]});
        let selector = json!({"apiVersion": "apps/v1", "kind": "Deployment", "matchLabels": {"app": "$(metadata.name)$"}});
        let admitted = [
            Value::Null,
            json!({"observedGenerationPath": ".status.observedGeneration"}),
            json!({"liveSelector": selector}),
            rule("source.revision"),
            rule("{.sources.code.revision}"),
            rule("image"),
            rule("images.base.image"),
            rule("configs.app.config"),
            rule("deployment.revision"),
            rule("params.debug"),
            rule("workload.spec.source.git.url"),
            rule("deliverable.metadata.labels.env"),
        ];
        for tracing in admitted {
            for kind in TemplateKind::ALL {
                assert_eq!(refused(kind, &tracing), [], "{tracing}");
            }
        }
    }

    #[test]
    fn what_proves_nothing_is_refused() {
        let inputs = [
            "sorce.revision",
            "source.url",
            "config.part",
            "params",
            "params.size.cpu",
            "sources",
            "sources[0].revision",
            "labels.app",
            "workload.metadata.name",
            "workload.status.live",
            "workload.spec.env[0].value",
        ];
        for input in inputs {
            let rule = json!({"correlationRules": [{"input": input, "output": ".status.used"}]});
            let [(path, message)] = &refused(TemplateKind::Image, &rule)[..] else {
                panic!("{input} is admitted");
            };
            assert_eq!(path, "spec.artifactTracing.correlationRules[0].input");
            assert!(
                message.starts_with(&format!("[{input}] is no input")),
                "{message}"
            );
        }
    }

    #[test]
    fn every_mistake_has_its_place_and_message() {
        let rule = |input: &str, output: &str| json!({"correlationRules": [{"input": input, "output": output}]});
        let rows = [
            (
                json!({}),
                "",
                "it says nothing; give observedGenerationPath, correlationRules or liveSelector",
            ),
            (
                json!({"observedGenerationPath": ".status["}),
                ".observedGenerationPath",
                "[.status[] is no path: failed to parse jsonpath '{.status[}': unterminated array",
            ),
            (
                json!({"observedGenerationPath": ""}),
                ".observedGenerationPath",
                "[] is no path: empty jsonpath not allowed",
            ),
            (
                json!({"correlationRules": []}),
                ".correlationRules",
                "correlationRules is empty; add {input, output}, or leave it out",
            ),
            (
                rule("source.revision", "a["),
                ".correlationRules[0].output",
                "[a[] is no path: failed to parse jsonpath '{.a[}': unterminated array",
            ),
            (
                rule("source.revision", ".spec.revision"),
                ".correlationRules[0].output",
                "[.spec.revision] is stamped by this template, so it says nothing about what was used; name a \
                 field that the controller of the object sets, such as one below .status",
            ),
            (
                json!({"liveSelector": {"apiVersion": "v1", "kind": "Pod", "matchLabels": {}}}),
                ".liveSelector",
                "liveSelector has no matchLabels; without any it selects every object of the kind",
            ),
        ];
        for (tracing, place, message) in rows {
            let expected = (format!("spec.artifactTracing{place}"), message.to_owned());
            assert_eq!(
                refused(TemplateKind::Source, &tracing),
                [expected],
                "{tracing}"
            );
        }
        let label = json!({"liveSelector": {"apiVersion": "v1", "kind": "Pod", "matchLabels": {"a": "$([)$"}}});
        assert_eq!(
            refused(TemplateKind::Plain, &label)[0].0,
            "spec.artifactTracing.liveSelector.matchLabels"
        );
    }
}
