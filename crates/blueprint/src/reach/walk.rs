//! The paths that there are: a walk over the choices, one resource after the other.

use serde_json::Value;

use super::circuit::Choice;
use super::sat::{Answer, Literal};
use super::{Example, NoExample, Path, Paths, Question, State, example, minimal};
use crate::selection::Step;
use crate::selector;

/// Lists paths, at most `limit`.
pub(super) fn paths(question: &mut Question<'_>, limit: Option<usize>) -> Paths {
    let admission = question.circuit.admission.are_met;
    let mut walk = Walk {
        found: Paths {
            paths: Vec::new(),
            complete: true,
        },
        assumptions: vec![admission],
        branches: Vec::new(),
        question,
    };
    walk.prefer_first_branches();
    match walk.question.ask(&[admission]) {
        Answer::Yes => walk.run(limit.unwrap_or(usize::MAX)),
        Answer::No => {}
        Answer::Unknown => walk.found.complete = false,
    }
    walk.found
}

/// The position of a walk: the states that are assumed, and what is left to try for each resource.
struct Walk<'q, 'b> {
    question: &'q mut Question<'b>,
    found: Paths,
    assumptions: Vec<Literal>,
    branches: Vec<Branch>,
}

/// The states that are left to try for one resource, the next one last.
struct Branch {
    ahead: Vec<(State, Literal)>,
    taken: State,
}

impl Walk<'_, '_> {
    /// Walks on. The last answer is always an owner that goes along with all that is assumed.
    fn run(&mut self, limit: usize) {
        let count = self.question.plan.order().len();
        loop {
            if self.branches.len() < count {
                let resource = self.question.plan.order()[self.branches.len()];
                let branch = Branch::new(&self.question.circuit.resources[resource]);
                self.branches.push(branch);
            } else if self.found.paths.len() == limit {
                self.found.complete = false;
                return;
            } else {
                let path = self.path();
                self.found.paths.push(path);
            }
            if !self.advance() {
                return;
            }
        }
    }

    /// Lets the first answers go where the walk goes first, which saves most of the questions.
    fn prefer_first_branches(&mut self) {
        let choices = self.question.circuit.resources.iter();
        let first = choices.map(|choice| {
            choice
                .chosen
                .first()
                .map_or(choice.is_selected, |first| *first)
        });
        self.question.gates.prefer(first);
    }

    /// Takes the next alternative that some owner takes; returns whether there is one.
    fn advance(&mut self) -> bool {
        while let Some(branch) = self.branches.last_mut() {
            let next = branch.ahead.pop();
            self.assumptions.truncate(self.branches.len());
            let Some((state, literal)) = next else {
                self.branches.pop();
                continue;
            };
            match self.try_out(literal) {
                Answer::Yes => {
                    self.assumptions.push(literal);
                    if let Some(branch) = self.branches.last_mut() {
                        branch.taken = state;
                    }
                    return true;
                }
                Answer::No => {}
                Answer::Unknown => {
                    self.found.complete = false;
                    return false;
                }
            }
        }
        false
    }

    /// Finds out whether some owner goes along with one more assumption.
    fn try_out(&mut self, literal: Literal) -> Answer {
        let solver = self.question.gates.answer();
        if solver.is_true(literal) {
            return Answer::Yes;
        }
        if solver.implied(literal, self.assumptions.len()) == Some(false) {
            return Answer::No;
        }
        self.assumptions.push(literal);
        let answer = self.question.ask(&self.assumptions);
        self.assumptions.pop();
        answer
    }

    fn path(&mut self) -> Path {
        let mut states = vec![State::Skipped; self.branches.len()];
        for (resource, branch) in self.question.plan.order().iter().zip(&self.branches) {
            states[*resource] = branch.taken;
        }
        let example = self.example(&states);
        Path { states, example }
    }

    fn example(&mut self, states: &[State]) -> Result<Example, NoExample> {
        let mut workload = example::build(self.question);
        if steps(self.question, &workload, states).is_none() {
            let present = self
                .question
                .facts
                .present_free(self.question.gates.answer());
            let keys = present.map(|(key, _)| key.to_owned()).collect();
            return Err(NoExample::FreeKeys { keys });
        }
        let cost = self.question.cost_of(&workload);
        let mut fuel = self.question.fuel;
        let is_minimal = minimal::minimise(&mut workload, |smaller| {
            let is_allowed = fuel.burn(cost);
            is_allowed.then(|| steps(self.question, smaller, states).is_some())
        });
        self.question.fuel = fuel;
        is_minimal.ok_or(NoExample::Effort)?;
        let steps = steps(self.question, &workload, states).expect("it was kept on the path");
        Ok(Example { workload, steps })
    }
}

impl Branch {
    fn new(choice: &Choice) -> Self {
        let selected = |option| State::Selected { option };
        let mut ahead = vec![
            (State::Failed, choice.is_failed),
            (State::Skipped, choice.is_skipped),
        ];
        if choice.chosen.is_empty() {
            ahead.push((selected(None), choice.is_selected));
        }
        let options = choice.chosen.iter().enumerate().rev();
        ahead.extend(options.map(|(option, chosen)| (selected(Some(option)), *chosen)));
        Self {
            ahead,
            taken: State::Skipped,
        }
    }
}

/// Returns what is decided for an owner that is admitted and takes a path; `None` for others.
fn steps(question: &Question<'_>, workload: &Value, states: &[State]) -> Option<Vec<Step>> {
    let blueprint = question.blueprint;
    let owner = example::read(blueprint.owner_kind, workload)?;
    selector::score(&blueprint.selector, &owner)
        .ok()
        .flatten()?;
    let steps = question.plan.choose(&owner);
    let taken = steps.iter().map(State::from);
    taken.eq(states.iter().copied()).then_some(steps)
}
