//! What goes with a message: whether its images are shown, and which files of the workspace it can name.

use std::path::Path;

use protocol::session::attachments::{DroppedFile, ImageSupport};
use protocol::{SessionId, UserError};
use runtime::{FileTraits, GlobQuery, Workspace, find_files, find_same_files};
use tokio_util::sync::CancellationToken;

use crate::limits::FILE_NAMES_SEARCHED_MAX;
use crate::session::agent_runner::AGENT_PROVIDER;
use crate::session::engine_state::{EngineState, missing_session_error};

/// Returns what becomes of images in a message to a session.
pub(super) fn image_support(
    engine: &EngineState,
    id: &SessionId,
) -> Result<ImageSupport, UserError> {
    let view = engine.record.session(id)?;
    let model = view.ok_or_else(|| missing_session_error(id))?.model;
    if model.provider == AGENT_PROVIDER {
        let runner = engine.agent_runner()?;
        return Ok(match runner.takes_images(id) {
            Some(true) => ImageSupport::Shown,
            Some(false) => ImageSupport::LeftOut,
            None => ImageSupport::Unknown,
        });
    }
    Ok(match engine.providers().shows_images(&model) {
        true => ImageSupport::Shown,
        false => ImageSupport::Described,
    })
}

/// Returns files of a workspace whose paths have the letters of a text, the best first.
pub(super) async fn list_file_names(
    workspace: String,
    text: String,
    limit: usize,
) -> Result<Vec<String>, UserError> {
    in_workspace(workspace, move |workspace| {
        let all = GlobQuery::files_matching("**", FILE_NAMES_SEARCHED_MAX);
        let found = find_files(workspace, &all, &CancellationToken::new())?;
        Ok(rank_paths(found.paths, &text, limit))
    })
    .await
}

/// Returns the files of a workspace that a dropped file may be.
pub(super) async fn find_dropped_file(
    workspace: String,
    file: DroppedFile,
) -> Result<Vec<String>, UserError> {
    in_workspace(workspace, move |workspace| {
        let wanted = FileTraits {
            name: &file.name,
            bytes: file.bytes,
            modified_ms: file.modified,
        };
        let most = DroppedFile::CANDIDATES_MAX;
        Ok(find_same_files(
            workspace,
            &wanted,
            most,
            &CancellationToken::new(),
        )?)
    })
    .await
}

/// Looks for something in a workspace, which waits for the disk.
async fn in_workspace(
    root: String,
    look: impl FnOnce(&Workspace) -> Result<Vec<String>, UserError> + Send + 'static,
) -> Result<Vec<String>, UserError> {
    let looked = tokio::task::spawn_blocking(move || look(&Workspace::open(Path::new(&root))?));
    looked
        .await
        .map_err(|_| UserError::new("The search for files broke off.", "Try again."))?
}

/// How well a path fits a text; the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PathFit {
    /// The file's name begins with the text.
    NameBegins,
    /// The file's name has the text in it.
    NameContains,
    /// The path has the text in it.
    PathContains,
    /// The path has the letters of the text, in their order.
    LettersInOrder,
}

/// Returns the paths that fit a text, the best first and among equals the shortest; case does not count.
fn rank_paths(paths: Vec<String>, text: &str, limit: usize) -> Vec<String> {
    let text = text.to_lowercase();
    let mut fitting: Vec<_> = paths
        .into_iter()
        .filter_map(|path| Some((fit_path(&path.to_lowercase(), &text)?, path.len(), path)))
        .collect();
    fitting.sort();
    let best = fitting.into_iter().take(limit);
    best.map(|(_, _, path)| path).collect()
}

fn fit_path(path: &str, text: &str) -> Option<PathFit> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.starts_with(text) {
        return Some(PathFit::NameBegins);
    }
    if name.contains(text) {
        return Some(PathFit::NameContains);
    }
    if path.contains(text) {
        return Some(PathFit::PathContains);
    }
    let mut letters = path.chars();
    let in_order = text
        .chars()
        .all(|wanted| letters.any(|letter| letter == wanted));
    in_order.then_some(PathFit::LettersInOrder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_path_comes_first() {
        let paths = [
            "src/parser/mod.rs",
            "docs/Parser.md",
            "src/old_parser.rs",
            "src/lib.rs",
            "p/a/r/s/e.txt",
        ];
        let rank = |text: &str, limit| rank_paths(paths.map(str::to_owned).into(), text, limit);
        assert_eq!(
            rank("parse", 9),
            [
                "docs/Parser.md",
                "src/old_parser.rs",
                "src/parser/mod.rs",
                "p/a/r/s/e.txt"
            ]
        );
        assert_eq!(rank("src/l", 9), ["src/lib.rs", "src/old_parser.rs"]);
        assert_eq!(rank("PARSE", 1), ["docs/Parser.md"]);
        assert_eq!(rank("", 2), ["src/lib.rs", "p/a/r/s/e.txt"]);
        assert!(rank("zzz", 9).is_empty());
    }
}
