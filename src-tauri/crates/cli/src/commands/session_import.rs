//! `sessions import`: sessions of another agent, from its transcripts.

use agent::Engine;
use agent::replay::parse_since;
use gateway::transcripts::{
    self, ImportQuery, TranscriptPlace, find_transcript_agent, resolve_workspace,
};
use protocol::connection::SessionImport;
use protocol::text::display_text::format_count;
use protocol::{At, UserError};

use super::absolute_path;
use super::transcript_calls::{usual_place, warn_of_faults};
use crate::args::ImportSessionsArgs;
use crate::exit::{CliError, CliResult};
use crate::output::OutputWriter;

/// Imports the sessions that the arguments name, and says what was added and what was left out.
pub(super) async fn import_sessions(
    desk: &Engine,
    args: ImportSessionsArgs,
    out: &mut OutputWriter,
) -> CliResult {
    let agent = find_transcript_agent(&args.from).map_err(CliError::usage_error)?;
    let since = args.since.as_deref();
    let since = since.map(|text| parse_since(text, desk.now()));
    let since = since.transpose().map_err(CliError::usage_error)?;
    let workspace = match args.all {
        true => None,
        false => Some(resolve_workspace(&args.workspace).map_err(CliError::usage_error)?),
    };
    let place = match &args.file {
        Some(file) => TranscriptPlace::File(absolute_path("transcript", file)?),
        None => usual_place(agent)?,
    };
    let query = ImportQuery {
        agent,
        place,
        workspace,
        since: since.unwrap_or(At::MIN),
    };
    let import = transcripts::import_sessions(desk, query).await?;
    warn_of_rest(&import, out);
    out.write_answer(&import, |out| {
        out.write_line(&describe_import(&import, agent.name()))?;
        if import.added + import.grown > 0 {
            out.write_line("Look at them: countersign sessions; countersign search WORDS")?;
        }
        Ok(())
    })
}

fn describe_import(import: &SessionImport, agent: &str) -> String {
    let SessionImport {
        added,
        grown,
        unchanged,
        entries,
        ..
    } = import;
    let mut parts = vec![format!(
        "Imported from {agent}: {}",
        format_count(*added, "session")
    )];
    if *grown > 0 {
        parts.push(format!(
            "what is new in {}",
            format_count(*grown, "session")
        ));
    }
    let had_nothing = match unchanged {
        0 => String::new(),
        _ => format!(
            " Nothing new in {} on record.",
            format_count(*unchanged, "session")
        ),
    };
    let parts = parts.join(", ");
    format!("{parts} (messages and calls: {entries}).{had_nothing}")
}

fn warn_of_rest(import: &SessionImport, out: &OutputWriter) {
    if import.elsewhere > 0 {
        let count = format_count(import.elsewhere, "session");
        let message = format!("Left out, because they were in other folders: {count}.");
        let hint = "Name another --workspace, or take them with --all.";
        out.write_warning(&UserError::new(message, hint));
    }
    warn_of_faults(import.faults, &import.reasons, out);
}
