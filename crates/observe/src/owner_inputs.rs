//! The inputs that an owner gives, named so that all who read one thing call it the same.

use std::collections::BTreeMap;

use pathline_blueprint::owner::Owner;
use pathline_blueprint::template_reads::Reads;
use pathline_jsonpath::FieldPath;
use pathline_lineage::Artifact;
use serde_json::Value;

/// The name of the source that an owner fixes.
const SOURCE: &str = "source";

/// Inputs of an owner, by their names.
pub(crate) type InputMap = BTreeMap<String, Artifact>;

/// The inputs of one owner.
#[derive(Debug)]
pub(crate) struct OwnerInputs<'o> {
    owner: &'o Owner,
    /// The params that the owner may set, as they are. Large ones take a while to know by content.
    params: BTreeMap<String, Artifact>,
    /// The source that the owner fixes, and the field that fixes it.
    source: Option<(FieldPath, Artifact)>,
}

impl<'o> OwnerInputs<'o> {
    /// Takes an owner, and the params that it may set, with the values they have.
    pub(crate) fn new(owner: &'o Owner, params: BTreeMap<String, Value>) -> Self {
        let artifact = |(name, value): (String, Value)| {
            let artifact = Artifact::param(&name, &value);
            (name, artifact)
        };
        Self {
            owner,
            params: params.into_iter().map(artifact).collect(),
            source: source(owner),
        }
    }

    /// Returns the inputs of the owner that are read.
    pub(crate) fn read_by(&self, reads: &Reads) -> InputMap {
        let mut inputs = self.named(&reads.params);
        for (field, value) in self.owner.values_at(&reads.fields) {
            // Where all there is was offered, params are by their names.
            if !reads.offered || field != spec().field("params") {
                self.add(&field, &value, &mut inputs);
            }
        }
        inputs
    }

    /// Returns what the owner says, whoever reads it.
    pub(crate) fn said(&self) -> InputMap {
        let mut inputs = self.named(self.owner.params.iter().map(|it| &it.name));
        let engine = ["params", "serviceAccountName"].map(|name| spec().field(name));
        for (field, value) in self.owner.values_at([&spec()]) {
            if field != spec() && !engine.contains(&field) {
                self.add(&field, &value, &mut inputs);
            }
        }
        inputs
    }

    /// Returns params by their names; those that the owner cannot set are left out.
    fn named<'n>(&self, names: impl IntoIterator<Item = &'n String>) -> InputMap {
        let param =
            |name: &'n String| Some((format!("param:{name}"), self.params.get(name)?.clone()));
        names.into_iter().filter_map(param).collect()
    }

    fn add(&self, field: &FieldPath, value: &Value, inputs: &mut InputMap) {
        let path = field.to_string();
        let artifact = Artifact::field(&path, value);
        inputs.insert(format!("field:{path}"), artifact);
        let source = self.source.as_ref().filter(|(fixes, _)| fixes == field);
        inputs.extend(source.map(|(_, source)| (SOURCE.to_owned(), source.clone())));
    }
}

fn spec() -> FieldPath {
    FieldPath::default().field("spec")
}

/// Returns the source that an owner fixes, and the field that fixes it.
fn source(owner: &Owner) -> Option<(FieldPath, Artifact)> {
    let text = |field: &FieldPath| {
        let text = field.find(&owner.object)?.as_str()?;
        Some(text.to_owned()).filter(|text| !text.is_empty())
    };
    let source = spec().field("source");
    let git = source.field("git");
    let commit = git.field("ref").field("commit");
    if let Some(revision) = text(&commit) {
        let url = text(&git.field("url")).unwrap_or_default();
        return Some((commit, Artifact::source(&url, Some(&revision))));
    }
    let image = source.field("image");
    let reference = text(&image)?;
    let (url, digest) = reference.split_once('@')?;
    Some((image, Artifact::source(url, Some(digest))))
}

#[cfg(test)]
mod tests {
    use pathline_blueprint::owner::OwnerKind;
    use serde_json::json;

    use super::*;

    fn owner(spec: &Value) -> Owner {
        let object = json!({"metadata": {"name": "app"}, "spec": spec});
        Owner::read(OwnerKind::Workload, object).expect("the test wrote a valid owner")
    }

    fn reads(field: &str) -> Reads {
        let path = |path: FieldPath, name| path.field(name);
        let field = field.split('.').fold(FieldPath::default(), path);
        Reads {
            fields: [field].into(),
            ..Reads::default()
        }
    }

    fn names(inputs: &InputMap) -> Vec<String> {
        let inputs = inputs.iter();
        inputs
            .map(|(name, value)| format!("{name}={}", value.shown()))
            .collect()
    }

    #[test]
    fn who_reads_a_whole_reads_its_parts_by_the_names_that_others_use() {
        let git = json!({"url": "u", "ref": {"branch": "main"}});
        let owner = owner(&json!({"source": {"git": git}}));
        let inputs_of_owner = OwnerInputs::new(&owner, BTreeMap::new());
        assert_eq!(
            names(&inputs_of_owner.read_by(&reads("spec.source"))),
            [
                "field:spec.source.git.ref.branch=main",
                "field:spec.source.git.url=u",
            ]
        );
        let part = inputs_of_owner.read_by(&reads("spec.source.git.url"));
        assert_eq!(names(&part), ["field:spec.source.git.url=u"]);
    }

    #[test]
    fn absent_label_is_an_input_of_what_it_chose() {
        let owner = owner(&json!({}));
        let inputs_of_owner = OwnerInputs::new(&owner, BTreeMap::new());
        let label = inputs_of_owner.read_by(&reads("metadata.labels.has-tests"));
        assert_eq!(names(&label), ["field:metadata.labels.has-tests=null"]);
    }

    #[test]
    fn fixed_revision_is_a_source_wherever_it_is_read() {
        let git = json!({"source": {"git": {"url": "u", "ref": {"commit": "def567"}}}});
        let image = json!({"source": {"image": "host/app@sha256:abc"}});
        let branch = json!({"source": {"git": {"url": "u", "ref": {"branch": "main"}}}});
        let source = |spec: &Value| {
            let owner = owner(spec);
            let inputs_of_owner = OwnerInputs::new(&owner, BTreeMap::new());
            inputs_of_owner
                .read_by(&reads("spec.source"))
                .remove(SOURCE)
        };
        for (spec, url, revision) in [(git, "u", "def567"), (image, "host/app", "sha256:abc")] {
            let source = source(&spec).expect("the revision is fixed");
            assert_eq!((source.url(), source.shown()), (Some(url), revision));
        }
        assert_eq!(source(&branch), None);
    }

    #[test]
    fn owner_says_what_it_may_set_whoever_reads_it() {
        let owner = owner(&json!({
            "params": [{"name": "debug", "value": "on"}, {"name": "fixed", "value": 1}],
            "serviceAccountName": "builder",
            "image": "i",
        }));
        let params = [("debug", json!("on")), ("depth", json!(3))];
        let params = params.map(|(name, value)| (name.to_owned(), value));
        let inputs_of_owner = OwnerInputs::new(&owner, params.into());
        assert_eq!(
            names(&inputs_of_owner.said()),
            ["field:spec.image=i", "param:debug=on"]
        );
    }
}
