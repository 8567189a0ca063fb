//! Formulas as clauses: each gate is a variable that is true exactly when its formula is.

use std::collections::HashMap;

use super::sat::{Answer, Fuel, Literal, Solver};

/// A solver that is told formulas. Equal formulas share a variable.
#[derive(Debug)]
pub(super) struct Gates {
    solver: Solver,
    conjunctions: HashMap<Vec<Literal>, Literal>,
    truth: Literal,
}

impl Gates {
    /// Makes a solver that knows nothing but what is true.
    pub(super) fn new() -> Self {
        let mut solver = Solver::default();
        let truth = solver.variable(true).literal(true);
        solver.add_clause(&[truth]);
        Self {
            solver,
            conjunctions: HashMap::new(),
            truth,
        }
    }

    /// Returns the literal that is always true; its negation never is.
    pub(super) fn truth(&self) -> Literal {
        self.truth
    }

    /// Makes something that may be true or false.
    pub(super) fn free(&mut self) -> Literal {
        self.solver.variable(true).literal(true)
    }

    /// Returns a literal that is true when all of these are.
    pub(super) fn all(&mut self, literals: impl IntoIterator<Item = Literal>) -> Literal {
        let mut parts: Vec<Literal> = literals.into_iter().collect();
        parts.sort_unstable();
        parts.dedup();
        parts.retain(|literal| *literal != self.truth);
        let excluded = parts.windows(2).any(|pair| pair[0] == !pair[1]);
        if excluded || parts.contains(&!self.truth) {
            return !self.truth;
        }
        match parts[..] {
            [] => return self.truth,
            [one] => return one,
            _ => {}
        }
        if let Some(known) = self.conjunctions.get(&parts) {
            return *known;
        }
        let gate = self.solver.variable(false).literal(true);
        let mut otherwise = vec![gate];
        for part in &parts {
            self.solver.add_clause(&[!gate, *part]);
            otherwise.push(!*part);
        }
        self.solver.add_clause(&otherwise);
        self.conjunctions.insert(parts, gate);
        gate
    }

    /// Returns a literal that is true when one of these is.
    pub(super) fn any(&mut self, literals: impl IntoIterator<Item = Literal>) -> Literal {
        !self.all(literals.into_iter().map(|literal| !literal))
    }

    /// Demands that the first implies the second.
    pub(super) fn imply(&mut self, first: Literal, second: Literal) {
        self.solver.add_clause(&[!first, second]);
    }

    /// Demands that at most one of these is true, at a cost linear in their number.
    pub(super) fn at_most_one(&mut self, literals: &[Literal]) {
        let mut earlier = !self.truth;
        for literal in literals {
            self.solver.add_clause(&[!earlier, !*literal]);
            earlier = self.any([earlier, *literal]);
        }
    }

    /// Asks whether all of these can be true together.
    pub(super) fn solve(&mut self, assumptions: &[Literal], fuel: &mut Fuel) -> Answer {
        self.solver.solve(assumptions, fuel)
    }

    /// Lets these be true in the next answers, if they can.
    pub(super) fn prefer(&mut self, literals: impl IntoIterator<Item = Literal>) {
        for literal in literals {
            self.solver.prefer(literal);
        }
    }

    /// Returns the solver, to read its last answer.
    pub(super) fn answer(&self) -> &Solver {
        &self.solver
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn can(gates: &mut Gates, literals: &[Literal]) -> bool {
        gates.solve(literals, &mut Fuel(u64::MAX)) == Answer::Yes
    }

    #[test]
    fn gates_are_what_they_say() {
        let mut gates = Gates::new();
        let [a, b, c] = std::array::from_fn(|_| gates.free());
        let (all, any) = (gates.all([a, b]), gates.any([b, c]));
        assert!(can(&mut gates, &[all, a, b, !c]));
        assert!(!can(&mut gates, &[all, !a]));
        assert!(!can(&mut gates, &[!all, a, b]));
        assert!(!can(&mut gates, &[any, !b, !c]));
        assert!(!can(&mut gates, &[!any, c]));
        assert_eq!(gates.all([b, a]), all, "equal formulas are one");
        assert_eq!(gates.all([a, !a]), !gates.truth());
        assert_eq!(gates.all([]), gates.truth());
        assert_eq!(gates.any([]), !gates.truth());
    }

    #[test]
    fn at_most_one_is_true() {
        let mut gates = Gates::new();
        let many: Vec<Literal> = (0..5).map(|_| gates.free()).collect();
        gates.at_most_one(&many);
        for literal in &many {
            assert!(can(&mut gates, &[*literal]));
        }
        assert!(!can(&mut gates, &[many[1], many[4]]));
        let none: Vec<Literal> = many.iter().map(|literal| !*literal).collect();
        assert!(can(&mut gates, &none));
    }
}
