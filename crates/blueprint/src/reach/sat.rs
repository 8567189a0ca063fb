//! Is there an assignment that satisfies all clauses?
//!
//! Conflict-driven clause learning with two watched literals, activities and phase saving. Questions
//! are asked under assumptions; an answer "no" names the assumptions it rests on. Nothing is random and
//! nothing looks at the clock: effort is counted, so the same questions always get the same answers.

mod activity;
mod analysis;
mod literal;

use activity::Activities;
pub(super) use literal::{Literal, Variable};

/// The answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// There is an assignment; [`Solver::is_true`] reads it.
    Yes,
    /// There is none; [`Solver::core`] says which assumptions exclude it.
    No,
    /// The effort ran out first.
    Unknown,
}

/// Effort that is left, counted in clauses looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fuel(pub(super) u64);

impl Fuel {
    /// Takes some effort away; returns whether any is left.
    pub(super) fn burn(&mut self, effort: u64) -> bool {
        self.0 = self.0.saturating_sub(effort);
        self.0 > 0
    }
}

/// The range of the literals of a clause in the pool.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: usize,
    length: usize,
}

/// A clause that has to be looked at when a literal becomes false, unless `blocker` is true.
#[derive(Debug, Clone, Copy)]
struct Watch {
    clause: usize,
    blocker: Literal,
}

/// Holds clauses, what was learnt from them, and the current assignment.
#[derive(Debug, Default)]
pub(super) struct Solver {
    pool: Vec<Literal>,
    clauses: Vec<Span>,
    /// By literal: the clauses to look at when it becomes false.
    watches: Vec<Vec<Watch>>,
    values: Vec<Option<bool>>,
    /// By variable: the decision level of its value, and the clause that implied it.
    levels: Vec<usize>,
    reasons: Vec<Option<usize>>,
    /// The literals that are true, in the order they became so, and where each level starts.
    trail: Vec<Literal>,
    level_starts: Vec<usize>,
    propagated: usize,
    activities: Activities,
    phases: Vec<bool>,
    /// The assumptions of the last question; the levels up to their number are theirs.
    assumptions: Vec<Literal>,
    core: Vec<Literal>,
    model: Vec<bool>,
    marks: Vec<bool>,
    is_contradictory: bool,
}

/// The number of conflicts before the first restart; later ones follow Luby's sequence.
const RESTART_UNIT: u64 = 64;

impl Solver {
    /// Makes a variable; it prefers to be false.
    ///
    /// One that is not an input must be defined by clauses, so that it has a value once all inputs have.
    pub(super) fn variable(&mut self, is_input: bool) -> Variable {
        let variable =
            Variable(u32::try_from(self.values.len()).expect("fewer than 2^31 variables"));
        self.values.push(None);
        self.levels.push(0);
        self.reasons.push(None);
        self.phases.push(false);
        self.marks.push(false);
        self.watches.extend([Vec::new(), Vec::new()]);
        self.activities.add(variable, is_input);
        variable
    }

    /// Demands that one of the literals is true.
    pub(super) fn add_clause(&mut self, literals: &[Literal]) {
        self.backtrack(0);
        let mut clause: Vec<Literal> = literals.to_vec();
        clause.sort_unstable();
        clause.dedup();
        let is_tautology = clause.windows(2).any(|pair| pair[0] == !pair[1]);
        if is_tautology
            || clause
                .iter()
                .any(|literal| self.value(*literal) == Some(true))
        {
            return;
        }
        clause.retain(|literal| self.value(*literal).is_none());
        match clause[..] {
            [] => self.is_contradictory = true,
            [unit] => self.assign(unit, None),
            _ => {
                self.store(&clause);
            }
        }
    }

    /// Asks for an assignment in which all assumptions are true.
    pub(super) fn solve(&mut self, assumptions: &[Literal], fuel: &mut Fuel) -> Answer {
        let kept = self.assumptions.iter().zip(assumptions);
        let kept = kept.take_while(|(old, new)| old == new).count();
        self.backtrack(kept);
        self.assumptions.truncate(kept);
        self.assumptions.extend_from_slice(&assumptions[kept..]);
        self.core.clear();
        // Long lists of assumptions are compared and kept at a price too.
        fuel.burn(1 + assumptions.len() as u64 / 16);
        if self.is_contradictory {
            return Answer::No;
        }
        let mut round = 1;
        loop {
            let conflicts = RESTART_UNIT * luby(round);
            if let Some(answer) = self.search(conflicts, fuel) {
                return answer;
            }
            round += 1;
            self.backtrack(self.assumptions.len());
        }
    }

    /// Returns the assumptions that exclude each other, after an answer "no".
    pub(super) fn core(&self) -> &[Literal] {
        &self.core
    }

    /// Returns whether a literal is true in the last assignment that was found.
    pub(super) fn is_true(&self, literal: Literal) -> bool {
        self.model[literal.variable().index()] == literal.is_positive()
    }

    /// Returns the value that the first `count` assumptions of the last question force on a literal, as
    /// far as propagation saw it.
    pub(super) fn implied(&self, literal: Literal, count: usize) -> Option<bool> {
        let level = self.levels[literal.variable().index()];
        let levels = count.min(self.assumptions.len());
        self.value(literal).filter(|_| level <= levels)
    }

    /// Lets a literal be decided soon, and be true if it can.
    pub(super) fn prefer(&mut self, literal: Literal) {
        // Going back later would bring the old preference back.
        self.backtrack(0);
        self.phases[literal.variable().index()] = literal.is_positive();
        self.activities.bump(literal.variable());
        self.activities.offer(literal.variable());
    }

    /// Searches until an answer, or until so many conflicts.
    fn search(&mut self, conflicts: u64, fuel: &mut Fuel) -> Option<Answer> {
        let mut left = conflicts;
        loop {
            if let Some(conflict) = self.propagate(fuel) {
                if self.level() == 0 {
                    self.is_contradictory = true;
                    return Some(Answer::No);
                }
                self.learn_from(conflict);
                left = left.saturating_sub(1);
                continue;
            }
            if fuel.0 == 0 {
                return Some(Answer::Unknown);
            }
            if left == 0 {
                return None;
            }
            match self.assumptions.get(self.level()).copied() {
                Some(assumption) => match self.value(assumption) {
                    Some(true) => self.level_starts.push(self.trail.len()),
                    Some(false) => {
                        self.core = self.excluders(assumption);
                        return Some(Answer::No);
                    }
                    None => self.decide(assumption),
                },
                None => match self.undecided() {
                    Some(literal) => self.decide(literal),
                    None => {
                        let values = self.values.iter();
                        self.model = values.map(|value| *value == Some(true)).collect();
                        return Some(Answer::Yes);
                    }
                },
            }
        }
    }

    fn value(&self, literal: Literal) -> Option<bool> {
        self.values[literal.variable().index()].map(|value| value == literal.is_positive())
    }

    fn level(&self) -> usize {
        self.level_starts.len()
    }

    fn undecided(&mut self) -> Option<Literal> {
        let values = &self.values;
        let variable = self
            .activities
            .pop_until(|variable| values[variable.index()].is_none())?;
        Some(variable.literal(self.phases[variable.index()]))
    }

    fn decide(&mut self, literal: Literal) {
        self.level_starts.push(self.trail.len());
        self.assign(literal, None);
    }

    fn assign(&mut self, literal: Literal, reason: Option<usize>) {
        let variable = literal.variable().index();
        self.values[variable] = Some(literal.is_positive());
        self.levels[variable] = self.level();
        self.reasons[variable] = reason;
        self.trail.push(literal);
    }

    /// Forgets every value of a level above `level`.
    fn backtrack(&mut self, level: usize) {
        let Some(start) = self.level_starts.get(level).copied() else {
            return;
        };
        for literal in self.trail.drain(start..) {
            let variable = literal.variable();
            self.values[variable.index()] = None;
            self.phases[variable.index()] = literal.is_positive();
            self.activities.restore(variable);
        }
        self.level_starts.truncate(level);
        self.propagated = start;
    }

    fn store(&mut self, literals: &[Literal]) -> usize {
        let clause = self.clauses.len();
        self.clauses.push(Span {
            start: self.pool.len(),
            length: literals.len(),
        });
        self.pool.extend_from_slice(literals);
        for (watched, blocker) in [(literals[0], literals[1]), (literals[1], literals[0])] {
            self.watches[watched.index()].push(Watch { clause, blocker });
        }
        clause
    }

    /// Draws all conclusions from the trail; returns a clause that is false, if one is.
    fn propagate(&mut self, fuel: &mut Fuel) -> Option<usize> {
        while let Some(literal) = self.trail.get(self.propagated).copied() {
            self.propagated += 1;
            let falsified = !literal;
            let mut watches = std::mem::take(&mut self.watches[falsified.index()]);
            fuel.burn(1 + watches.len() as u64);
            let mut conflict = None;
            watches.retain(|watch| {
                if conflict.is_some() {
                    return true;
                }
                let (stays, is_conflict) = self.visit(*watch, falsified);
                conflict = is_conflict.then_some(watch.clause);
                stays
            });
            self.watches[falsified.index()] = watches;
            if conflict.is_some() {
                return conflict;
            }
        }
        None
    }

    /// Looks at a clause of which `falsified` became false; returns whether that literal is still
    /// watched and whether the clause is false.
    fn visit(&mut self, watch: Watch, falsified: Literal) -> (bool, bool) {
        if self.value(watch.blocker) == Some(true) {
            return (true, false);
        }
        let Span { start, length } = self.clauses[watch.clause];
        if self.pool[start] == falsified {
            self.pool.swap(start, start + 1);
        }
        let first = self.pool[start];
        if self.value(first) == Some(true) {
            return (true, false);
        }
        let other =
            (start + 2..start + length).find(|at| self.value(self.pool[*at]) != Some(false));
        if let Some(other) = other {
            self.pool.swap(start + 1, other);
            self.watches[self.pool[start + 1].index()].push(Watch {
                clause: watch.clause,
                blocker: first,
            });
            return (false, false);
        }
        if self.value(first) == Some(false) {
            return (true, true);
        }
        self.assign(first, Some(watch.clause));
        (true, false)
    }
}

/// Returns a member of the sequence 1 1 2 1 1 2 4 1 1 2 ..., counted from 1.
fn luby(position: u64) -> u64 {
    let mut position = position;
    loop {
        let power = (position + 1).next_power_of_two();
        if power == position + 1 {
            return power / 2;
        }
        position -= power / 2 - 1;
    }
}

#[cfg(test)]
mod tests {
    use pathline_testkit::cases;
    use proptest::prelude::*;

    use super::*;

    const VARIABLES: u32 = 7;

    fn literals(numbers: &[i32]) -> Vec<Literal> {
        let literal = |number: &i32| Variable(number.unsigned_abs() - 1).literal(*number > 0);
        numbers.iter().map(literal).collect()
    }

    fn solver(clauses: &[Vec<i32>]) -> Solver {
        let mut solver = Solver::default();
        for _ in 0..VARIABLES {
            solver.variable(true);
        }
        for clause in clauses {
            solver.add_clause(&literals(clause));
        }
        solver
    }

    fn holds(assignment: u32, literal: i32) -> bool {
        (assignment >> (literal.unsigned_abs() - 1) & 1 == 1) == (literal > 0)
    }

    fn has_assignment(clauses: &[Vec<i32>], assumptions: &[i32]) -> bool {
        (0..1 << VARIABLES).any(|assignment| {
            let mut all = clauses.iter();
            assumptions
                .iter()
                .all(|literal| holds(assignment, *literal))
                && all.all(|clause| clause.iter().any(|literal| holds(assignment, *literal)))
        })
    }

    fn ask(solver: &mut Solver, assumptions: &[i32]) -> Answer {
        solver.solve(&literals(assumptions), &mut Fuel(u64::MAX))
    }

    #[test]
    fn the_restart_sequence_is_lubys() {
        let sequence: Vec<u64> = (1..=15).map(luby).collect();
        assert_eq!(sequence, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }

    #[test]
    fn an_empty_clause_excludes_everything() {
        let mut solver = solver(&[vec![]]);
        assert_eq!(ask(&mut solver, &[]), Answer::No);
    }

    #[test]
    fn more_pigeons_than_holes_exceed_a_small_budget_and_never_fit() {
        let (pigeons, holes) = (7, 6);
        let mut solver = Solver::default();
        let at: Vec<Vec<Literal>> = (0..pigeons)
            .map(|_| {
                (0..holes)
                    .map(|_| solver.variable(true).literal(true))
                    .collect()
            })
            .collect();
        for (pigeon, places) in at.iter().enumerate() {
            solver.add_clause(places);
            for others in &at[..pigeon] {
                for (here, there) in places.iter().zip(others) {
                    solver.add_clause(&[!*here, !*there]);
                }
            }
        }
        assert_eq!(solver.solve(&[], &mut Fuel(1_000)), Answer::Unknown);
        assert_eq!(solver.solve(&[], &mut Fuel(u64::MAX)), Answer::No);
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn answers_are_those_of_trying_everything(
            clauses in proptest::collection::vec(proptest::collection::vec(
                (1..=VARIABLES as i32, any::<bool>()).prop_map(|(v, sign)| if sign { v } else { -v }), 1..4), 0..32),
            questions in proptest::collection::vec(proptest::collection::vec(
                (1..=VARIABLES as i32, any::<bool>()).prop_map(|(v, sign)| if sign { v } else { -v }), 0..5), 1..6),
        ) {
            let mut solver = solver(&clauses);
            for assumptions in questions {
                match ask(&mut solver, &assumptions) {
                    Answer::Yes => {
                        for clause in &clauses {
                            prop_assert!(literals(clause).into_iter().any(|literal| solver.is_true(literal)));
                        }
                        prop_assert!(literals(&assumptions).into_iter().all(|literal| solver.is_true(literal)));
                        for (place, literal) in literals(&assumptions).into_iter().enumerate() {
                            prop_assert_eq!(solver.implied(literal, place + 1), Some(true));
                        }
                    }
                    Answer::No => {
                        prop_assert!(!has_assignment(&clauses, &assumptions));
                        let asked = literals(&assumptions);
                        prop_assert!(solver.core().iter().all(|literal| asked.contains(literal)));
                        let core: Vec<i32> = assumptions.iter().copied()
                            .filter(|number| solver.core().contains(&literals(&[*number])[0])).collect();
                        prop_assert!(!has_assignment(&clauses, &core));
                    }
                    Answer::Unknown => prop_assert!(false, "there was no limit"),
                }
            }
        }
    }
}
