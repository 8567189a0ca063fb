//! Keys of a configuration, and what exactly changed between two versions of it.
//!
//! [`KeySet`] holds configuration of any size: keys with a [`Name`], a [`Value`] and [`Metadata`].
//! Snapshots are free, and [`KeySet::diff`] says what changed between two of them at a cost that
//! follows the change and not the configuration. The answer, a [`ChangeSet`], composes, reverses,
//! filters and applies.
//!
//! ```
//! use pathline_keys::{Key, KeySet};
//!
//! let mut now = KeySet::new();
//! now.insert(Key::new("user:/app/replicas".parse()?).with_value("2"));
//! let before = now.clone();
//! now.insert(Key::new("user:/app/replicas".parse()?).with_value("3"));
//! now.insert(Key::new("user:/app/image".parse()?).with_value("app:1.1"));
//!
//! let changes = KeySet::diff(&before, &now, None);
//! assert_eq!(changes.added().count(), 1);
//! assert_eq!(changes.modified().count(), 1);
//! assert_eq!(changes.reverse().apply(&now)?, before);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Read on in this order: [`name`] (what identifies a key), [`KeySet`] (what holds keys),
//! [`ChangeSet`] (what changed), and `document` (YAML, JSON and TOML as keys and back).
//!
//! # Features
//!
//! `yaml`, `json` and `toml` each add a document format. `serde` makes names, keys, metadata, key sets
//! and change sets serializable, in the `notation` in which they are exchanged; `json` also reads and
//! prints that. None is on by default.

pub mod change;
#[cfg(any(feature = "json", feature = "toml", feature = "yaml"))]
pub mod document;
mod key;
mod key_ref;
mod metadata;
pub mod name;
#[cfg(feature = "serde")]
pub mod notation;
mod set;
mod tree;
mod value;

pub use self::change::{Change, ChangeKind, ChangeSet, MetaChanges};
pub use self::key::Key;
pub use self::key_ref::KeyRef;
pub use self::metadata::{Metadata, short_name};
pub use self::name::{Name, Namespace};
pub use self::set::{Iter, KeySet};
pub use self::value::{Value, ValueRef};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
