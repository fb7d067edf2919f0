//! Where instructions, skills and agents lie: in the project, from its root down to the workspace, and with the person.

use std::path::Path;

use protocol::briefing::Source;
use runtime::{PathKind, Workspace};
use tools::{agents, skills};

use crate::limits::FOLDERS_UP_MAX;

/// Where skills lie in a project and at home, the first first.
const SKILLS: [&str; 2] = [".agents/skills", ".claude/skills"];
/// Where agents of other programs lie, in a project and at home.
const FOREIGN_AGENTS: &str = ".claude/agents";

/// The places of one session.
pub(super) struct Places {
    /// The workspace and the folders above it, up to the root of its repository; the nearest first.
    pub up: Vec<Workspace>,
    home: Option<Workspace>,
    data: Option<Workspace>,
    configured: Vec<Workspace>,
}

impl Places {
    pub fn of(workspace: &Workspace, home: Option<&Path>, data: &Path, folders: &[String]) -> Self {
        let open = |path: &Path| Workspace::open(path).ok();
        Self {
            up: up(workspace),
            home: home.and_then(open),
            data: open(data),
            configured: folders
                .iter()
                .filter_map(|folder| open(Path::new(folder)))
                .collect(),
        }
    }

    /// Folders of skills: the project's, the nearest first, then the person's, then those that the settings name.
    pub fn skills(&self) -> Vec<skills::Shelf> {
        let shelf = |from: &Workspace, path: &str, source| skills::Shelf {
            from: from.clone(),
            path: path.to_owned(),
            source,
        };
        let below = |from, source| SKILLS.map(|path| shelf(from, path, source));
        let project = self
            .up
            .iter()
            .flat_map(|folder| below(folder, Source::Project));
        let home = self
            .home
            .iter()
            .flat_map(|home| below(home, Source::Person));
        let named = self
            .configured
            .iter()
            .map(|folder| shelf(folder, ".", Source::Configured));
        project.chain(home).chain(named).collect()
    }

    /// Folders of agents: ours before other programs', the project's before the person's.
    pub fn agents(&self) -> Vec<agents::Shelf> {
        let shelf = |from: &Workspace, path: &str, source, foreign| agents::Shelf {
            from: from.clone(),
            path: path.to_owned(),
            source,
            foreign,
        };
        let project = self.up.iter().flat_map(|folder| {
            [
                shelf(folder, ".countersign/agents", Source::Project, false),
                shelf(folder, FOREIGN_AGENTS, Source::Project, true),
            ]
        });
        let own = self
            .data
            .iter()
            .map(|data| shelf(data, "agents", Source::Person, false));
        let home = self
            .home
            .iter()
            .map(|home| shelf(home, FOREIGN_AGENTS, Source::Person, true));
        project.chain(own).chain(home).collect()
    }
}

/// The workspace and what lies above it in its repository. Without a repository nobody can say where the project ends.
fn up(workspace: &Workspace) -> Vec<Workspace> {
    let holds_git = |folder: &Workspace| {
        matches!(
            folder.kind(".git"),
            Ok(Some(PathKind::Folder | PathKind::File))
        )
    };
    let mut up = vec![workspace.clone()];
    if holds_git(workspace) {
        return up;
    }
    for above in workspace.root().ancestors().skip(1).take(FOLDERS_UP_MAX) {
        let Ok(above) = Workspace::open(above) else {
            break;
        };
        let is_root = holds_git(&above);
        up.push(above);
        if is_root {
            return up;
        }
    }
    up.truncate(1);
    up
}
