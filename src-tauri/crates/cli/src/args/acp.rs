//! Arguments of `acp`: our agent, served to an editor.

use std::path::PathBuf;

use super::run::PostureArg;

/// Where calls that ask are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum AnswersArg {
    /// In the editor.
    Editor,
    /// At the desk of the app, which must be open. The agent works in the app, and closing the editor ends its runs.
    Desk,
}

/// The agent of an editor.
#[derive(Debug, clap::Args)]
pub(crate) struct AcpArgs {
    /// The provider; that of the settings if none is named.
    #[arg(long, conflicts_with = "script")]
    pub(crate) provider: Option<String>,
    /// The model; that of the settings if neither is named.
    #[arg(short, long, conflicts_with = "script")]
    pub(crate) model: Option<String>,
    /// What asks in a session, until the editor sets another mode. Without this, the settings say it.
    #[arg(long, value_name = "POSTURE", value_enum)]
    pub(crate) posture: Option<PostureArg>,
    /// Work in this folder, whichever one the client names: for a client on another machine, whose folders are others.
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Where calls that ask are answered.
    #[arg(long, value_name = "WHERE", value_enum, default_value_t = AnswersArg::Editor)]
    pub(crate) answers: AnswersArg,
    /// A further rules file for all sessions.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Play this script in the place of a model.
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
}
