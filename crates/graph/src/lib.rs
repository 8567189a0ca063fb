//! Layout and drawing of directed graphs, for terminals and pages.
//!
//! A [`Graph`] knows nothing of what it stands for: nodes with lines of text, edges with labels, and
//! optionally which of them are on a path. [`text`] draws it with characters, [`svg`] for a browser,
//! [`mermaid`] for Markdown and [`dot`] for Graphviz. Everything is pure: no I/O but the given
//! writer, and no program is run.
//!
//! ```
//! use pathline_graph::{Edge, Graph, Node, mermaid};
//!
//! let graph = Graph {
//!     name: "flow".to_owned(),
//!     nodes: vec![Node::new("source"), Node::new("image")],
//!     edges: vec![Edge { from: 0, to: 1, label: None, is_taken: None }],
//! };
//! assert_eq!(mermaid::write(&graph), "flowchart TD\n  n0([\"source\"])\n  n1[\"<b>image</b>\"]\n  n0 --> n1\n");
//! ```

pub mod dot;
mod graph;
mod layout;
pub mod mermaid;
pub mod svg;
pub mod text;

pub use crate::graph::{Edge, Graph, Node, State};
