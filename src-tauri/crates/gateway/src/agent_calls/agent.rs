//! The agents whose calls can be translated.

/// An agent of somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExternalAgent {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    GeminiCli,
    /// opencode.
    Opencode,
    /// Cursor.
    Cursor,
}

impl ExternalAgent {
    /// All agents.
    pub const ALL: [Self; 5] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::GeminiCli,
        Self::Opencode,
        Self::Cursor,
    ];

    /// Returns the agent of this id.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.id() == id)
    }

    /// Returns the id by which commands and the record name the agent.
    pub const fn id(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini-cli",
            Self::Opencode => "opencode",
            Self::Cursor => "cursor",
        }
    }

    /// Returns the name that a person knows the agent by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::GeminiCli => "Gemini CLI",
            Self::Opencode => "opencode",
            Self::Cursor => "Cursor",
        }
    }

    /// Returns the version whose tools the table was compared with; none where only the documentation was at hand.
    pub const fn compared_version(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("2.1.332"),
            Self::Codex => Some("0.171.0"),
            Self::GeminiCli => Some("0.61.0"),
            Self::Opencode => Some("1.18.33"),
            Self::Cursor => None,
        }
    }
}
