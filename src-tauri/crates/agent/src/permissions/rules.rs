//! The rules in force for a session: built-in rules, the person's, the project's, those the caller named, and grants.

use std::path::Path;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use policy::RuleSet;
use policy::rules_file::{self, RulesFile, RulesFileSource};
use protocol::{RuleAction, RuleScope, SessionId, UserError};
use runtime::{Clock, ClosedFiles, ClosedSource, Workspace};

use crate::host::config::{EngineConfig, RulesText};
use crate::permissions::trust;
use crate::permissions::trust::PROJECT_FILE;
use crate::permissions::{grant_ledger, rule_uses};

/// Folder of the sample workspaces, in the data folder.
pub(crate) const SAMPLES_FOLDER: &str = "demo";

/// Rules in force of a session, reloaded with each run; shared with the check of which files a search may read.
pub(crate) type RulesInForce = Arc<RwLock<Arc<RuleSet>>>;

/// Loaded rules, and what a person should know of them.
pub struct LoadedRules {
    /// The rules.
    pub rules: RuleSet,
    /// Errors of the rules.
    pub errors: Vec<UserError>,
    /// Notice that the project's file waits to be trusted, if it does.
    pub untrusted: Option<UserError>,
}

/// Returns the files that a search must not read, by the rules in force at the time of the search.
pub(crate) fn closed_paths(in_force: RulesInForce, clock: Arc<dyn Clock>) -> ClosedFiles {
    let now = move |of: &RulesInForce| of.read().clone();
    let by = in_force.clone();
    ClosedFiles::new(move |path| now(&in_force).masks_path(path, clock.now())).with_source(
        move || {
            let rules = now(&by);
            rules.has_stable_masks().then_some(rules as ClosedSource)
        },
    )
}

/// Loads all rules of a session. A source that cannot be read makes every call ask, and reports an error.
///
/// `lineage` is the session with those that it works for: their grants and denials apply to the session.
pub fn load_rules(
    data_dir: &Path,
    workspace: Option<&Workspace>,
    lineage: &[SessionId],
    rules_file: Option<&Path>,
) -> LoadedRules {
    load_draft_rules(
        data_dir,
        workspace,
        lineage,
        rules_file,
        &RuleDraft::Unchanged,
    )
}

/// Cache of parsed rules files: compiling patterns is slow, and an unchanged file need not be parsed again.
#[derive(Default)]
pub(crate) struct RuleFileCache(Mutex<Vec<CachedRuleFile>>);

struct CachedRuleFile {
    file: String,
    scope: RuleScope,
    trusted: bool,
    text: String,
    rules: RulesFile,
}

impl RuleFileCache {
    /// Returns the rules of a session in a workspace, as [`load_rules`] does. Every file is read, to notice changes.
    pub fn load(
        &self,
        config: &EngineConfig,
        workspace: &Workspace,
        lineage: &[SessionId],
    ) -> LoadedRules {
        let places = RulePlaces {
            data_dir: &config.data_dir,
            workspace: Some(workspace),
            lineage,
            named: config.rules.as_deref(),
            user: config.user_rules.as_deref(),
        };
        load_from_places(&places, &RuleDraft::Unchanged, self)
    }

    fn parse_cached(
        &self,
        text: &str,
        source: &RulesFileSource<'_>,
    ) -> Result<RulesFile, UserError> {
        let mut all = self.0.lock();
        let is_it = |one: &CachedRuleFile| one.file == source.file && one.scope == source.scope;
        let says_it = |one: &&CachedRuleFile| one.trusted == source.trusted && one.text == text;
        if let Some(known) = all.iter().find(|one| is_it(one)).filter(says_it) {
            return Ok(known.rules.clone());
        }
        let rules = rules_file::parse_rules_file(text, source)?;
        all.retain(|one| !is_it(one));
        all.push(CachedRuleFile {
            file: source.file.to_owned(),
            scope: source.scope,
            trusted: source.trusted,
            text: text.to_owned(),
            rules: rules.clone(),
        });
        Ok(rules)
    }
}

/// Draft of a change to the rules, to load them as if it were saved. Rules that a person writes themselves count as
/// trusted.
pub enum RuleDraft<'a> {
    /// The rules as they are.
    Unchanged,
    /// With another text in place of the file of a scope.
    Replace(RuleScope, &'a str),
    /// Without the rule whose header is in this line of the file of a scope.
    Without(RuleScope, u32),
}

/// Loads all rules as if a draft were saved.
pub fn load_draft_rules(
    data_dir: &Path,
    workspace: Option<&Workspace>,
    lineage: &[SessionId],
    rules_file: Option<&Path>,
    draft: &RuleDraft<'_>,
) -> LoadedRules {
    let places = RulePlaces {
        data_dir,
        workspace,
        lineage,
        named: rules_file,
        user: None,
    };
    load_from_places(&places, draft, &RuleFileCache::default())
}

/// Sources of the rules of a session.
struct RulePlaces<'a> {
    data_dir: &'a Path,
    workspace: Option<&'a Workspace>,
    /// Session with those that it works for, whose grants apply.
    lineage: &'a [SessionId],
    /// Rules file that the caller named.
    named: Option<&'a Path>,
    /// Rules in the place of the person's file.
    user: Option<&'a [RulesText]>,
}

fn load_from_places(
    places: &RulePlaces<'_>,
    draft: &RuleDraft<'_>,
    cache: &RuleFileCache,
) -> LoadedRules {
    let RulePlaces {
        data_dir,
        workspace,
        lineage,
        named: rules_file,
        user,
    } = *places;
    let root = workspace.map(|workspace| workspace.root().to_string_lossy());
    let root = root.unwrap_or_default();
    let mut set = RuleSet::builtin();
    if workspace.is_some() {
        set = set.with_root(root.clone());
    }
    if let Some(own) = workspace.and_then(|workspace| find_own_folder(data_dir, workspace.root())) {
        set = set.with_protected_folder(&own);
    }
    let mut faults = Vec::new();
    let mut untrusted = None;
    let trusted = trust::load_trusted(data_dir).unwrap_or_else(|fault| {
        faults.push(fault);
        Vec::new()
    });
    let mut sources: Vec<_> = match user {
        Some(given) => given
            .iter()
            .map(|one| {
                (
                    Ok(Some(one.text.clone())),
                    one.file.clone(),
                    RuleScope::User,
                )
            })
            .collect(),
        None => {
            let file = data_dir.join("rules.toml");
            let text = runtime::read_text(&file).map_err(UserError::from);
            vec![(text, file.display().to_string(), RuleScope::User)]
        }
    };
    sources.push((
        workspace.map_or(Ok(None), trust::read_project_rules),
        PROJECT_FILE.to_owned(),
        RuleScope::Project,
    ));
    sources.push(match rules_file {
        Some(file) => (
            read_existing(file),
            file.display().to_string(),
            RuleScope::Session,
        ),
        None => (Ok(None), String::new(), RuleScope::Session),
    });
    for (text, file, scope) in sources {
        let drafted = match draft {
            RuleDraft::Replace(of, text) if *of == scope => Some((*text).to_owned()),
            RuleDraft::Replace(..) | RuleDraft::Without(..) | RuleDraft::Unchanged => None,
        };
        let is_draft = drafted.is_some();
        let read = match drafted.map_or(text, |text| Ok(Some(text))) {
            Ok(None) => continue,
            Ok(Some(text)) => {
                let mut source = RulesFileSource::new(&file, scope);
                if scope == RuleScope::Project {
                    source.trusted =
                        is_draft || policy::trust::check_trust(&root, &text, &trusted).can_loosen();
                }
                let read = cache.parse_cached(&text, &source);
                let wants = |file: &RulesFile| {
                    let mut rules = file.rules.iter();
                    rules.any(|rule| !rule.trusted && rule.rule.action == RuleAction::Allow)
                };
                if let (Some(workspace), true) = (workspace, read.as_ref().is_ok_and(wants)) {
                    untrusted = Some(untrusted_error(workspace));
                }
                read.map(|mut file| {
                    file.rules.retain(|rule| match draft {
                        RuleDraft::Without(of, line) => {
                            *of != scope || rule.rule.line != Some(*line)
                        }
                        RuleDraft::Replace(..) | RuleDraft::Unchanged => true,
                    });
                    file
                })
            }
            Err(fault) => Err(fault),
        };
        match read {
            Ok(rules) => set.add(rules),
            Err(fault) => {
                set.broken.get_or_insert_with(|| fault.message.clone());
                faults.push(fault);
            }
        }
    }
    for fault in grant_ledger::add_grants(&mut set, data_dir, &root, lineage) {
        set.broken.get_or_insert_with(|| fault.message.clone());
        faults.push(fault);
    }
    rule_uses::remove_used_up(data_dir, &mut set);
    LoadedRules {
        rules: set,
        errors: faults,
        untrusted,
    }
}

/// Returns the notice about a project's file whose loosening rules are not in force because it is not trusted.
fn untrusted_error(workspace: &Workspace) -> UserError {
    UserError::new(
        format!(
            "{PROJECT_FILE} of {} wants to allow calls, but you have not trusted it as it is now: it only tightens.",
            workspace.root().display()
        ),
        "Look at it among the rules, and trust it if you agree.",
    )
}

/// Returns the part of a workspace that the data folder takes up, by its path from the root on: nothing there is an
/// agent's business. It is empty if the whole workspace lies in the data folder, as only samples do that are made for
/// agents; none if neither lies in the other.
fn find_own_folder(data_dir: &Path, root: &Path) -> Option<String> {
    let opened = Workspace::open(data_dir);
    let data = opened.as_ref().map_or(data_dir, |opened| opened.root());
    if let Ok(below) = data.strip_prefix(root) {
        let names = below.iter().map(|name| name.to_string_lossy());
        return Some(names.collect::<Vec<_>>().join("/"));
    }
    let is_own = root.starts_with(data) && !root.starts_with(data.join(SAMPLES_FOLDER));
    is_own.then(String::new)
}

fn read_existing(file: &Path) -> Result<Option<String>, UserError> {
    match runtime::read_text(file)? {
        Some(text) => Ok(Some(text)),
        None => Err(UserError::new(
            format!("There is no rules file {}.", file.display()),
            "Check the path.",
        )),
    }
}
