//! All codes of findings, with what they mean and what to do.

/// The meaning of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeInfo {
    /// The code.
    pub code: &'static str,
    /// The meaning.
    pub meaning: &'static str,
    /// The advice: what to do about it.
    pub advice: &'static str,
}

const fn info(code: &'static str, meaning: &'static str, advice: &'static str) -> CodeInfo {
    CodeInfo {
        code,
        meaning,
        advice,
    }
}

/// All codes, in the order in which they are looked for.
pub const CATALOGUE: &[CodeInfo] = &[
    info(
        "syntax",
        "the file is not YAML",
        "mend it at the position named",
    ),
    info(
        "schema",
        "a field is missing, or has a type or value that its kind does not allow",
        "write it as the message says; a cluster refuses the object",
    ),
    info(
        "unknown-field",
        "the kind has no such field",
        "correct its name or remove it; a cluster drops it without a word",
    ),
    info(
        "malformed",
        "the object cannot be read",
        "write it as the message says",
    ),
    info(
        "tag",
        "a tag `$(…)$` of the template is no path, so that it can be stamped for no owner",
        "write a path; a `$(` of a shell that a tag follows becomes part of it: use backticks, or a variable",
    ),
    info(
        "single-match-field",
        "`matchFields` is one object",
        "write a list with one item",
    ),
    info(
        "operation",
        "`operation` stands for `operator`",
        "write `operator`",
    ),
    info(
        "operator-case",
        "an operator is not spelled as the API spells it",
        "write `In`, `NotIn`, `Exists` or `DoesNotExist`",
    ),
    info(
        "source-url",
        "`spec.source.url` stands for `spec.source.git.url`",
        "write `spec.source.git.url`",
    ),
    info(
        "no-blueprint-selector",
        "the blueprint does not say which owners it is for",
        "add `selector`, `selectorMatchExpressions` or `selectorMatchFields`; a cluster refuses it without",
    ),
    info(
        "param",
        "a parameter has both or neither of `value` and `default`",
        "keep one",
    ),
    info(
        "broken-selector",
        "a selector cannot be evaluated",
        "correct the label, operator, values or path",
    ),
    info(
        "duplicate-resource",
        "two resources have one name",
        "rename one",
    ),
    info(
        "duplicate-template",
        "two options of a resource stamp one template",
        "give one of them another template, or leave it if only inputs or selectors differ",
    ),
    info(
        "template-ref",
        "a resource has both or neither of a template and options, or one option",
        "keep `name`, or at least two `options`",
    ),
    info(
        "pass-through-count",
        "several options of a resource pass an input on",
        "keep one",
    ),
    info(
        "option-target",
        "an option has both or neither of `name` and `passThrough`",
        "keep one",
    ),
    info(
        "empty-selector",
        "a selector asks for nothing, or is missing",
        "ask for something, or leave it if the option is meant for all owners",
    ),
    info(
        "duplicate-selector",
        "two options of a resource have one selector",
        "change one, or leave it if their inputs differ",
    ),
    info(
        "unknown-pass-through",
        "`passThrough` names no input of the resource or the option",
        "name one of the kind the resource gives",
    ),
    info(
        "pass-through-kind",
        "a resource that gives nothing passes an input on",
        "use a template kind that gives something, or `name`",
    ),
    info(
        "deployment-input",
        "a deployment template lacks a deployment or takes configs, or another template takes a deployment",
        "give `deployment` to ClusterDeploymentTemplates, and only to them",
    ),
    info(
        "unknown-resource",
        "an input comes from a resource that does not exist",
        "correct the name",
    ),
    info(
        "kind-mismatch",
        "an input is declared under another kind than its producer gives",
        "move it to `sources`, `images` or `configs`, as the producer's template kind says",
    ),
    info(
        "duplicate-input",
        "one input name of one kind comes from two producers",
        "rename one",
    ),
    info(
        "cycle",
        "resources wait for each other",
        "take one of the inputs away",
    ),
    info(
        "template-body",
        "a template has both or neither of `template` and `ytt`",
        "keep one",
    ),
    info(
        "template-object",
        "what a template stamps is no object with a kind",
        "write `apiVersion`, `kind` and the rest",
    ),
    info(
        "template-namespace",
        "what a template stamps names a namespace",
        "remove it; objects are stamped in the owner's namespace",
    ),
    info(
        "health-rule",
        "a health rule is incomplete, or is several at once",
        "keep one of alwaysHealthy, singleConditionType and multiMatch",
    ),
    info(
        "retention-policy",
        "a template whose objects change has a retention policy",
        "remove it, or make the lifecycle immutable or tekton",
    ),
    info(
        "observed",
        "a deployment template has both or neither of `observedMatches` and `observedCompletion`",
        "keep one",
    ),
    info(
        "artifact-tracing",
        "what a template says about tracing cannot be evaluated, or proves nothing",
        "write it as the message says; see docs/lineage.md",
    ),
    info(
        "run-template-spec",
        "what a Runnable makes has no spec",
        "add `spec` to the template",
    ),
    info(
        "never-consumed",
        "no resource takes in what this one gives",
        "take it in somewhere, or use a ClusterTemplate, which gives nothing",
    ),
    info(
        "unreachable-resource",
        "no owner that the blueprint admits selects this resource",
        "change what the message names, or remove the resource",
    ),
    info(
        "unreachable-option",
        "no owner that the blueprint admits selects this option",
        "change what the message names, or remove the option",
    ),
    info(
        "order-decides",
        "for some owner the first selected option is not the only one that asks for most",
        "swap the options if the other one is meant for such owners",
    ),
    info(
        "not-analysed",
        "the effort of the analysis ran out",
        "split the blueprint, or use fewer different labels and fields",
    ),
    info(
        "config-not-read-again",
        "pods read a ConfigMap or Secret of the same path only when they start, and do not change with it",
        "put what it is made of, or its hash, into the annotations of the pod template",
    ),
];
