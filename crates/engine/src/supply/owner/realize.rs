//! All resources of a blueprint, producers before consumers, side by side where they can be.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::realization::{Failure, Outcome, Realization};
use pathline_blueprint::selection::{Selected, Step, explain};
use pathline_observe::{Product, Retain};

use super::resource::{Realizer, ResourceResult, blank};

/// The number of resources of one owner that are worked on side by side.
const CONCURRENCY: usize = 8;

/// Realizes every resource as far as its inputs allow, and returns them in declared order.
///
/// A failure holds up only what depends on it.
pub(super) async fn all(realizer: &Realizer<'_>, steps: &[Step]) -> Vec<ResourceResult> {
    let mut work = Work::new(realizer.blueprint, steps);
    let mut results: Vec<Option<ResourceResult>> = (0..steps.len()).map(|_| None).collect();
    let mut running = FuturesUnordered::new();
    loop {
        while running.len() < CONCURRENCY
            && let Some(index) = work.ready.pop_front()
        {
            let Some(selected) = work.selected[index].clone() else {
                results[index] = Some(unselected(realizer.blueprint, index, steps));
                work.finish(index, None);
                continue;
            };
            let inputs = work.inputs(&selected);
            let step = async move { realizer.realize(index, &selected, &inputs).await };
            running.push(step.map(move |result| (index, result)).boxed());
        }
        let Some((index, done)) = running.next().await else {
            break;
        };
        let product = done.product.clone().map(Arc::new);
        work.finish(index, product);
        results[index] = Some(done);
    }
    results.into_iter().flatten().collect()
}

/// A resource for which nothing is stamped: it is not on the path, or nobody can tell.
fn unselected(blueprint: &Blueprint, index: usize, steps: &[Step]) -> ResourceResult {
    let resource = &blueprint.resources[index];
    let (outcome, retain) = match &steps[index] {
        Step::Failed(why) => {
            let failure = Failure::NoTemplate(why.clone());
            (Outcome::Failed(failure), Retain::Everything)
        }
        Step::Skipped(why) => {
            let reason = explain(blueprint, index, steps);
            (Outcome::skipped(why, reason), Retain::Nothing)
        }
        Step::Selected { .. } => unreachable!("selected resources are realized"),
    };
    let realization: Realization = blank(resource, &[], None, outcome);
    ResourceResult::quiet(realization, retain)
}

/// The resources that are still to be realized, and what has come out so far.
struct Work<'b> {
    selected: Vec<Option<Selected<'b>>>,
    indexes: HashMap<&'b str, usize>,
    consumers: Vec<Vec<usize>>,
    /// The number of producers that each resource still waits for.
    blocked: Vec<usize>,
    ready: VecDeque<usize>,
    products: Vec<Option<Arc<Product>>>,
}

impl<'b> Work<'b> {
    fn new(blueprint: &'b Blueprint, steps: &[Step]) -> Self {
        let names = blueprint.resources.iter().enumerate();
        let indexes: HashMap<&str, usize> = names
            .map(|(index, resource)| (resource.name.as_str(), index))
            .collect();
        let selected: Vec<Option<Selected<'b>>> = steps
            .iter()
            .enumerate()
            .map(|(index, step)| match step {
                Step::Selected { option } => Some(blueprint.selected(index, *option)),
                Step::Skipped(_) | Step::Failed(_) => None,
            })
            .collect();
        let mut consumers = vec![Vec::new(); steps.len()];
        let mut blocked = vec![0; steps.len()];
        for (consumer, selected) in selected.iter().enumerate() {
            let inputs = selected.iter().flat_map(|selected| &selected.inputs);
            for producer in inputs.filter_map(|input| indexes.get(input.producer.as_str())) {
                consumers[*producer].push(consumer);
                blocked[consumer] += 1;
            }
        }
        let is_ready = |index: &usize| blocked[*index] == 0;
        Self {
            ready: (0..steps.len()).filter(is_ready).collect(),
            products: vec![None; steps.len()],
            selected,
            indexes,
            consumers,
            blocked,
        }
    }

    /// Returns what each input of a resource gives, if anything yet.
    fn inputs(&self, selected: &Selected<'b>) -> Vec<Option<Arc<Product>>> {
        let product = |producer: &str| self.products[*self.indexes.get(producer)?].clone();
        let inputs = selected.inputs.iter();
        inputs.map(|input| product(&input.producer)).collect()
    }

    fn finish(&mut self, index: usize, product: Option<Arc<Product>>) {
        self.products[index] = product;
        for consumer in &self.consumers[index] {
            self.blocked[*consumer] -= 1;
            if self.blocked[*consumer] == 0 {
                self.ready.push_back(*consumer);
            }
        }
    }
}
