//! Calls on their way through the pipeline.

// The page that a call walks: modes, consent, partial acceptance, edits, denials.
pub(crate) mod approvals;
// A running call: updates, progress, cancelling, steering.
pub(crate) mod execution;
// Malformed arguments and names of a model, at any size and depth.
pub(crate) mod malformed_arguments;
// Calls that cannot be: each is a result that the model can act on.
pub(crate) mod malformed_calls;
// Secrets in arguments: shown while a call waits, masked once it is over.
pub(crate) mod masked_secrets;
// Long outputs: packed, removed, read again.
#[cfg(unix)]
pub(crate) mod output_retention;
// Calls that repeat themselves, and long work that does not.
pub(crate) mod repeated_calls;
// Results as they are kept and told: empty, cut, masked, replayed.
pub(crate) mod results;
// Limits of a run.
pub(crate) mod run_limits;
// Calls side by side, in batches, one after the other; several that wait at once.
pub(crate) mod strategies;
