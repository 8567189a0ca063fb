//! Applies: one input set, rendered and written as one generation of one object.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::artifact::{Artifact, ArtifactId};
use crate::origin::Origin;

/// The inputs that an object was made from, each by where it comes from.
pub type Inputs = BTreeMap<Origin, Artifact>;

/// A template, as it was when it was used.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Template {
    /// Kind and name.
    pub name: String,
    /// Its generation.
    pub generation: Option<i64>,
}

/// One apply of a rendered template.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Stamp {
    /// The template that was rendered.
    pub template: Template,
    /// The uid of the object, as the API server answered.
    pub uid: String,
    /// The generation of the object, as the API server answered.
    pub generation: Option<i64>,
    /// The values that rendering, and the selectors that chose the option, read.
    pub inputs: Inputs,
    /// The inputs that were offered to a template that does not tell which of them it reads.
    #[serde(default)]
    pub offered: BTreeSet<Origin>,
    /// The content at the output path in that which was applied, where it lies in there.
    pub applied: Applied,
    /// The digest of the rendered object without the annotation that names the inputs, if known.
    pub rendered: Option<String>,
    /// When it was applied.
    pub time: Timestamp,
}

/// The content at the output path in that which was applied.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Applied {
    /// The output path does not lie in what was applied.
    #[default]
    Elsewhere,
    /// This content.
    Output(ArtifactId),
    /// There is no output: the object itself is what was applied.
    Object,
}

/// Identifies an input set; it is written to the object in the same apply.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct InputsId(String);

impl InputsId {
    /// Returns the id of an input set.
    pub fn of(inputs: &Inputs) -> Self {
        let mut hash = Sha256::new();
        for (origin, artifact) in inputs {
            hash.update(format!("{origin}\n{}\n", artifact.id()));
        }
        let digest = hash.finalize();
        Self(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Returns the id that was read from an object.
    pub fn read(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text to write to the object.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The most earlier applies to a generation that are told from applies that were forgotten.
const EARLIER: usize = 16;

/// The record of the applies that led to one generation of one object.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Record {
    /// Grows with every apply to the resource.
    pub(crate) number: u64,
    pub(crate) template: Template,
    pub(crate) uid: String,
    pub(crate) generation: Option<i64>,
    /// Those of the last apply.
    pub(crate) inputs: Inputs,
    pub(crate) inputs_id: InputsId,
    #[serde(default)]
    pub(crate) offered: BTreeSet<Origin>,
    /// The ids of earlier applies to the same generation.
    earlier: Vec<InputsId>,
    /// Inputs that had another value in an earlier apply to the same generation: which of the two
    /// an output was made from, a generation can't say.
    pub(crate) contested: BTreeSet<Origin>,
    pub(crate) applied: Applied,
    pub(crate) rendered: Option<String>,
    /// When it was applied first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) time: Option<Timestamp>,
}

impl Record {
    pub(crate) fn new(number: u64, stamp: Stamp) -> Self {
        Self {
            number,
            inputs_id: InputsId::of(&stamp.inputs),
            template: stamp.template,
            uid: stamp.uid,
            generation: stamp.generation,
            inputs: stamp.inputs,
            offered: stamp.offered,
            earlier: Vec::new(),
            contested: BTreeSet::new(),
            applied: stamp.applied,
            rendered: stamp.rendered,
            time: Some(stamp.time),
        }
    }

    /// Tells whether this generation of this object is the one.
    pub(crate) fn is_of(&self, uid: &str, generation: Option<i64>) -> bool {
        self.uid == uid && generation.is_some() && self.generation == generation
    }

    /// Tells whether another record says nothing new.
    pub(crate) fn repeats(&self, other: &Self) -> bool {
        let one = Self {
            number: self.number,
            contested: self.contested.clone(),
            earlier: self.earlier.clone(),
            time: self.time,
            ..other.clone()
        };
        *self == one
    }

    /// Contests what differs from an earlier input set of the same generation, unless both rendered
    /// the same object: then they are one.
    pub(crate) fn contest(&mut self, earlier: &Self) {
        self.contested.extend(earlier.contested.iter().cloned());
        self.earlier.clone_from(&earlier.earlier);
        self.earlier.push(earlier.inputs_id.clone());
        if self.earlier.len() > EARLIER {
            self.earlier.remove(0);
        }
        if self.rendered.is_some() && self.rendered == earlier.rendered {
            return;
        }
        let origins = self.inputs.keys().chain(earlier.inputs.keys());
        let differ = origins.filter(|it| self.inputs.get(it) != earlier.inputs.get(it));
        let differ: Vec<_> = differ.cloned().collect();
        self.contested.extend(differ);
    }

    /// Tells whether an id of inputs is of an apply that is remembered.
    pub(crate) fn knows(&self, inputs_id: &InputsId) -> bool {
        self.inputs_id == *inputs_id || self.earlier.contains(inputs_id)
    }

    /// Contests everything: what the generation was made from before is not known.
    pub(crate) fn contest_all(&mut self) {
        self.contested = self.inputs.keys().cloned().collect();
    }
}
