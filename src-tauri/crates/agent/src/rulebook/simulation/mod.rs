//! The verdict of rules alone on a call, or on a call on another operating system or in no folder, where no pipeline is
//! available. For the verdict of this machine's pipeline see [`crate::rulebook::explain`]. Nothing runs.

mod arguments;
mod examination;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use policy::path::{self, Os, Roots};
use policy::rules_file::{RulesFile, RulesFileSource, RulesFileWarning};
use policy::watchdogs::{self, Alarm, WatchdogInput};
use policy::{
    AgentManifest, CallFacts, EvaluationRequest, RuleSet, Surface, ToolClass, ToolDeclaration,
    classify_tool, evaluate, rules_file,
};
use protocol::interface::requirements::VariableValues;
use protocol::rule::evidence::{ArgumentValue, Confinement};
use protocol::view::preview::UndoAvailability;
use protocol::{
    Access, At, CallId, Digest, RequirementSet, ResolvedAccess, RuleScope, SessionId, Trail,
    UserError,
};
use runtime::Workspace;
use runtime::clock::{Clock, SystemClock};
use serde_json::{Map, Value};
use tools::registry::Registry;
use tools::{Mentions, mentions};

use crate::permissions::access_resolver::AccessResolver;
use crate::permissions::{agent_bounds, manifest};
use crate::rulebook::simulation::arguments::{check_strings, implied_accesses};

/// Options of a simulation.
#[derive(Debug, Clone)]
pub struct SimulationOptions {
    /// Rules files that the person names, each in its scope. They count as trusted, because they were named explicitly.
    pub rules: Vec<(RuleScope, PathBuf)>,
    /// The workspace.
    pub workspace: PathBuf,
    /// Operating system whose path rules apply. The disk is read only if it is this system's.
    pub os: Os,
    /// Whether the session is headless, with nobody to ask.
    pub headless: bool,
    /// Whether to evaluate only the rules, without mode defaults and built-in protections.
    pub only_rules: bool,
    /// Manifest of the agent that calls: its rules, tools and requirements apply.
    pub agent: Option<PathBuf>,
    /// Data folder whose rules apply, with those of the workspace, if no file is named.
    pub data_dir: Option<PathBuf>,
}

/// A simulation of verdicts on calls.
pub struct PolicySimulation {
    registry: Arc<Registry>,
    rules: RuleSet,
    workspace: Option<Workspace>,
    root: String,
    manifest: Option<AgentManifest>,
    options: SimulationOptions,
    now: At,
}

impl PolicySimulation {
    /// Opens a simulation with the rules of these options.
    ///
    /// # Errors
    /// A rules file that is missing or malformed.
    pub fn open(setup: SimulationOptions) -> Result<Self, UserError> {
        let is_here = setup.os == Os::CURRENT;
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
                let loaded =
                    crate::permissions::rules::load_rules(data_dir, Some(workspace), &[], None);
                if let Some(fault) = loaded.errors.into_iter().next() {
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
        let manifest = setup
            .agent
            .as_deref()
            .map(manifest::read_manifest)
            .transpose()?;
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
            options: setup,
        })
    }

    /// Returns a simulation of these rules with these tools, in no folder: names are taken as written.
    pub(crate) fn from_rules(rules: RuleSet, registry: Arc<Registry>, now: At) -> Self {
        let options = SimulationOptions {
            rules: Vec::new(),
            workspace: PathBuf::from("/"),
            os: Os::CURRENT,
            headless: false,
            only_rules: false,
            agent: None,
            data_dir: None,
        };
        Self {
            registry,
            rules,
            manifest: None,
            workspace: None,
            root: options.workspace.display().to_string(),
            options,
            now,
        }
    }

    /// Returns the verdict on a call, with its reasons.
    ///
    /// # Errors
    /// The accesses of the call cannot be determined from its arguments: such a call does not run either.
    pub fn simulate(&self, tool: &str, arguments: &Map<String, Value>) -> Result<Trail, UserError> {
        let called = self.resolve_call(tool, arguments)?;
        let mut facts = self.collect_facts(&called, arguments);
        let undo = UndoAvailability::Unsecured {
            reason: UNKNOWN_UNDO_REASON.to_owned(),
        };
        let alarms = match self.options.only_rules {
            true => Vec::new(),
            false => self.find_alarms(&called, arguments, &mut facts),
        };
        let judgement = evaluate(&EvaluationRequest {
            call: &CallId::from("trial"),
            tool: &called.id,
            tool_class: &called
                .classified
                .clone()
                .tighten_for_accesses(facts.declared_capabilities()),
            facts: &facts,
            undo: &undo,
            needs_person: called.needs_person,
            rules: &self.rules,
            ask_for_everything: false,
            headless: self
                .options
                .headless
                .then_some("Nobody is there to ask, so asking means denying."),
            alarms: &alarms,
            dry_run: None,
            dry_run_first: false,
            judges_effects: false,
            skips_asks: false,
            now: self.now,
            rules_only: self.options.only_rules,
            shown_digest: &|| Digest(String::new()),
        });
        Ok(Trail::clone(judgement.trail()))
    }

    /// Collects the accesses of a call.
    fn collect_facts(&self, called: &SimulatedCall, arguments: &Map<String, Value>) -> CallFacts {
        let ground = match &self.workspace {
            Some(workspace) => AccessResolver::Disk(workspace),
            None => AccessResolver::Names {
                os: self.options.os,
                root: &self.root,
            },
        };
        let mut facts = ground.resolve_accesses(&called.accesses);
        facts.set_confinement(called.confinement);
        if !called.confinement.is_default() {
            facts.set_arguments(ArgumentValue::collect_from(arguments));
        }
        ground.add_mentions(&mut facts, &called.mentions);
        for access in &called.implied {
            facts.add(ResolvedAccess {
                derived: true,
                ..ground.resolve_access(access)
            });
        }
        facts
    }

    /// Returns what the built-in watchdogs say of a call, within the bounds of its tool and its agent.
    fn find_alarms(
        &self,
        called: &SimulatedCall,
        arguments: &Map<String, Value>,
        facts: &mut CallFacts,
    ) -> Vec<Alarm> {
        self.restrict_to_bounds(called, facts);
        watchdogs::run_builtin_watchdogs(&WatchdogInput {
            tool: &called.id,
            arguments,
            manifest: self.manifest.as_ref(),
            session: &SessionId("trial".to_owned()),
            facts,
        })
    }

    /// Restricts a call to the bounds of its tool and its agent's manifest. Accesses of a tool that is not registered
    /// here are unknown, and are judged by other gates.
    fn restrict_to_bounds(&self, call: &SimulatedCall, facts: &mut CallFacts) {
        if let Some(manifest) = &self.manifest
            && let Some(tools) = &manifest.tools
        {
            let named = |name: &String| match self.registry.find(name) {
                Ok(found) => found.interface.id() == call.id,
                Err(_) => *name == call.id,
            };
            let why = format!("`{}` has no tool `{}`.", manifest.name, call.id);
            facts.deny_for((!tools.iter().any(named)).then_some(why));
        }
        let Some(requires) = &call.requires else {
            return;
        };
        let manifest = self.manifest.as_ref();
        let owner = agent_bounds::requirement_owner(&call.id, manifest);
        match Surface::new(
            &self.merge_requirements(requires),
            &owner,
            &self.surroundings(),
            self.options.os,
        ) {
            Ok(surface) => facts.restrict_to(&surface),
            Err(fault) => facts.deny_for(Some(fault.message)),
        }
    }

    /// Merges the agent's requirements with those of its tools.
    fn merge_requirements<'a>(&self, tools: &'a RequirementSet) -> Cow<'a, RequirementSet> {
        agent_bounds::merge_requirements(self.manifest.as_ref(), tools)
    }

    /// Returns the values of the variables in requirements.
    fn surroundings(&self) -> VariableValues {
        let data_dir = self.options.data_dir.as_deref();
        let data = data_dir.and_then(|folder| Workspace::open(folder).ok());
        VariableValues {
            workspace: self.roots(),
            ad_hoc: Vec::new(),
            user_data: data.map(|data| data.root().to_string_lossy().into_owned()),
        }
    }

    /// Returns the root of the workspace, and the further ones of the manifest: as resolved on disk, if the disk is
    /// read. A root that does not exist is left out.
    fn roots(&self) -> Vec<String> {
        let further = self.manifest.iter().flat_map(|manifest| {
            let roots = manifest.roots.iter();
            roots.filter_map(|root| match &self.workspace {
                Some(workspace) => {
                    agent_bounds::resolve_extra_root(workspace.root(), root, &manifest.name).ok()
                }
                None => {
                    let roots = Roots {
                        workspace: &self.root,
                        readable: &[],
                    };
                    let named = path::resolve_path(self.options.os, &roots, "", root);
                    let is_elsewhere = named.unresolved.is_none() && !named.inside;
                    is_elsewhere.then_some(named.real)
                }
            })
        });
        std::iter::once(self.root.clone()).chain(further).collect()
    }

    /// Resolves the tool of a call and its accesses.
    fn resolve_call(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Result<SimulatedCall, UserError> {
        if let Ok(found) = self.registry.find(name) {
            // Arguments that do not fit the schema are judged as they are: a simulation asks what is allowed, not
            // whether the call would work.
            let translated = match found.alias {
                Some(alias) => tools::alias::translate_arguments(alias, arguments.clone())
                    .map_err(|error| {
                        UserError::new(format!("{error}."), "Correct the arguments.")
                    })?,
                None => arguments.clone(),
            };
            check_strings(found.interface.id(), &translated)?;
            return Ok(SimulatedCall {
                id: found.interface.id().to_owned(),
                classified: found.classified.clone(),
                target: found.tool.target(&translated),
                accesses: found.tool.accesses(&translated),
                implied: implied_accesses(found.interface.id(), &translated),
                mentions: found.tool.mentions(&translated),
                confinement: found.tool.confinement(),
                requires: Some(found.interface.requires.clone()),
                needs_person: found.interface.safety.requires_user_interaction,
            });
        }
        // A tool of nobody known is one of somebody else, of which the worst is thought.
        let (mentions, confinement) = match tools::LOCKED_TOOL_IDS.contains(&name) {
            true => (Mentions::default(), Confinement::Held),
            false => {
                let deletes = mentions::is_deleting_name(name);
                let found = mentions::collect_mentions(&Value::Null, arguments, deletes);
                (found, Confinement::Unconfined)
            }
        };
        Ok(SimulatedCall {
            id: name.to_owned(),
            classified: classify_tool(name, ToolDeclaration::default()),
            target: String::new(),
            accesses: Vec::new(),
            implied: Vec::new(),
            mentions,
            confinement,
            requires: None,
            needs_person: false,
        })
    }
}

/// Why it is not known whether a call could be undone.
const UNKNOWN_UNDO_REASON: &str = "whether a copy can be taken is only known when it runs.";

/// A call, as far as it is known without making it.
struct SimulatedCall {
    id: String,
    target: String,
    classified: ToolClass,
    accesses: Vec<Access>,
    /// Further accesses that the call may make; they only restrict the call further.
    implied: Vec<Access>,
    /// Accesses that the arguments mention.
    mentions: Mentions,
    confinement: Confinement,
    /// Requirements of the tool; none for a tool that is not registered here.
    requires: Option<RequirementSet>,
    needs_person: bool,
}

/// Returns the text of a rules file that the person named.
///
/// # Errors
/// The file is missing, too large, or not text.
pub fn rules_text(file: &Path) -> Result<String, UserError> {
    runtime::read_text(file)?.ok_or_else(|| {
        UserError::new(
            format!("There is no rules file {}.", file.display()),
            "Check the path.",
        )
    })
}

/// Reads a rules file that the person named.
///
/// # Errors
/// The file is missing, too large, or malformed.
pub fn read_rules(file: &Path, scope: RuleScope, os: Os) -> Result<RulesFile, UserError> {
    let name = file.display().to_string();
    let text = rules_text(file)?;
    let builtin = Registry::builtin();
    let views = builtin.views();
    let mut known: Vec<&str> = views.iter().map(|view| view.record.id()).collect();
    known.extend(tools::LOCKED_TOOL_IDS);
    rules_file::parse_rules_file(
        &text,
        &RulesFileSource {
            trusted: true,
            os,
            known_tools: &known,
            ..RulesFileSource::new(&name, scope)
        },
    )
}

/// Returns warnings about entries of a rules file that are probably mistakes, including expired rules.
///
/// # Errors
/// The errors of [`read_rules`].
pub fn lint_rules(file: &Path) -> Result<Vec<RulesFileWarning>, UserError> {
    let read = read_rules(file, RuleScope::Project, Os::CURRENT)?;
    let now = SystemClock.now();
    let expired = read
        .rules
        .iter()
        .filter(|rule| rule.rule.expires_ms.is_some_and(|at| at <= now))
        .map(|rule| RulesFileWarning {
            file: file.display().to_string(),
            line: rule.rule.line.unwrap_or(1),
            text: "it has expired and speaks no more".to_owned(),
        });
    let mut all: Vec<RulesFileWarning> = read.warnings.into_iter().chain(expired).collect();
    all.sort_by_key(|warning| warning.line);
    Ok(all)
}
