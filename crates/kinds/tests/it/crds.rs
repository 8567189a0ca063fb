//! The definitions of the kinds, as they are installed.

use std::collections::BTreeSet;

use pathline_kinds::{carto, environment};
use serde_json::Value;

#[test]
fn definitions_are_as_reviewed() {
    for crd in carto::crds().into_iter().chain(environment::crds()) {
        let name = crd.metadata.name.clone().expect("a definition has a name");
        insta::assert_json_snapshot!(name, crd);
    }
}

/// Every field of Cartographer's definitions is in ours, with the same type, default and required-ness.
///
/// Two things are looser: an option needs no selector, and its `matchFields` may be written in more than
/// one way.
#[test]
fn definitions_hold_every_field_of_cartographer() {
    let Some(dir) = pathline_testkit::shared_dir().map(|dir| dir.join("cases/cartographer-crds"))
    else {
        return pathline_testkit::skip("CRDs of Cartographer", "the shared cases are not there");
    };
    let files = std::fs::read_dir(&dir).unwrap();
    let upstream = files.filter(|file| {
        let name = file.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with("carto.run_")
    });
    assert_eq!((upstream.count(), carto::crds().len()), (11, 11));
    let mut differences = Vec::new();
    for crd in carto::crds() {
        let ours = serde_json::to_value(&crd).unwrap();
        let plural = ours["spec"]["names"]["plural"].as_str().unwrap();
        let text = std::fs::read_to_string(dir.join(format!("carto.run_{plural}.yaml"))).unwrap();
        let theirs: Value = serde_saphyr::from_str(&text).unwrap();
        for path in [
            "/spec/names",
            "/spec/scope",
            "/spec/versions/0/additionalPrinterColumns",
            "/spec/versions/0/name",
            "/spec/versions/0/subresources",
        ] {
            compare_exactly(
                &format!("{plural}{path}"),
                ours.pointer(path),
                theirs.pointer(path),
                &mut differences,
            );
        }
        let schema = "/spec/versions/0/schema/openAPIV3Schema";
        let (ours, theirs) = (
            ours.pointer(schema).unwrap(),
            theirs.pointer(schema).unwrap(),
        );
        compare_schemas(plural, ours, theirs, &mut differences);
    }
    let looser = ["clustersupplychains", "clusterdeliveries"]
        .into_iter()
        .flat_map(|plural| {
            let option = format!("{plural}.spec.resources.items.templateRef.options.items");
            let fields = format!("{option}.selector.matchFields");
            [
                format!(r#"{option}: required are {{}} instead of {{"selector"}}"#),
                format!("{fields} may be anything"),
            ]
        });
    assert_eq!(differences, looser.collect::<Vec<_>>());
}

fn compare_exactly(
    place: &str,
    ours: Option<&Value>,
    theirs: Option<&Value>,
    differences: &mut Vec<String>,
) {
    let meaning = |value: Option<&Value>| match value.cloned() {
        Some(Value::Object(map)) => Some(
            map.into_iter()
                .filter(|(_, value)| value.as_array().is_none_or(|list| !list.is_empty()))
                .collect(),
        ),
        Some(Value::Array(list)) if list.is_empty() => None,
        other => other,
    };
    if meaning(ours) != meaning(theirs) {
        differences.push(format!("{place}: {ours:?} instead of {theirs:?}"));
    }
}

fn compare_schemas(place: &str, ours: &Value, theirs: &Value, differences: &mut Vec<String>) {
    let anything = "x-kubernetes-preserve-unknown-fields";
    if ours[anything] == true && theirs[anything] != true && ours.get("type").is_none() {
        differences.push(format!("{place} may be anything"));
        return;
    }
    for keyword in [
        "type",
        "format",
        "default",
        "enum",
        "pattern",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-int-or-string",
    ] {
        let (ours, theirs) = (&ours[keyword], &theirs[keyword]);
        if ours.as_f64() != theirs.as_f64()
            || ours.is_number() != theirs.is_number()
            || !ours.is_number() && ours != theirs
        {
            differences.push(format!("{place}: {keyword} is {ours} instead of {theirs}"));
        }
    }
    let required = |schema: &Value| {
        let names: Option<Vec<String>> = serde_json::from_value(schema["required"].clone()).ok();
        names
            .unwrap_or_default()
            .into_iter()
            .collect::<BTreeSet<_>>()
    };
    if required(ours) != required(theirs) {
        differences.push(format!(
            "{place}: required are {:?} instead of {:?}",
            required(ours),
            required(theirs)
        ));
    }
    for (name, theirs) in theirs["properties"].as_object().into_iter().flatten() {
        let place = format!("{place}.{name}");
        match ours["properties"].get(name) {
            Some(ours) => compare_schemas(&place, ours, theirs, differences),
            None => differences.push(format!("{place} is missing")),
        }
    }
    for inner in ["items", "additionalProperties"] {
        if theirs[inner].is_object() {
            compare_schemas(
                &format!("{place}.{inner}"),
                &ours[inner],
                &theirs[inner],
                differences,
            );
        }
    }
}
