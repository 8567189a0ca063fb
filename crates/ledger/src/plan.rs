//! Plans by which a database answers questions.

use std::collections::BTreeSet;

use serde_json::Value;
use sqlx::types::Json;

use crate::database::{Dialect, Session, Statement};

/// The steps of some answers.
#[derive(Default)]
pub(crate) struct Plan {
    steps: BTreeSet<String>,
    rows: f64,
    milliseconds: f64,
}

impl Plan {
    /// Adds how a question is answered.
    pub(crate) async fn add(&mut self, session: &mut Session, asked: Statement) {
        match session.dialect() {
            Dialect::Sqlite => {
                let asked = asked.explained("explain query plan");
                let rows: Vec<(i64, i64, i64, String)> = session.all(asked).await.unwrap();
                let steps = rows.into_iter().map(|(.., detail)| detail);
                // What has no name of its own is numbered anew with every change.
                self.steps.extend(steps.filter(|it| is_named(it)));
            }
            Dialect::Postgres => {
                let asked = asked.explained("explain (analyze, format json)");
                let (plan,): (Json<Value>,) = session.only(asked).await.unwrap();
                let time = |key: &str| plan[0][key].as_f64().unwrap_or_default();
                self.milliseconds += time("Planning Time") + time("Execution Time");
                self.walk(&plan[0]["Plan"]);
            }
        }
    }

    /// Returns each step once, in alphabetical order.
    pub(crate) fn steps(&self) -> String {
        let steps: Vec<&str> = self.steps.iter().map(String::as_str).collect();
        steps.join("\n")
    }

    /// Returns how many rows all steps together gave.
    pub(crate) fn rows_visited(&self) -> f64 {
        self.rows
    }

    /// Returns how long PostgreSQL says that it takes to plan and to answer.
    pub(crate) fn milliseconds(&self) -> f64 {
        self.milliseconds
    }

    /// Takes note of tables and indexes only: in which way an index is read is PostgreSQL's affair.
    fn walk(&mut self, node: &Value) {
        let text = |key: &str| node[key].as_str().unwrap_or_default();
        let kind = text("Node Type");
        match kind {
            "Index Scan" | "Index Only Scan" | "Bitmap Index Scan" => {
                self.steps.insert(format!("index {}", text("Index Name")));
            }
            "Seq Scan" => {
                self.steps
                    .insert(format!("all of {}", text("Relation Name")));
            }
            _ => {}
        }
        let number = |key: &str| node[key].as_f64().unwrap_or_default();
        self.rows += number("Actual Rows") * number("Actual Loops");
        for child in node["Plans"].as_array().into_iter().flatten() {
            self.walk(child);
        }
    }
}

fn is_named(step: &str) -> bool {
    step.starts_with("SEARCH ") || (step.starts_with("SCAN ") && !step.starts_with("SCAN ("))
}
