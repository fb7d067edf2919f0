//! Checks of the source code itself: layers, requirements, dependencies, fuzz targets.

// No circle among the modules of a crate.
pub(crate) mod circles;
// What the app is built on: licences, and one version of each large crate.
pub(crate) mod dependencies;
// What comes from outside, at random: the fuzz targets with a fixed budget.
pub(crate) mod fuzz_targets;
// Which facts of a tool's interface are acted on, as the window says.
pub(crate) mod informational_facts;
// The walls between tools and the machine.
pub(crate) mod isolation;
// Every requirement of the specifications has its test, or a reason.
pub(crate) mod requirements;
// What a signature may look like.
pub(crate) mod signatures;
// The house itself: layers, fresh bindings, nothing left over.
pub(crate) mod source_rules;
