//! Complete views for an interface: the engine's state at the start, and a tool with everything known about it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::model::ProviderView;
use crate::view::entry::SessionView;
use crate::{Entry, Settings, ToolInterface, ToolKind, ToolMode, UserError};

/// Complete state of the engine, for an interface that starts or reconnects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct EngineView {
    /// Position of the last event that this view includes; subscribe from here.
    pub seq: u64,
    /// Every session, most recently changed first.
    pub sessions: Vec<SessionView>,
    /// Every waiting call, oldest first.
    pub desk: Vec<Entry>,
    /// The settings in force.
    pub settings: Settings,
    /// The providers.
    pub providers: Vec<ProviderView>,
    /// Errors in settings or rules; stricter behaviour holds until they are fixed.
    pub faults: Vec<UserError>,
    /// The file that holds the settings, absolute.
    pub settings_file: String,
    /// The app's version.
    pub version: String,
    /// The home folder, so that paths below it can be abbreviated with `~`.
    pub home: String,
}

/// A tool with the properties inferred about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ToolView {
    /// Interface that the tool publishes.
    pub record: ToolInterface,
    /// The mode in force; none if nothing defines it (M21).
    pub mode: Option<ToolMode>,
    /// Source of the mode in force.
    pub mode_from: String,
    /// The tool's own mode, regardless of the person's setting.
    pub own_mode: Option<ToolMode>,
    /// Modes that a person may set instead, from loose to strict: those stricter than the tool's own.
    pub stricter_modes: Vec<ToolMode>,
    /// Kind of operation, in ACP's terms.
    pub kind: ToolKind,
    /// Whether the tool can be used.
    pub enabled: bool,
    /// Setup that is required first, in a sentence; none if nothing is (`S003-19`).
    pub setup: Option<String>,
    /// Whether the tool's name is reserved by the app, so that no other tool can take it.
    pub locked: bool,
}
