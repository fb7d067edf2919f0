//! `acp`: serves our agent to an editor on standard input and output.

use std::io::IsTerminal;
use std::path::PathBuf;

use agent::Host;
use gateway::acp_agent::{self, AgentOptions, Answers};
use gateway::endpoint::{self, AgentRequest};
use protocol::{ModelChoice, UserError};

use super::{gateway::wait_for_termination, run};
use crate::args::{AcpArgs, AnswersArg};
use crate::exit::{CliError, CliResult, ExitReason};
use crate::output::OutputWriter;

/// Serves until the editor closes its side, or the program is told to stop.
pub(crate) async fn serve_agent(
    data_dir: Option<PathBuf>,
    args: AcpArgs,
    out: &mut OutputWriter,
) -> CliResult {
    // Standard output is the protocol's alone.
    out.redirect_to_stderr();
    if std::io::stdin().is_terminal() {
        out.write_warning(&UserError::new(
            "This waits for an editor that speaks ACP on standard input.",
            "Name it in the settings of an editor: see docs/editors.md. Ctrl+D ends it.",
        ));
    }
    match args.answers {
        AnswersArg::Editor => serve_here(data_dir, args, out).await,
        AnswersArg::Desk => serve_in_app(data_dir, args).await,
    }
}

/// Serves an agent of this program, whose calls ask in the editor.
async fn serve_here(data_dir: Option<PathBuf>, args: AcpArgs, out: &OutputWriter) -> CliResult {
    let mut config = super::engine_config(data_dir, Host::Person)?;
    let rules = args.rules.as_deref();
    let rules = rules.map(|file| super::absolute_path("rules file", file));
    config.rules = rules.transpose()?;
    config.provider = args.script.as_deref().map(run::read_script).transpose()?;
    let (has_script, has_rules) = (config.provider.is_some(), config.rules.is_some());
    let desk = super::open_engine(config).await?;
    super::report_rule_faults(&desk, has_rules, out).await?;
    let is_chosen = has_script || args.provider.is_some() || args.model.is_some();
    let model = match is_chosen {
        true => Some(run::choose_model(&desk, has_script, args.provider, args.model).await?),
        false => None,
    };
    let options = AgentOptions {
        model,
        posture: args.posture.map(Into::into),
        answers: Answers::Editor,
        workspace: args
            .workspace
            .as_deref()
            .map(|folder| super::absolute_path("folder", folder))
            .transpose()?,
    };
    let (from, to) = (tokio::io::stdin(), tokio::io::stdout());
    acp_agent::serve(&desk, options, from, to, wait_for_termination()).await?;
    desk.close();
    Ok(ExitReason::Done)
}

/// Hands the editor to the app, whose agent asks on the cards there.
async fn serve_in_app(data_dir: Option<PathBuf>, args: AcpArgs) -> CliResult {
    if args.script.is_some() || args.rules.is_some() || args.workspace.is_some() {
        let message = "The agent works in the app, which takes no script, no further rules, and no other folder.";
        return Err(CliError::usage(
            message,
            "Leave them out, or use --answers editor.",
        ));
    }
    let model = match (args.provider, args.model) {
        (None, Some(_)) => {
            let message = "The model has no provider.";
            return Err(CliError::usage(message, "Name it with --provider."));
        }
        (provider, model) => provider.map(|provider| ModelChoice {
            provider,
            model: model.unwrap_or_default(),
        }),
    };
    let agent = AgentRequest {
        model,
        posture: args.posture.map(Into::into),
    };
    let config = super::engine_config(data_dir, Host::Headless { approve_all: false })?;
    let (from, to) = (tokio::io::stdin(), tokio::io::stdout());
    tokio::select! {
        relayed = endpoint::relay_agent(&config.data_dir, agent, from, to) => relayed?,
        () = wait_for_termination() => {}
    }
    Ok(ExitReason::Done)
}
