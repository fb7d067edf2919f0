//! What an interface is told whole: all that it needs to begin, and a tool with everything that is known of it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::model::ProviderView;
use crate::view::entry::SessionView;
use crate::{Entry, Settings, ToolInterface, ToolKind, ToolMode, UserError};

/// Everything that the interface needs to be whole again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct EngineView {
    /// The last event that this includes; subscribe from here.
    pub seq: u64,
    /// Every session, the one that changed last first.
    pub sessions: Vec<SessionView>,
    /// Every waiting call, oldest first.
    pub desk: Vec<Entry>,
    /// The settings in force.
    pub settings: Settings,
    /// The providers.
    pub providers: Vec<ProviderView>,
    /// What is wrong with settings or rules; stricter behaviour holds meanwhile.
    pub faults: Vec<UserError>,
    /// The app's version.
    pub version: String,
    /// The home folder, so that paths below it can be written with `~`.
    pub home: String,
}

/// A tool with what was inferred about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ToolView {
    /// What it publishes.
    pub record: ToolInterface,
    /// The mode that holds; none if nothing says which (M21).
    pub mode: Option<ToolMode>,
    /// Where the mode comes from.
    pub mode_from: String,
    /// The tool's own mode, whatever the person set.
    pub own_mode: Option<ToolMode>,
    /// The modes that a person may set instead, from loose to strict: those that are stricter than its own.
    pub stricter_modes: Vec<ToolMode>,
    /// What it does, in ACP's words.
    pub kind: ToolKind,
    /// Whether it can be used.
    pub enabled: bool,
    /// What has to be set up first, in a sentence; none if nothing has (`S003-19`).
    pub setup: Option<String>,
    /// Whether its name belongs to the house and no other tool can take it.
    pub locked: bool,
}
