//! What an editor calls the modes of a session: our postures, and planning.

use agent_client_protocol::v1::schema::{SessionMode, SessionModeId, SessionModeState};
use protocol::settings::Posture;

/// Id of the mode in which the agent only plans.
const PLAN: &str = "plan";

/// A mode of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The agent works, and this asks.
    Work(Posture),
    /// The agent looks around and comes to a plan; nothing is changed.
    Plan,
}

impl Mode {
    /// Returns the mode with this id.
    pub fn parse(id: &SessionModeId) -> Option<Self> {
        Self::all().find(|mode| mode.id() == *id)
    }

    /// Returns the id of the mode.
    pub fn id(self) -> SessionModeId {
        SessionModeId::new(match self {
            Self::Work(posture) => posture.as_str(),
            Self::Plan => PLAN,
        })
    }

    /// Returns all modes, with this one as the current one.
    pub fn to_state(self) -> SessionModeState {
        let all = Self::all().map(|mode| {
            let (name, description) = mode.describe();
            SessionMode::new(mode.id(), name).description(description.to_owned())
        });
        SessionModeState::new(self.id(), all.collect())
    }

    fn all() -> impl Iterator<Item = Self> {
        Posture::ALL.map(Self::Work).into_iter().chain([Self::Plan])
    }

    fn describe(self) -> (&'static str, &'static str) {
        match self {
            Self::Work(Posture::AskFirst) => ("Ask first", "A command asks before it runs."),
            Self::Work(Posture::AskAboutEffects) => (
                "Ask about effects",
                "A command runs in a sandbox first. It asks unless it changed only files of the folder and can be undone.",
            ),
            Self::Work(Posture::Unattended) => (
                "Unattended",
                "As “Ask about effects”, and what would ask is denied.",
            ),
            Self::Plan => (
                "Plan",
                "The agent looks around and comes to a plan. Nothing is changed and no command runs.",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_is_found_by_its_id() {
        let state = Mode::Plan.to_state();
        let ids: Vec<String> = state
            .available_modes
            .iter()
            .map(|mode| mode.id.to_string())
            .collect();
        assert_eq!(
            ids,
            ["ask_first", "ask_about_effects", "unattended", "plan"]
        );
        for mode in state.available_modes {
            assert_eq!(Mode::parse(&mode.id).map(Mode::id), Some(mode.id));
        }
        assert_eq!(Mode::parse(&"yolo".into()), None);
    }
}
