//! What rules by themselves would say of a call, and what would be said of one on another system or in no folder: there is no
//! pipeline to ask then. What the pipeline here says is the matter of [`crate::explain`]. Nothing runs.

mod told;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use policy::path::{self, Os, Roots};
use policy::rules_file::{RulesFile, Source, Warning};
use policy::watchdog::{self, Sight};
use policy::{
    Classified, Declared, Facts, Manifest, Request, RuleSet, Surface, classify, judge, rules_file,
};
use protocol::grounds::{Argument, Confinement};
use protocol::preview::UndoOutlook;
use protocol::requires::Surroundings;
use protocol::{
    Access, At, CallId, Digest, Fact, Fault, RequirementSet, RuleScope, SessionId, Trail,
};
use runtime::Workspace;
use runtime::clock::{Clock, SystemClock};
use serde_json::{Map, Value};
use tools::registry::Registry;
use tools::{Mentions, mentions};

use self::told::{aside, check_strings};
use crate::facts::Ground;
use crate::{manifest, surface};

/// How calls are tried.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Rules files that the person names, each in its scope. They count as trusted, because they were named.
    pub rules: Vec<(RuleScope, PathBuf)>,
    /// The workspace.
    pub workspace: PathBuf,
    /// Whose rules for paths hold. The disk is looked at only if it is this system's.
    pub os: Os,
    /// Nobody is there to ask.
    pub headless: bool,
    /// The rules are judged by themselves, without mode defaults and built-in protections.
    pub only_rules: bool,
    /// The manifest of the agent that calls: its rules hold, and its tools and requirements.
    pub agent: Option<PathBuf>,
    /// The data folder whose rules hold, with those of the workspace, where no file is named.
    pub data_dir: Option<PathBuf>,
}

/// A place where calls are tried.
pub struct Trial {
    registry: Arc<Registry>,
    rules: RuleSet,
    workspace: Option<Workspace>,
    root: String,
    manifest: Option<Manifest>,
    setup: Setup,
    now: At,
}

impl Trial {
    /// Reads the rules.
    ///
    /// # Errors
    /// A rules file that is missing or malformed.
    pub fn open(setup: Setup) -> Result<Self, Fault> {
        let is_here = setup.os == Os::HERE;
        // A workspace that does not exist has no links: names will do.
        let workspace = is_here
            .then(|| Workspace::open(&setup.workspace).ok())
            .flatten();
        let root = match (&workspace, is_here) {
            (Some(workspace), _) => workspace.root().display().to_string(),
            (None, true) => std::path::absolute(&setup.workspace)
                .unwrap_or_else(|_| setup.workspace.clone())
                .display()
                .to_string(),
            (None, false) => setup.workspace.display().to_string(),
        };
        let mut rules = match setup.only_rules {
            true => RuleSet::default(),
            false => RuleSet::builtin(),
        };
        match (&setup.data_dir, setup.rules.is_empty(), &workspace) {
            (Some(data_dir), true, Some(workspace)) if !setup.only_rules => {
                let loaded = crate::rules::load(data_dir, Some(workspace), &[], None);
                if let Some(fault) = loaded.faults.into_iter().next() {
                    return Err(fault);
                }
                rules = loaded.rules;
            }
            _ => {
                for (scope, file) in &setup.rules {
                    rules.add(read_rules(file, *scope, setup.os)?);
                }
            }
        }
        let manifest = setup.agent.as_deref().map(manifest::read).transpose()?;
        if let Some(manifest) = &manifest {
            rules.add(manifest.rules.clone());
        }
        Ok(Self {
            registry: Arc::new(Registry::builtin()),
            manifest,
            rules: rules.with_root(root.clone()),
            workspace,
            root,
            now: SystemClock.now(),
            setup,
        })
    }

    /// A trial of these rules, with these tools, in no folder: names are taken as they stand.
    pub(crate) fn of_rules(rules: RuleSet, registry: Arc<Registry>, now: At) -> Self {
        let root = "/".to_owned();
        Self {
            registry,
            rules,
            manifest: None,
            setup: Setup {
                rules: Vec::new(),
                workspace: PathBuf::from(&root),
                os: Os::HERE,
                headless: false,
                only_rules: false,
                agent: None,
                data_dir: None,
            },
            workspace: None,
            root,
            now,
        }
    }

    /// What would be said of a call.
    ///
    /// # Errors
    /// Arguments from which it cannot be told what the call would touch: such a call does not run either.
    pub fn weigh(&self, tool: &str, arguments: &Map<String, Value>) -> Result<Trail, Fault> {
        let called = self.called(tool, arguments)?;
        let ground = match &self.workspace {
            Some(workspace) => Ground::Disk(workspace),
            None => Ground::Names {
                os: self.setup.os,
                root: &self.root,
            },
        };
        let mut facts = ground.facts(&called.accesses);
        facts.confine(called.confinement);
        if !called.confinement.is_held() {
            facts.argued(Argument::all(arguments));
        }
        ground.add_mentions(&mut facts, &called.mentions);
        for access in &called.aside {
            facts.add(Fact {
                derived: true,
                ..ground.fact(access)
            });
        }
        let undo = UndoOutlook::Unsecured {
            reason: "whether a copy can be taken is only known when it runs.".to_owned(),
        };
        let alarms = match self.setup.only_rules {
            true => Vec::new(),
            false => {
                self.hold(&called, &mut facts);
                watchdog::look(&Sight {
                    tool: &called.id,
                    arguments,
                    manifest: self.manifest.as_ref(),
                    session: &SessionId("trial".to_owned()),
                    facts: &facts,
                })
            }
        };
        let judgement = judge(&Request {
            call: &CallId::from("trial"),
            tool: &called.id,
            classified: &called.classified.clone().touching(facts.declared()),
            facts: &facts,
            undo: &undo,
            needs_person: called.needs_person,
            rules: &self.rules,
            ask_for_everything: false,
            headless: self
                .setup
                .headless
                .then_some("Nobody is there to ask, so asking means denying."),
            alarms: &alarms,
            tried: None,
            now: self.now,
            alone: self.setup.only_rules,
            shown: &|| Digest(String::new()),
        });
        Ok(Trail::clone(judgement.trail()))
    }

    /// Holds a call to what its tool and its agent's manifest may touch at all. What no tool that is here declares is known
    /// to nobody, and other gates judge it.
    fn hold(&self, called: &Called, facts: &mut Facts) {
        if let Some(manifest) = &self.manifest
            && let Some(tools) = &manifest.tools
        {
            let named = |name: &String| match self.registry.find(name) {
                Ok(found) => found.interface.id() == called.id,
                Err(_) => *name == called.id,
            };
            let why = format!("`{}` has no tool `{}`.", manifest.name, called.id);
            facts.close((!tools.iter().any(named)).then_some(why));
        }
        let Some(requires) = &called.requires else {
            return;
        };
        let manifest = self.manifest.as_ref();
        let owner = surface::owner(&called.id, manifest);
        match Surface::new(
            &self.requires(requires),
            &owner,
            &self.around(),
            self.setup.os,
        ) {
            Ok(surface) => facts.hold_to(&surface),
            Err(fault) => facts.close(Some(fault.message)),
        }
    }

    /// With what the agent requires beside its tools.
    fn requires<'a>(&self, tools: &'a RequirementSet) -> Cow<'a, RequirementSet> {
        surface::requires(self.manifest.as_ref(), tools)
    }

    /// What the variables of requirements stand for.
    fn around(&self) -> Surroundings {
        let data_dir = self.setup.data_dir.as_deref();
        let data = data_dir.and_then(|folder| Workspace::open(folder).ok());
        Surroundings {
            workspace: self.roots(),
            ad_hoc: Vec::new(),
            user_data: data.map(|data| data.root().to_string_lossy().into_owned()),
        }
    }

    /// The root of the workspace, and the further ones of the manifest: as the disk has them, where it is looked at. One that
    /// is not there stands for nothing.
    fn roots(&self) -> Vec<String> {
        let further = self.manifest.iter().flat_map(|manifest| {
            let roots = manifest.roots.iter();
            roots.filter_map(|root| match &self.workspace {
                Some(workspace) => {
                    surface::further_root(workspace.root(), root, &manifest.name).ok()
                }
                None => {
                    let roots = Roots {
                        workspace: &self.root,
                        readable: &[],
                    };
                    let named = path::resolve(self.setup.os, &roots, "", root);
                    let is_elsewhere = named.unresolved.is_none() && !named.inside;
                    is_elsewhere.then_some(named.real)
                }
            })
        });
        std::iter::once(self.root.clone()).chain(further).collect()
    }

    /// Which tool it is, and what it would touch.
    fn called(&self, name: &str, arguments: &Map<String, Value>) -> Result<Called, Fault> {
        if let Ok(found) = self.registry.find(name) {
            // What does not fit the schema is looked at as it is: this asks what may be, not whether it would work.
            let translated = match found.alias {
                Some(alias) => tools::alias::translate(alias, arguments.clone())
                    .map_err(|error| Fault::new(format!("{error}."), "Correct the arguments."))?,
                None => arguments.clone(),
            };
            check_strings(found.interface.id(), &translated)?;
            return Ok(Called {
                id: found.interface.id().to_owned(),
                classified: found.classified.clone(),
                accesses: found.tool.accesses(&translated),
                aside: aside(found.interface.id(), &translated),
                mentions: found.tool.mentions(&translated),
                confinement: found.tool.confinement(),
                requires: Some(found.interface.requires.clone()),
                needs_person: found.interface.safety.requires_user_interaction,
            });
        }
        // A tool of nobody known is one of somebody else, of which the worst is thought.
        let (mentions, confinement) = match tools::LOCKED.contains(&name) {
            true => (Mentions::default(), Confinement::Held),
            false => {
                let deletes = mentions::is_deleting_name(name);
                let found = mentions::mentions(&Value::Null, arguments, deletes);
                (found, Confinement::Unconfined)
            }
        };
        Ok(Called {
            id: name.to_owned(),
            classified: classify(name, Declared::default()),
            accesses: Vec::new(),
            aside: Vec::new(),
            mentions,
            confinement,
            requires: None,
            needs_person: false,
        })
    }
}

/// A call, as far as it can be told without making it.
struct Called {
    id: String,
    classified: Classified,
    accesses: Vec<Access>,
    /// What it may touch besides; this only tightens.
    aside: Vec<Access>,
    /// What its arguments name.
    mentions: Mentions,
    confinement: Confinement,
    /// What its tool requires; none for a tool that is not here.
    requires: Option<RequirementSet>,
    needs_person: bool,
}

/// The text of a rules file that the person named.
///
/// # Errors
/// It is missing, too large, or no text.
pub fn rules_text(file: &Path) -> Result<String, Fault> {
    runtime::read_text(file)?.ok_or_else(|| {
        Fault::new(
            format!("There is no rules file {}.", file.display()),
            "Check the path.",
        )
    })
}

/// Reads a rules file that the person named.
///
/// # Errors
/// It is missing, too large, or malformed.
pub fn read_rules(file: &Path, scope: RuleScope, os: Os) -> Result<RulesFile, Fault> {
    let name = file.display().to_string();
    let text = rules_text(file)?;
    let builtin = Registry::builtin();
    let views = builtin.views();
    let mut known: Vec<&str> = views.iter().map(|view| view.record.id()).collect();
    known.extend(tools::LOCKED);
    rules_file::read(
        &text,
        &Source {
            trusted: true,
            os,
            known_tools: &known,
            ..Source::new(&name, scope)
        },
    )
}

/// What is hardly meant in a rules file, expired rules among it.
///
/// # Errors
/// As [`read_rules`].
pub fn lint(file: &Path) -> Result<Vec<Warning>, Fault> {
    let read = read_rules(file, RuleScope::Project, Os::HERE)?;
    let now = SystemClock.now();
    let expired = read
        .rules
        .iter()
        .filter(|rule| rule.rule.expires_ms.is_some_and(|at| at <= now))
        .map(|rule| Warning {
            file: file.display().to_string(),
            line: rule.rule.line.unwrap_or(1),
            text: "it has expired and speaks no more".to_owned(),
        });
    let mut all: Vec<Warning> = read.warnings.into_iter().chain(expired).collect();
    all.sort_by_key(|warning| warning.line);
    Ok(all)
}
