//! Every limit of this crate, and the times that tests turn down.

use std::time::Duration;

/// Bytes of frames that one turn may bring.
pub(crate) const TURN_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Calls that one turn may ask for.
pub(crate) const CALLS_MAX: usize = 256;
/// Bytes of one line of Ollama.
pub(crate) const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of a model list.
pub(crate) const LIST_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Characters of a provider's own words in an error.
pub(crate) const MESSAGE_CHARS_MAX: usize = 600;
/// Characters of a frame that could not be read, in an error.
pub(crate) const EXCERPT_CHARS_MAX: usize = 160;
/// Models named in an error about an unknown model.
pub(crate) const MODELS_NAMED_MAX: usize = 8;
/// Longest wait of a provider that an error names, in seconds.
pub(crate) const NAMED_WAIT_S_MAX: u64 = 86_400;
/// Turns of a script.
pub(crate) const SCRIPT_TURNS_MAX: usize = 10_000;
/// Milliseconds between two pieces of a scripted turn.
pub(crate) const SCRIPT_DELAY_MS_MAX: u64 = 60_000;

/// How long this crate waits, and how often it tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// How often a request is tried while nothing has come back.
    pub attempts_max: u32,
    /// The pause before the second try, in milliseconds; it doubles with each further one. A random part of up to as
    /// much again is added, so that several sessions do not ask at the same moment.
    pub backoff_ms: u64,
    /// The longest pause, but for its random part. If a provider asks for a longer one with `Retry-After`, the request
    /// ends.
    pub retry_after_ms_max: u64,
    /// How long a connection may take.
    pub connect_ms: u64,
    /// How long a provider may take to begin answering. Ollama loads a model in this time.
    pub begin_ms: u64,
    /// How long a stream may be silent.
    pub idle_ms: u64,
    /// How long a model list may take.
    pub list_ms: u64,
    /// How long a look at a local server (is Ollama running?) may take.
    pub probe_ms: u64,
    /// How long the system keychain may take; a person may have to unlock it.
    pub keychain_ms: u64,
}

/// Levels of a schema that a model is held to.
pub(crate) const STRICT_DEPTH_MAX: usize = 5;

/// Tools that one request to Anthropic holds its model to.
pub(crate) const STRICT_TOOLS_MAX: usize = 20;

/// Members of all these tools together that the model may leave out.
pub(crate) const STRICT_OPTIONAL_MAX: usize = 24;

impl Default for Timing {
    fn default() -> Self {
        Self {
            attempts_max: 3,
            backoff_ms: 500,
            retry_after_ms_max: 30_000,
            connect_ms: 10_000,
            begin_ms: 300_000,
            idle_ms: 180_000,
            list_ms: 10_000,
            probe_ms: 300,
            keychain_ms: 60_000,
        }
    }
}

pub(crate) fn duration_from_ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}
