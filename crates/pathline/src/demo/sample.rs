//! The files of the demo: `examples/hello`, part of the binary so that no checkout is needed.

use anyhow::Context;
use kube::api::DynamicObject;
use serde_json::{Value, json};

macro_rules! hello {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../../../examples/hello/", $name)),
        )
    };
}

/// The files of the sample application, by their name in its repository.
const APP: [(&str, &str); 6] = [
    hello!("app/build.sh"),
    hello!("app/follow.js"),
    hello!("app/index.html.in"),
    hello!("app/message.txt"),
    hello!("app/style.css"),
    hello!("app/test.sh"),
];

/// The objects, in an order that works from the start: what is referred to comes first.
const OBJECTS: [(&str, &str); 5] = [
    hello!("templates.yaml"),
    hello!("supply-chain.yaml"),
    hello!("delivery.yaml"),
    hello!("workload.yaml"),
    hello!("deliverable.yaml"),
];

/// The places that the objects of one demo point to, instead of those of the example.
pub(super) struct Targets {
    pub(super) app_url: String,
    pub(super) manifests_url: String,
    pub(super) site_port: u16,
}

/// Returns name and content of every file of the sample application.
pub(super) fn app_files() -> impl Iterator<Item = (&'static str, &'static str)> {
    APP.into_iter()
        .map(|(path, text)| (path.trim_start_matches("app/"), text))
}

/// Returns the objects of the example, pointed at this demo.
pub(super) fn objects(targets: &Targets) -> anyhow::Result<Vec<DynamicObject>> {
    let mut objects = Vec::new();
    for (name, text) in OBJECTS {
        let options = serde_saphyr::options! { strict_booleans: true };
        let documents = serde_saphyr::from_multiple_with_options::<Value>(text, options)
            .with_context(|| format!("examples/hello/{name} is malformed"))?;
        for mut document in documents {
            point(&mut document, targets);
            objects.push(
                serde_json::from_value(document)
                    .with_context(|| format!("in examples/hello/{name}"))?,
            );
        }
    }
    Ok(objects)
}

fn point(object: &mut Value, targets: &Targets) {
    match object["kind"].as_str() {
        Some("Workload") => {
            object["spec"]["source"]["git"]["url"] = json!(targets.app_url);
            object["spec"]["params"] =
                json!([{"name": "manifests", "value": targets.manifests_url}]);
        }
        Some("Deliverable") => {
            object["spec"]["source"]["git"]["url"] = json!(targets.manifests_url);
            object["spec"]["params"] = json!([{"name": "port", "value": targets.site_port}]);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn mk_targets() -> Targets {
        Targets {
            app_url: "file:///here/app".to_owned(),
            manifests_url: "file:///here/manifests.git".to_owned(),
            site_port: 4711,
        }
    }

    #[test]
    fn every_object_is_pointed_away_from_the_paths_of_the_example() {
        let objects = objects(&mk_targets()).unwrap();
        assert_eq!(objects.len(), 10);
        let text = serde_json::to_string(&objects).unwrap();
        assert!(!text.contains("/tmp/pathline-hello"), "{text}");
        assert!(
            text.contains("file:///here/app") && text.contains("4711"),
            "{text}"
        );
    }

    #[test]
    fn blueprints_only_refer_to_what_is_there() {
        let objects = objects(&mk_targets()).unwrap();
        let named = |object: &DynamicObject| {
            let types = object.types.as_ref().unwrap();
            (types.kind.clone(), object.metadata.name.clone().unwrap())
        };
        let there: BTreeSet<_> = objects.iter().map(named).collect();
        let mut referred = 0;
        for object in &objects {
            for resource in object.data["spec"]["resources"]
                .as_array()
                .into_iter()
                .flatten()
            {
                let template = &resource["templateRef"];
                let wanted =
                    [&template["kind"], &template["name"]].map(|v| v.as_str().unwrap().to_owned());
                assert!(
                    there.contains(&wanted.clone().into()),
                    "{wanted:?} is missing"
                );
                referred += 1;
            }
        }
        assert_eq!(referred, 6);
    }

    #[test]
    fn application_embeds_every_file_of_its_directory() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hello/app");
        let on_disk = std::fs::read_dir(directory).unwrap();
        let on_disk: BTreeSet<_> = on_disk
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let embedded: BTreeSet<_> = app_files().map(|(name, _)| name.to_owned()).collect();
        assert_eq!(embedded, on_disk);
    }
}
