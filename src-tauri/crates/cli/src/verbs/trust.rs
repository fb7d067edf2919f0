//! `policy trust`: looks at a project's rules file, and says whether it may loosen.

use std::path::{Path, PathBuf};

use agent::{DeskConfig, trust};
use protocol::shown::plain;
use protocol::{Digest, ProjectRules, Trust};

use crate::ending::{Code, Ended, Ending};
use crate::out::{Ink, Out};

/// Shows, trusts or distrusts.
pub(crate) fn run(
    data_dir: Option<PathBuf>,
    folder: &Path,
    accept: Option<String>,
    revoke: bool,
    out: &mut Out,
) -> Ended {
    let data_dir = DeskConfig::data_dir(data_dir)?;
    match (accept, revoke) {
        (Some(digest), _) => trust::accept(&data_dir, folder, &Digest(digest)).map(drop)?,
        (None, true) => trust::revoke(&data_dir, folder).map(drop)?,
        (None, false) => {}
    }
    let view = trust::view(&data_dir, folder).map_err(Ending::unusable)?;
    if out.is_json() {
        out.json(&view)?;
    } else {
        tell(view.as_ref(), out)?;
    }
    Ok(match view.map(|rules| rules.trust) {
        None | Some(Trust::Trusted) => Code::Done,
        Some(Trust::Changed | Trust::Unknown) if revoke => Code::Done,
        Some(Trust::Changed | Trust::Unknown) => Code::Failed,
    })
}

fn tell(rules: Option<&ProjectRules>, out: &mut Out) -> Result<(), Ending> {
    let Some(rules) = rules else {
        return out.line("This project has no rules of its own.");
    };
    let (ink, said, body) = match rules.trust {
        Trust::Trusted => (Ink::Good, "is trusted: it may loosen.", &rules.text),
        Trust::Changed => (
            Ink::Warn,
            "changed since you trusted it: it only tightens.",
            &rules.changes,
        ),
        Trust::Unknown => (Ink::Warn, "is not trusted: it only tightens.", &rules.text),
    };
    let head = out.ink(ink, &format!("{} {said}", rules.file));
    out.line(&head)?;
    out.line("")?;
    let body = out.ink(Ink::Plain, &plain(body));
    out.line(body.trim_end())?;
    if rules.trust == Trust::Trusted {
        return Ok(());
    }
    out.line("")?;
    let next = format!(
        "To trust exactly this text: countersign policy trust --accept {}",
        rules.digest.0
    );
    out.line(&next)
}
