//! The rules in force for a session: built in, the person's, the project's, those the caller named, and grants.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use policy::RuleSet;
use policy::rules_file::{self, RulesFile, Source};
use protocol::{Action, Fault, RuleScope, SessionId};
use runtime::{Clock, Closed, ClosedBy, Workspace};

use crate::session::RulesInForce;
use crate::trust::{self, PROJECT_FILE};
use crate::{ledger, uses};

/// Rules in force, and what a person should know of them.
pub struct Loaded {
    /// The rules.
    pub rules: RuleSet,
    /// What is wrong with them.
    pub faults: Vec<Fault>,
    /// That the project's file waits to be trusted, if it does.
    pub untrusted: Option<Fault>,
}

/// The files that a search must not look into, by the rules that are in force when it is asked.
pub(crate) fn closed(in_force: RulesInForce, clock: Arc<dyn Clock>) -> Closed {
    let now = move |of: &RulesInForce| of.read().unwrap_or_else(PoisonError::into_inner).clone();
    let by = in_force.clone();
    Closed::new(move |path| now(&in_force).closes(path, clock.now())).by(move || {
        let rules = now(&by);
        rules.closes_for_good().then_some(rules as ClosedBy)
    })
}

/// Loads all of them. A source that cannot be read makes every call ask, and says why.
///
/// `lineage` is the session with those that it works for: what was granted or refused for one of them holds for it.
pub fn load(
    data_dir: &Path,
    workspace: Option<&Workspace>,
    lineage: &[SessionId],
    named: Option<&Path>,
) -> Loaded {
    load_with(data_dir, workspace, lineage, named, &Draft::Nothing)
}

/// Rules files as they were understood last: patterns take their time, and a file that says what it said need not be
/// understood again.
#[derive(Default)]
pub(crate) struct Known(Mutex<Vec<KnownFile>>);

struct KnownFile {
    file: String,
    scope: RuleScope,
    trusted: bool,
    text: String,
    rules: RulesFile,
}

impl Known {
    /// What [`load`] gives. Every file is looked at.
    pub fn load(
        &self,
        data_dir: &Path,
        workspace: Option<&Workspace>,
        lineage: &[SessionId],
        named: Option<&Path>,
    ) -> Loaded {
        load_all(data_dir, workspace, lineage, named, &Draft::Nothing, self)
    }

    fn read(&self, text: &str, source: &Source<'_>) -> Result<RulesFile, Fault> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |one: &KnownFile| one.file == source.file && one.scope == source.scope;
        let says_it = |one: &&KnownFile| one.trusted == source.trusted && one.text == text;
        if let Some(known) = all.iter().find(|one| is_it(one)).filter(says_it) {
            return Ok(known.rules.clone());
        }
        let rules = rules_file::read(text, source)?;
        all.retain(|one| !is_it(one));
        all.push(KnownFile {
            file: source.file.to_owned(),
            scope: source.scope,
            trusted: source.trusted,
            text: text.to_owned(),
            rules: rules.clone(),
        });
        Ok(rules)
    }
}

/// How the rules would be read if a person's draft were saved; what they write themselves, they trust.
pub enum Draft<'a> {
    /// As they are.
    Nothing,
    /// With another text in the place of the file of a scope.
    Instead(RuleScope, &'a str),
    /// Without the rule whose header stands in this line of the file of a scope.
    Without(RuleScope, u32),
}

/// The same, as if a draft were saved.
pub fn load_with(
    data_dir: &Path,
    workspace: Option<&Workspace>,
    lineage: &[SessionId],
    named: Option<&Path>,
    draft: &Draft<'_>,
) -> Loaded {
    let nothing_known = Known::default();
    load_all(data_dir, workspace, lineage, named, draft, &nothing_known)
}

fn load_all(
    data_dir: &Path,
    workspace: Option<&Workspace>,
    lineage: &[SessionId],
    named: Option<&Path>,
    draft: &Draft<'_>,
    known: &Known,
) -> Loaded {
    let root = workspace.map(|workspace| workspace.root().to_string_lossy());
    let root = root.unwrap_or_default();
    let mut set = RuleSet::builtin();
    if workspace.is_some() {
        set = set.with_root(root.clone());
    }
    // Where the workspace holds the data folder itself, nothing there is an agent's business.
    if let Some(inside) = workspace.and_then(|workspace| within(data_dir, workspace.root())) {
        set = set.protecting(&inside);
    }
    let mut faults = Vec::new();
    let mut untrusted = None;
    let trusted = trust::trusted(data_dir).unwrap_or_else(|fault| {
        faults.push(fault);
        Vec::new()
    });
    let user = data_dir.join("rules.toml");
    let sources = [
        (
            runtime::read_text(&user).map_err(Fault::from),
            user.display().to_string(),
            RuleScope::User,
        ),
        (
            workspace.map_or(Ok(None), trust::project),
            PROJECT_FILE.to_owned(),
            RuleScope::Project,
        ),
        match named {
            Some(file) => (
                must_exist(file),
                file.display().to_string(),
                RuleScope::Session,
            ),
            None => (Ok(None), String::new(), RuleScope::Session),
        },
    ];
    for (text, file, scope) in sources {
        let drafted = match draft {
            Draft::Instead(of, text) if *of == scope => Some((*text).to_owned()),
            Draft::Instead(..) | Draft::Without(..) | Draft::Nothing => None,
        };
        let is_draft = drafted.is_some();
        let read = match drafted.map_or(text, |text| Ok(Some(text))) {
            Ok(None) => continue,
            Ok(Some(text)) => {
                let mut source = Source::new(&file, scope);
                if scope == RuleScope::Project {
                    source.trusted =
                        is_draft || policy::trust::check(&root, &text, &trusted).may_loosen();
                }
                let read = known.read(&text, &source);
                let wants = |file: &RulesFile| {
                    let mut rules = file.rules.iter();
                    rules.any(|rule| !rule.trusted && rule.rule.action == Action::Allow)
                };
                if let (Some(workspace), true) = (workspace, read.as_ref().is_ok_and(wants)) {
                    untrusted = Some(waits(workspace));
                }
                read.map(|mut file| {
                    file.rules.retain(|rule| match draft {
                        Draft::Without(of, line) => *of != scope || rule.rule.line != Some(*line),
                        Draft::Instead(..) | Draft::Nothing => true,
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
    let (granted, broken) = ledger::rules(data_dir, &root, lineage);
    set.extend(granted);
    for fault in broken {
        set.broken.get_or_insert_with(|| fault.message.clone());
        faults.push(fault);
    }
    uses::spend(data_dir, &mut set);
    Loaded {
        rules: set,
        faults,
        untrusted,
    }
}

/// What a person is told of a project's file that wants to loosen and may not.
fn waits(workspace: &Workspace) -> Fault {
    Fault::new(
        format!(
            "{PROJECT_FILE} of {} wants to allow calls, but you have not trusted it as it is now: it only tightens.",
            workspace.root().display()
        ),
        "Look at it among the rules, and trust it if you agree.",
    )
}

/// The way from a folder to another one in it; none if it is not in it.
fn within(inner: &Path, outer: &Path) -> Option<String> {
    let real = Workspace::open(inner).ok()?;
    let way = real.root().strip_prefix(outer).ok()?;
    Some(way.to_string_lossy().replace('\\', "/"))
}

fn must_exist(file: &Path) -> Result<Option<String>, Fault> {
    match runtime::read_text(file)? {
        Some(text) => Ok(Some(text)),
        None => Err(Fault::new(
            format!("There is no rules file {}.", file.display()),
            "Check the path.",
        )),
    }
}
