//! Checks of the source code itself: layers, requirements, dependencies, platforms, fuzz targets, figures.

// No circle among the modules of a crate.
pub(crate) mod circles;
// Dependencies of the app: licences, and one version of each large crate.
pub(crate) mod dependencies;
// Countersign beside others: the README's figures are those that are written down.
pub(crate) mod field_figures;
// Random input from outside: the fuzz targets with a fixed budget.
pub(crate) mod fuzz_targets;
// Which facts of a tool's interface are acted on, as the window says.
pub(crate) mod informational_facts;
// The walls between tools and the machine.
pub(crate) mod isolation;
// What differs by the system is on the page about platforms.
pub(crate) mod platforms;
// Every requirement of the specifications has its test, or a reason.
pub(crate) mod requirements;
// Rules for signatures.
pub(crate) mod signatures;
// The house itself: layers, fresh bindings, nothing left over.
pub(crate) mod source_rules;
