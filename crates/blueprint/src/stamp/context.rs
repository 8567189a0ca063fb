//! The context: the values that templates can refer to.

use serde_json::{Map, Value, json};

use super::Stamp;
use crate::blueprint::{Input, InputKind};
use crate::output::Output;
use crate::params;

impl Stamp<'_> {
    /// Returns what `$(...)$` can refer to.
    pub(crate) fn typed_context(&self) -> Value {
        self.context(&self.owner.typed())
    }

    /// Returns what ytt can refer to: the same as `$(...)$`, but the owner is what it is in JSON.
    pub fn plain_context(&self) -> Value {
        self.context(&self.owner.object)
    }

    fn context(&self, owner: &Value) -> Value {
        let mut context = Map::new();
        context.insert("workload".to_owned(), owner.clone());
        context.insert("deliverable".to_owned(), owner.clone());
        context.insert("params".to_owned(), Value::Object(self.params()));
        context.insert("labels".to_owned(), Value::Object(self.labels()));
        self.add_inputs(&mut context);
        Value::Object(context)
    }

    fn add_inputs(&self, context: &mut Map<String, Value>) {
        let (mut sources, mut images, mut configs) = (Map::new(), Map::new(), Map::new());
        let mut deployment = Value::Null;
        for (Input { kind, name, .. }, output) in self.inputs {
            match output {
                Output::Source { url, revision } => {
                    let source = json!({"url": url, "revision": revision, "name": name});
                    if *kind == InputKind::Deployment {
                        deployment = source;
                    } else {
                        sources.insert(name.clone(), source);
                    }
                }
                Output::Image(image) => {
                    images.insert(name.clone(), json!({"image": image, "name": name}));
                }
                Output::Config(config) => {
                    configs.insert(name.clone(), json!({"config": config, "name": name}));
                }
            }
        }
        // With a single input of a kind, the template need not know its name.
        context.extend(only(&sources).map(|source| ("source".to_owned(), source.clone())));
        context.extend(only(&images).map(|image| ("image".to_owned(), image["image"].clone())));
        context
            .extend(only(&configs).map(|config| ("config".to_owned(), config["config"].clone())));
        context.insert("sources".to_owned(), Value::Object(sources));
        context.insert("images".to_owned(), Value::Object(images));
        context.insert("configs".to_owned(), Value::Object(configs));
        context.insert("deployment".to_owned(), deployment);
    }

    fn params(&self) -> Map<String, Value> {
        params::merge(
            &self.template.params,
            &self.blueprint.params,
            &self.resource.params,
            &self.owner.params,
        )
    }
}

fn only(inputs: &Map<String, Value>) -> Option<&Value> {
    inputs.values().next().filter(|_| inputs.len() == 1)
}
