//! Objects: what is written into the namespace of an environment when a release is deployed there.
//!
//! An owner (a Workload or a Deliverable) with the image by its digest, a ConfigMap for each file of the configuration as
//! it holds in this environment, and a Secret for each file that is secret. Everything but Secrets may be shown: of a
//! secret it has no more than a keyed digest.

mod content;
mod effective;
mod names;
mod owner;
mod secret_object;
mod variables;
mod volumes;
mod written;

use serde_json::Value;

use self::content::{Content, Files};
use self::effective::Effective;
pub use self::names::tracker_label;
pub use self::secret_object::SecretObject;
use self::variables::Variables;
pub use self::written::{Part, WRITTEN, changed, parts, written};
use crate::application::Secrets;
use crate::environment::DeployEnvironment;
use crate::name::TrackerName;
use crate::release::Release;

/// The label of everything that is written for releases beside owners.
pub const RELEASE_OBJECTS: &str = "pathline.dev/release-objects";

/// The label and the annotation with the tracker.
pub const TRACKER: &str = "pathline.dev/tracker";

/// The annotation of an owner with the number of its release.
pub const RELEASE: &str = "pathline.dev/release";

/// The annotation of an owner with the id of its release.
pub const RELEASE_ID: &str = "pathline.dev/release-id";

/// The most bytes that a ConfigMap or a Secret may hold, as API servers have it; an owner is kept within it too.
pub const MAX_OBJECT: usize = 1 << 20;

/// A release in an environment.
#[derive(Clone, Copy, Debug)]
pub struct Deployed<'a> {
    /// The tracker.
    pub tracker: &'a TrackerName,
    /// The id of the tracker, another one at each creation.
    pub tracker_uid: &'a str,
    /// The id of the release.
    pub id: &'a str,
    /// The release.
    pub release: &'a Release,
    /// The number of times that it was tried again there.
    pub attempt: u32,
    /// The revision that the image says it was made from, if it is known.
    pub revision: Option<&'a str>,
    /// The settings of the group and of the application, without secrets.
    pub document: &'a Value,
    /// The secrets of the document.
    pub secrets: &'a Secrets,
    /// The environment.
    pub environment: &'a DeployEnvironment,
}

/// The objects of a release in an environment. The owner names the others, so it is written last.
#[derive(Clone, Debug)]
pub struct Objects {
    /// The Workload or Deliverable.
    pub owner: Value,
    /// The ConfigMaps, by file.
    pub config_maps: Vec<Value>,
    /// The Secrets, by file.
    pub secrets: Vec<SecretObject>,
}

/// Says why a release has no objects in an environment. Values are not repeated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidObjects {
    /// A file is too large.
    #[error(
        "the {kind} file `{file}` has {size} bytes, and a ConfigMap or Secret holds {MAX_OBJECT}; make it smaller, or \
         split it into several files"
    )]
    FileTooLarge {
        /// `config` or `secret`.
        kind: &'static str,
        /// The name of the file.
        file: String,
        /// The bytes of its content.
        size: usize,
    },
    /// The variables that are secret are too large.
    #[error(
        "the variables that are secret have {size} bytes, and a Secret holds {MAX_OBJECT}; make them smaller"
    )]
    VariablesTooLarge {
        /// The bytes of their values.
        size: usize,
    },
    /// The owner is too large.
    #[error(
        "the configuration is too large: the {kind} would have {size} bytes, and {MAX_OBJECT} are allowed; make \
         variables and files smaller"
    )]
    OwnerTooLarge {
        /// The kind of the owner.
        kind: &'static str,
        /// The bytes of it.
        size: usize,
    },
    /// The content of a secret file is not what it has to be.
    #[error("`{name}` of the secret file `{file}` is not base64; `base64 < FILE` writes it")]
    NotBase64 {
        /// The name of the file.
        file: String,
        /// The name of the part of it.
        name: String,
    },
}

/// Returns the objects of a release in an environment. `keyed` makes a digest of secret bytes, in hexadecimal digits, that
/// nobody can guess without a key.
///
/// The same arguments give the same objects, so that they can be written as often as it takes.
///
/// # Errors
/// If something is too large for the API, or a secret is not base64.
pub fn objects(
    of: &Deployed<'_>,
    keyed: &dyn Fn(&[u8]) -> String,
) -> Result<Objects, InvalidObjects> {
    let effective = Effective::of(of);
    let Files { configs, secrets } = Files::of(&effective)?;
    let variables = Variables::of(&effective);
    let config_maps = configs.iter().map(|it| it.config_map(of));
    let mut mounted: Vec<_> = configs.iter().map(|it| it.mounted(of, None)).collect();
    let mut written = Vec::new();
    for secret in &secrets {
        let (object, digest) = secret.secret(of, keyed);
        mounted.push(secret.mounted(of, Some(&digest)));
        written.push(object);
    }
    let of_variables = variables.content()?;
    let of_variables = of_variables.map(|it| it.secret(of, keyed).0);
    let env = variables.env(of_variables.as_ref().map(SecretObject::name));
    written.extend(of_variables);
    Ok(Objects {
        owner: owner::owner(of, &effective, env, mounted)?,
        config_maps: config_maps.collect(),
        secrets: written,
    })
}
