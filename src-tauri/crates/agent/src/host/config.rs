//! The configuration of an engine: where it stores its data, and who answers its calls.

use std::path::PathBuf;
use std::sync::Arc;

use protocol::settings::Posture;
use protocol::{RunLimits, UserError};
use provider::{KeyStore, Provider};
use runtime::clock::{Clock, IdGenerator, SystemClock, TimeIdGenerator};
use tools::Tool;

use crate::host::hooks::Hooks;

/// The party that answers when a call asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// A person at a window, or a program that answers in a person's place through ops.
    Person,
    /// Nobody: a call that asks is denied (`S002-85`), unless every such call was approved in advance.
    Headless {
        /// Whether the caller approved in advance every call that would ask. Denials stay denials, and questions stay
        /// unanswered.
        approve_all: bool,
    },
}

/// Limits of a run that a caller sets; a limit that is left out comes from the settings. 0 means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RunLimitOverrides {
    /// Maximum number of model turns.
    pub turns: Option<u32>,
    /// Maximum number of calls.
    pub calls: Option<u32>,
    /// Maximum number of tokens, read and written.
    pub tokens: Option<u64>,
    /// Maximum cost, in US dollars.
    pub cost_usd: Option<f64>,
    /// Maximum active time, in minutes.
    pub minutes: Option<u32>,
}

impl RunLimitOverrides {
    /// Returns the limits in force.
    pub(crate) fn apply_to(&self, set: RunLimits) -> RunLimits {
        RunLimits {
            turns: self.turns.unwrap_or(set.turns),
            calls: self.calls.unwrap_or(set.calls),
            tokens: self.tokens.unwrap_or(set.tokens),
            cost_usd: self.cost_usd.unwrap_or(set.cost_usd),
            minutes: self.minutes.unwrap_or(set.minutes),
            repeats: set.repeats,
        }
    }
}

/// The text of a rules file that a caller read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulesText {
    /// Name of the file, as a trail shows it.
    pub file: String,
    /// The text.
    pub text: String,
}

/// Everything that is needed to open an engine.
#[derive(Clone)]
pub struct EngineConfig {
    /// Folder of the database, copies for undo, sidecar files, settings and the person's rules.
    pub data_dir: PathBuf,
    /// The home folder of the person, for their skills and agents; none to do without.
    pub home: Option<PathBuf>,
    /// The party that answers when a call asks.
    pub host: Host,
    /// Further rules file that the caller names, read as session rules.
    pub rules: Option<PathBuf>,
    /// Rules that stand in the place of the person's own; none to read those of the data folder.
    pub user_rules: Option<Vec<RulesText>>,
    /// Provider of the caller, found under its own id before all others.
    pub provider: Option<Arc<dyn Provider>>,
    /// Tools of the caller, beside the built-in ones (`S002-106`).
    pub tools: Vec<Arc<dyn Tool>>,
    /// Program that runs commands in a sandbox, `countersign-sandbox`; none to run them without one.
    pub sandbox_program: Option<PathBuf>,
    /// Hosts that every command may reach when it runs for real, if the caller that opened this engine for one command
    /// chose to run it in place; none otherwise.
    pub in_place: Option<Vec<String>>,
    /// Posture that the caller chose; none for that of the settings.
    pub posture: Option<Posture>,
    /// Hooks of the caller around each call, in this order; may be empty (`S001-67`).
    pub hooks: Vec<Arc<dyn Hooks>>,
    /// Limits of a run that override those of the settings.
    pub limits: RunLimitOverrides,
    /// Source of keys; environment and system keychain if none is given.
    pub keys: Option<Arc<dyn KeyStore>>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Source of new ids.
    pub ids: Arc<dyn IdGenerator>,
    /// Whether to recover everything that an earlier end of the app left behind, and to restore the calls that waited
    /// for a decision. A process that only reads, or works beside a window on the same folder, must not: a headless
    /// host would deny the calls that wait for a person. Without this, only work of processes that no longer exist is
    /// ended.
    pub recovers: bool,
    /// Whether to publish events that other processes record in the same folder as they arrive: for interfaces that
    /// show all sessions.
    pub watches_record: bool,
    /// Whether to keep no record, for throwaway runs: events are held in memory only, so nothing can be looked up,
    /// searched or resumed. Copies for undo are taken all the same.
    pub in_memory: bool,
    /// Whether a call that could take effect beyond the workspace ends before it runs: it is judged, asks, and is
    /// approved as any other. For workspaces that are copies.
    pub contained: bool,
}

impl EngineConfig {
    /// Returns the configuration of an engine over a data folder, with the real clock.
    pub fn new(data_dir: PathBuf, host: Host) -> Self {
        Self {
            data_dir,
            home: None,
            host,
            rules: None,
            user_rules: None,
            provider: None,
            tools: Vec::new(),
            sandbox_program: None,
            in_place: None,
            posture: None,
            hooks: Vec::new(),
            limits: RunLimitOverrides::default(),
            keys: None,
            clock: Arc::new(SystemClock),
            ids: Arc::new(TimeIdGenerator),
            recovers: true,
            watches_record: false,
            in_memory: false,
            contained: false,
        }
    }

    /// Returns the home folder of the current user, if there is one.
    pub fn home_dir() -> Option<PathBuf> {
        directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned())
    }

    /// Returns the system's location for the data folder; none without a home folder.
    pub fn default_data_dir() -> Option<PathBuf> {
        directories::BaseDirs::new().map(|dirs| dirs.data_dir().join("countersign"))
    }

    /// Resolves the data folder: the given one, else `COUNTERSIGN_DATA_DIR`, else the system's location for it. The
    /// path is absolute, so that all processes with the same folder call the rules in it by the same name, and count
    /// them as the same.
    pub fn resolve_data_dir(data_dir: Option<PathBuf>) -> Result<PathBuf, UserError> {
        let path = data_dir
            .or_else(|| {
                std::env::var_os("COUNTERSIGN_DATA_DIR")
                    .filter(|dir| !dir.is_empty())
                    .map(PathBuf::from)
            })
            .or_else(Self::default_data_dir)
            .ok_or_else(|| {
                UserError::new(
                    "There is no home folder to keep the record in.",
                    "Name a folder with --data-dir or COUNTERSIGN_DATA_DIR.",
                )
            })?;
        Ok(std::path::absolute(&path).unwrap_or(path))
    }
}
