//! Where a desk keeps its things, and who sits at it.

use std::path::PathBuf;
use std::sync::Arc;

use protocol::{RunLimits, UserError};
use provider::{KeyStore, Provider};
use runtime::clock::{Clock, IdGenerator, SystemClock, TimeIdGenerator};
use tools::Tool;

use crate::host::hooks::Hooks;

/// Who answers when a call asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// A person at a window, or somebody who answers in a person's place through ops.
    Person,
    /// Nobody: what asks is denied (`S002-85`), unless everything that asks was approved beforehand.
    Headless {
        /// The caller approved beforehand whatever would ask. Denials stay denials, and questions stay unanswered.
        approve_all: bool,
    },
}

/// Limits of a run that a caller gives; what it leaves out is as the settings have it. 0 means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RunLimitOverrides {
    /// Model turns.
    pub turns: Option<u32>,
    /// Calls.
    pub calls: Option<u32>,
    /// Tokens, read and written.
    pub tokens: Option<u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Minutes at work.
    pub minutes: Option<u32>,
}

impl RunLimitOverrides {
    /// The limits in force.
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

/// Everything that a desk needs to open.
#[derive(Clone)]
pub struct EngineConfig {
    /// Folder of database, copies, sidecar files, settings and the person's rules.
    pub data_dir: PathBuf,
    /// The home folder of the person, for their skills and agents; none to do without.
    pub home: Option<PathBuf>,
    /// Who answers.
    pub host: Host,
    /// A further rules file that the caller names, read as session rules.
    pub rules: Option<PathBuf>,
    /// A provider of the caller's, found under its own id before all others.
    pub provider: Option<Arc<dyn Provider>>,
    /// Tools of the caller's own, beside those of the house (`S002-106`).
    pub tools: Vec<Arc<dyn Tool>>,
    /// The program that commands are sealed in, `countersign-room`; none to run them as they stand.
    pub room: Option<PathBuf>,
    /// With which hosts every command runs for real, because whoever starts this desk for one command said so; none: nobody
    /// did.
    pub in_place: Option<Vec<String>>,
    /// What the caller does around each call, in this order; none is fine (`S001-67`).
    pub hooks: Vec<Arc<dyn Hooks>>,
    /// Limits of a run that hold instead of those of the settings.
    pub limits: RunLimitOverrides,
    /// Where keys come from; environment and system keychain if none is given.
    pub keys: Option<Arc<dyn KeyStore>>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Where new ids come from.
    pub ids: Arc<dyn IdGenerator>,
    /// Whether to take up all that an earlier end of the app left behind, and to put back on the desk what was waiting.
    /// Whoever only looks, or works beside a window on the same folder, must not: a headless host would deny what waits
    /// for a person. Without this, what ran in a process that is no more is brought to its end, and nothing else.
    pub recovers: bool,
    /// Whether what other processes record in the same folder is told here as it comes: for whoever shows all of it.
    pub watches_record: bool,
    /// No record is kept, for throwaway runs: events stand in memory only, so nothing can be looked up, searched or
    /// taken up again. Copies for undo are taken all the same.
    pub in_memory: bool,
}

impl EngineConfig {
    /// A desk over a data folder, with the real clock.
    pub fn new(data_dir: PathBuf, host: Host) -> Self {
        Self {
            data_dir,
            home: None,
            host,
            rules: None,
            provider: None,
            tools: Vec::new(),
            room: None,
            in_place: None,
            hooks: Vec::new(),
            limits: RunLimitOverrides::default(),
            keys: None,
            clock: Arc::new(SystemClock),
            ids: Arc::new(TimeIdGenerator),
            recovers: true,
            watches_record: false,
            in_memory: false,
        }
    }

    /// The home folder of whoever runs this, if there is one.
    pub fn home_dir() -> Option<PathBuf> {
        directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned())
    }

    /// The data folder: what was given, else `COUNTERSIGN_DATA_DIR`, else the system's place for it. Absolute, so that whoever
    /// works with the same folder calls the rules in it by the same name, and counts them as the same.
    pub fn resolve_data_dir(given: Option<PathBuf>) -> Result<PathBuf, UserError> {
        let found = given
            .or_else(|| {
                std::env::var_os("COUNTERSIGN_DATA_DIR")
                    .filter(|dir| !dir.is_empty())
                    .map(PathBuf::from)
            })
            .or_else(|| {
                directories::BaseDirs::new().map(|dirs| dirs.data_dir().join("countersign"))
            })
            .ok_or_else(|| {
                UserError::new(
                    "There is no home folder to keep the record in.",
                    "Name a folder with --data-dir or COUNTERSIGN_DATA_DIR.",
                )
            })?;
        Ok(std::path::absolute(&found).unwrap_or(found))
    }
}
