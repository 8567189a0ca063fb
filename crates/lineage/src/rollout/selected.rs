//! Objects that a template's `liveSelector` selects.

use std::collections::BTreeMap;

use super::below::Below;
use super::judging::{self, about};
use super::object::Object;
use super::{Rollout, Stage, images};

const NONE_SELECTED: &str = "nothing that its liveSelector selects is there yet";

/// Judges the rollout of a stamped object whose template selects these objects.
///
/// `observed` is the generation that the stamped object says was observed: before it is the current
/// one, what is selected may still be of the one before. What is selected must have been read after the
/// stamped object.
pub fn judge_selected<'a>(
    object: &Object,
    observed: Option<i64>,
    selected: impl IntoIterator<Item = &'a Object>,
    below: &Below,
    images: &[String],
) -> Rollout {
    let stage = not_handed_on(object, observed).unwrap_or_else(|| {
        let stages = selected
            .into_iter()
            .map(|it| judging::stage(it, below, images));
        let stage = stages.reduce(Stage::and);
        stage.unwrap_or_else(|| Stage::progressing(NONE_SELECTED))
    });
    about(object, stage)
}

/// Judges the rollout of a stamped object whose template selects pods: all with these labels, by
/// which pods must be told apart.
pub fn judge_selected_pods(
    object: &Object,
    observed: Option<i64>,
    labels: &BTreeMap<String, String>,
    below: &Below,
    images: &[String],
) -> Rollout {
    let stage = not_handed_on(object, observed);
    about(
        object,
        stage.unwrap_or_else(|| of_pods(labels, below, images)),
    )
}

/// Says why what is selected need not be what the stamped object asks for.
fn not_handed_on(object: &Object, observed: Option<i64>) -> Option<Stage> {
    let title = object.title();
    let Some(observed) = observed else {
        return Some(Stage::progressing(format!(
            "{title} does not say which generation it has observed; declare artifactTracing.observedGenerationPath"
        )));
    };
    if Some(observed) != object.generation {
        let why = format!("{title} has not observed its generation yet");
        return Some(Stage::progressing(why));
    }
    let ready = object.condition("Ready")?;
    let is_current = ready.generation.is_none_or(|it| it == observed);
    match ready.status {
        "True" if is_current => None,
        "False" if is_current => Some(object.unready()),
        _ => Some(Stage::progressing(format!("{title} is not ready yet"))),
    }
}

fn of_pods(labels: &BTreeMap<String, String>, below: &Below, wanted: &[String]) -> Stage {
    let groups = below.pods_labelled(labels);
    if groups.is_empty() {
        return Stage::progressing(NONE_SELECTED);
    }
    if let Some(reason) = groups.iter().find_map(|it| below.pods().crash(it)) {
        return Stage::failed(reason);
    }
    let total: usize = groups.iter().map(|it| it.total).sum();
    let ready: usize = groups.iter().map(|it| it.ready).sum();
    if ready < total {
        let trouble = groups.iter().find_map(|it| below.pods().trouble(it));
        let trouble = trouble.map(|it| format!("; {it}")).unwrap_or_default();
        return Stage::progressing(format!("{ready} of {total} pods are ready{trouble}"));
    }
    let missing = groups.iter().find_map(|group| {
        let asked = group.containers.iter().map(|it| it.image.clone());
        images::missing(wanted, &asked.collect::<Vec<_>>(), group)
    });
    missing.map_or(Stage::Done, Stage::progressing)
}
