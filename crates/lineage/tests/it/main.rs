//! The stories of the design, each by its name.
#![expect(
    clippy::needless_pass_by_value,
    reason = "histories are written down as literals"
)]

mod arrival;
mod bad_input;
mod evidence;
mod in_metadata;
mod long_paths;
mod model;
mod owner_lineage;
mod paths;
mod rollout;
mod rollout_properties;
mod rules;
mod running;
mod seed;
mod smoke_test;
mod story;
mod support;
mod touched;
mod wait;
mod wait_confirmation;
mod wait_settled;
