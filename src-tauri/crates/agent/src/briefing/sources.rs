//! The locations of instructions, skills and agents: in the project, from its root down to the workspace, and in the
//! person's folders.

use std::path::Path;

use protocol::view::briefing::BriefingSource;
use runtime::{PathKind, Workspace};
use tools::{agents, skills};

use crate::limits::PARENT_FOLDERS_MAX;

/// Folders of skills in a project and at home, by precedence.
const SKILL_FOLDERS: [&str; 2] = [".agents/skills", ".claude/skills"];
/// Folder of other programs' agents, in a project and at home.
const FOREIGN_AGENTS_FOLDER: &str = ".claude/agents";

/// Locations for one session.
pub(super) struct BriefingSources {
    /// Workspace and the folders above it, up to the root of its repository; the nearest first.
    pub ancestors: Vec<Workspace>,
    home: Option<Workspace>,
    data: Option<Workspace>,
    configured: Vec<Workspace>,
}

impl BriefingSources {
    pub fn new(
        workspace: &Workspace,
        home: Option<&Path>,
        data: &Path,
        folders: &[String],
    ) -> Self {
        let open = |path: &Path| Workspace::open(path).ok();
        Self {
            ancestors: find_ancestors(workspace),
            home: home.and_then(open),
            data: open(data),
            configured: folders
                .iter()
                .filter_map(|folder| open(Path::new(folder)))
                .collect(),
        }
    }

    /// Returns the folders of skills: the project's, the nearest first, then the person's, then those that the settings
    /// name.
    pub fn skill_folders(&self) -> Vec<skills::SkillFolder> {
        let shelf = |from: &Workspace, path: &str, source| skills::SkillFolder {
            workspace: from.clone(),
            path: path.to_owned(),
            source,
        };
        let below = |from, source| SKILL_FOLDERS.map(|path| shelf(from, path, source));
        let project = self
            .ancestors
            .iter()
            .flat_map(|folder| below(folder, BriefingSource::Project));
        let home = self
            .home
            .iter()
            .flat_map(|home| below(home, BriefingSource::Person));
        let named = self
            .configured
            .iter()
            .map(|folder| shelf(folder, ".", BriefingSource::Configured));
        project.chain(home).chain(named).collect()
    }

    /// Returns the folders of agents: ours before other programs', the project's before the person's.
    pub fn agent_folders(&self) -> Vec<agents::AgentFolder> {
        let shelf = |from: &Workspace, path: &str, source, foreign| agents::AgentFolder {
            workspace: from.clone(),
            path: path.to_owned(),
            source,
            foreign,
        };
        let project = self.ancestors.iter().flat_map(|folder| {
            [
                shelf(
                    folder,
                    ".countersign/agents",
                    BriefingSource::Project,
                    false,
                ),
                shelf(folder, FOREIGN_AGENTS_FOLDER, BriefingSource::Project, true),
            ]
        });
        let own = self
            .data
            .iter()
            .map(|data| shelf(data, "agents", BriefingSource::Person, false));
        let home = self
            .home
            .iter()
            .map(|home| shelf(home, FOREIGN_AGENTS_FOLDER, BriefingSource::Person, true));
        project.chain(own).chain(home).collect()
    }
}

/// Returns the workspace and the folders above it in its repository. Outside a repository the extent of the project is
/// unknown, so only the workspace counts.
fn find_ancestors(workspace: &Workspace) -> Vec<Workspace> {
    let holds_git = |folder: &Workspace| {
        matches!(
            folder.path_kind(".git"),
            Ok(Some(PathKind::Folder | PathKind::File))
        )
    };
    let mut up = vec![workspace.clone()];
    if holds_git(workspace) {
        return up;
    }
    for above in workspace
        .root()
        .ancestors()
        .skip(1)
        .take(PARENT_FOLDERS_MAX)
    {
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
