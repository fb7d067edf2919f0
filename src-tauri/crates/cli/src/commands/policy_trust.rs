//! `policy trust`: shows a project's rules file, and sets whether the file may loosen the rules.

use std::path::{Path, PathBuf};

use agent::EngineConfig;
use agent::permissions::trust;
use protocol::text::display_text::join_spans;
use protocol::{Digest, ProjectRules, Trust};

use crate::exit::{CliError, CliResult, ExitReason};
use crate::output::{OutputWriter, TextStyle};

/// Shows, trusts or distrusts the file.
pub(crate) fn run_trust(
    data_dir: Option<PathBuf>,
    folder: &Path,
    accept: Option<String>,
    revoke: bool,
    out: &mut OutputWriter,
) -> CliResult {
    let data_dir = EngineConfig::resolve_data_dir(data_dir)?;
    match (accept, revoke) {
        (Some(digest), _) => trust::trust_project(&data_dir, folder, &Digest(digest)).map(drop)?,
        (None, true) => trust::revoke_trust(&data_dir, folder).map(drop)?,
        (None, false) => {}
    }
    let view = trust::project_rules_view(&data_dir, folder).map_err(CliError::config_error)?;
    out.write_answer(&view, |out| print_project_rules(view.as_ref(), out))?;
    Ok(match view.map(|rules| rules.trust) {
        None | Some(Trust::Trusted) => ExitReason::Done,
        Some(Trust::Changed | Trust::Unknown) if revoke => ExitReason::Done,
        Some(Trust::Changed | Trust::Unknown) => ExitReason::Failed,
    })
}

fn print_project_rules(
    rules: Option<&ProjectRules>,
    out: &mut OutputWriter,
) -> Result<(), CliError> {
    let Some(rules) = rules else {
        return out.write_line("This project has no rules of its own.");
    };
    let (ink, said, body) = match rules.trust {
        Trust::Trusted => (TextStyle::Good, "is trusted: it may loosen.", &rules.text),
        Trust::Changed => (
            TextStyle::Warn,
            "changed since you trusted it: it only tightens.",
            &rules.changes,
        ),
        Trust::Unknown => (
            TextStyle::Warn,
            "is not trusted: it only tightens.",
            &rules.text,
        ),
    };
    out.write_styled(ink, &format!("{} {said}", rules.file))?;
    out.write_line("")?;
    let body = out.apply_style(TextStyle::Plain, &join_spans(body));
    out.write_line(body.trim_end())?;
    if rules.trust == Trust::Trusted {
        return Ok(());
    }
    out.write_line("")?;
    let next = format!(
        "To trust exactly this text: countersign policy trust --accept {}",
        rules.digest.0
    );
    out.write_line(&next)
}
