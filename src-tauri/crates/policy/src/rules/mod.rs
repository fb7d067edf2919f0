//! Rules: which of them match a subject of a call, and which one decides (M14).

mod compiled_rule;
mod index;
pub mod later_runs;
pub mod loaded_file;
mod masked_files;
mod precedence;
pub mod protections;
mod recursive_reads;
mod server_permission;
mod subject;
pub(crate) mod traces;

use std::sync::OnceLock;

use protocol::rule::evidence::RemoteUse;
use protocol::rule::verdict::RuleTrace;
use protocol::{At, Capability, ResolvedAccess, Rule, RuleAction, RuleScope, ToolMode, Verdict};

pub use compiled_rule::CompiledRule;
pub(crate) use compiled_rule::HOME_KEEP;
pub(crate) use compiled_rule::{covers_fact, covers_named_path, matches_named_path, path_forms};
pub(crate) use server_permission::resolve_permission;
pub(crate) use subject::quote_truncated;
pub use subject::{Subject, SubjectKind};

use crate::facts::CallFacts;
use crate::rules::later_runs::LaterRuns;
use crate::rules::loaded_file::RulesFile;
use crate::rules::protections::Protections;
use index::RuleIndex;
use masked_files::MaskedFiles;
use precedence::Precedence;

/// The permission of rules about reading the answer of a host, before the agent reads it. No other permission is about
/// that: to ask before a request is not to ask about its answer.
pub const NET_READ: &str = "net.read";

/// All rules in force.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    rules: Vec<CompiledRule>,
    index: RuleIndex,
    protections: Protections,
    /// The strictest default of the rules files, for subjects that no rule matches.
    default: Option<RuleAction>,
    /// The root of the workspace, absolute: absolute patterns are matched with paths joined to it.
    root: Option<String>,
    /// The files that may be closed, computed on first use.
    masked_files: OnceLock<MaskedFiles>,
    /// Grants for the reading verbs of servers, which speak where no rule does (M26).
    verb_grants: Vec<Rule>,
    /// Error of a source that could not be read: while it is set, nothing is allowed without asking.
    pub broken: Option<String>,
}

/// The decision of the rules on one subject of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleDecision {
    /// The verdict; none if no rule matches.
    pub verdict: Option<Verdict>,
    /// Traces of all rules that matched, the deciding rule first.
    pub traces: Vec<RuleTrace>,
    /// Whether no rule that is in force matches.
    pub silent: bool,
}

/// A rule that matched.
struct RuleMatch<'a> {
    precedence: Precedence,
    rule: &'a CompiledRule,
}

impl RuleSet {
    /// Returns the rules that hold before anybody wrote one: the built-in protections.
    pub fn builtin() -> Self {
        Self {
            protections: Protections::standard(),
            ..Self::default()
        }
    }

    /// Adds what a file holds.
    pub fn add(&mut self, file: RulesFile) {
        let defaults = [self.default, file.default].into_iter().flatten();
        self.default = defaults.max_by_key(|action| Verdict::from(*action));
        self.extend(file.rules);
    }

    /// Adds rules.
    pub fn extend(&mut self, rules: impl IntoIterator<Item = CompiledRule>) {
        self.masked_files = OnceLock::new();
        for rule in rules {
            let at = self.rules.len();
            self.index.add(at, rule.permission(), rule.topic());
            self.rules.push(rule);
        }
    }

    /// Adds the grant for a reading verb that its permission names.
    pub fn add_verb_grant(&mut self, grant: Rule) {
        self.verb_grants.push(grant);
    }

    /// The grant for a reading verb, if there is one.
    pub(crate) fn find_verb_grant(&self, permission: &str) -> Option<&Rule> {
        let mut grants = self.verb_grants.iter();
        grants.find(|grant| grant.permission == permission)
    }

    /// Sets the root of the workspace, so that absolute patterns can be matched.
    #[must_use]
    pub fn with_root(mut self, root: impl Into<String>) -> Self {
        self.root = Some(root.into());
        self
    }

    /// The root of the workspace, absolute; none if it is not known.
    pub(crate) fn root(&self) -> Option<&str> {
        self.root.as_deref()
    }

    /// Protects a folder of the app's own that lies inside the workspace, by its path from the root on.
    #[must_use]
    pub fn with_protected_folder(mut self, folder: &str) -> Self {
        self.masked_files = OnceLock::new();
        self.protections.protect_folder(folder);
        self
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Takes a rule out of force that decided as many calls as it may, or a grant that was taken back.
    pub fn mark_spent(&mut self, rule: &Rule) {
        for compiled in self.rules.iter_mut().filter(|one| one.rule == *rule) {
            compiled.spent = true;
        }
        self.verb_grants.retain(|grant| grant != rule);
    }

    /// All rules of the set.
    pub fn rules(&self) -> &[CompiledRule] {
        &self.rules
    }

    /// The action of the rules files where no rule matches: the strictest of theirs.
    pub fn default_action(&self) -> Option<RuleAction> {
        self.default
    }

    /// Whether a call is denied whatever it accesses: a rule denies the whole tool, and no rule that could speak of the
    /// call has another action. Such a call needs no look at a file to be denied (`S003-26`).
    pub fn denies_every_call(
        &self,
        tool: &str,
        mode: Option<ToolMode>,
        touches: &[Capability],
        now: At,
    ) -> bool {
        let subject = Subject {
            mode,
            ..Subject::new(tool, SubjectKind::WholeCall { about: Vec::new() })
        };
        let in_force = |at: &usize| !is_out_of_force(&self.rules[*at], now);
        let denied = |at: &usize| self.rules[*at].rule.action == RuleAction::Deny;
        let outright =
            |at: &usize| denied(at) && self.rules[*at].permission_rank(&subject).is_some();
        let everything = self.index.find_catch_all_rules(tool, mode, touches);
        // Most calls are not denied so, and then nothing else has to be looked at.
        everything.iter().filter(|at| in_force(at)).any(outright)
            && self
                .index
                .find_all(tool, mode, touches)
                .iter()
                .filter(|at| in_force(at))
                .all(denied)
    }

    /// Whether a rule that somebody wrote asks about or denies some calls of a tool by what they run. Built-in rules
    /// speak of paths.
    pub fn restricts_commands(&self, tool: &str, mode: Option<ToolMode>, now: At) -> bool {
        let rules = self.index.find_all(tool, mode, &[Capability::ShellRun]);
        rules.into_iter().map(|at| &self.rules[at]).any(|rule| {
            rule.rule.scope != RuleScope::Builtin
                && rule.rule.action != RuleAction::Allow
                && !is_out_of_force(rule, now)
        })
    }

    /// Evaluates the rules for one subject of a call; `otherwise` holds where none matches.
    pub fn evaluate_subject(
        &self,
        subject: &Subject<'_>,
        now: At,
        otherwise: Verdict,
    ) -> RuleDecision {
        let decision = self.evaluate_subject_alone(subject, now, otherwise);
        match subject.is_recursive {
            false => decision,
            true => recursive_reads::ask_for_denied_below(self, subject, now, decision),
        }
    }

    /// Evaluates the rules for a subject without the paths below it.
    fn evaluate_subject_alone(
        &self,
        subject: &Subject<'_>,
        now: At,
        otherwise: Verdict,
    ) -> RuleDecision {
        let mut over = Vec::new();
        let mut matches: Vec<RuleMatch<'_>> = Vec::new();
        for at in self.index.find_for_subject(subject) {
            let rule = &self.rules[at];
            let Some(rank) = rule.permission_rank(subject) else {
                continue;
            };
            if !rule.matches_subject(subject, self.root.as_deref()) {
                continue;
            }
            match is_out_of_force(rule, now) {
                true => over.push(rule),
                false => matches.push(RuleMatch {
                    precedence: Precedence::new(rank, rule),
                    rule,
                }),
            }
        }
        // Of equal rules the one that was read first stays first.
        matches.sort_by_key(|one| std::cmp::Reverse(one.precedence));
        let floor = match subject.tightens {
            true => Verdict::Allow,
            false => otherwise,
        };
        let (verdict, mut traces) = resolve_matches(&matches, floor);
        traces.extend(over.into_iter().map(|rule| {
            RuleTrace {
                rule: rule.rule.clone(),
                won: false,
                why: match rule.spent {
                    true => "does not hold any more: it was used as often as it may",
                    false => "does not hold any more: it has expired",
                }
                .to_owned(),
            }
        }));
        let speaks = matches.iter().find(|one| {
            traces
                .first()
                .is_some_and(|trace| trace.won && trace.rule == one.rule.rule)
        });
        let current = verdict.unwrap_or(floor);
        let speaks = speaks.map(|one| one.rule);
        let protected = self
            .protections
            .tighten_verdict(subject, self.root.as_deref(), current, speaks)
            .or_else(|| LaterRuns::standard().tighten_verdict(subject, current, speaks));
        let Some((stricter, protection)) = protected else {
            return RuleDecision {
                verdict,
                traces,
                silent: matches.is_empty(),
            };
        };
        for trace in &mut traces {
            if trace.won {
                trace.won = false;
                trace.why = "lost: built-in protection is stricter".to_owned();
            }
        }
        traces.insert(0, protection);
        RuleDecision {
            verdict: Some(stricter),
            traces,
            silent: false,
        }
    }

    /// Whether any rule matches a subject of a call, in force or not.
    pub fn has_match_for(
        &self,
        tool: &str,
        mode: Option<ToolMode>,
        facts: &CallFacts,
        now: At,
    ) -> bool {
        let subjects = Subject::from_facts(tool, mode, facts);
        let mut subjects = subjects.iter();
        subjects.any(|subject| {
            !self
                .evaluate_subject(subject, now, Verdict::Ask)
                .traces
                .is_empty()
        })
    }

    /// The grant for exactly this call, if there is one.
    pub fn find_exact_grant(&self, facts: &CallFacts) -> Option<&Rule> {
        let call = facts.exact_digest()?;
        let mut rules = self.rules.iter();
        rules
            .find(|rule| rule.exact_digest() == Some(call))
            .map(|rule| &rule.rule)
    }

    /// Whether a rule lets somebody else's tool name a path outside the workspace.
    pub fn opens_path(&self, tool: &str, fact: &ResolvedAccess, now: At) -> bool {
        let places = self.index.find_place_rules(tool, &[]);
        let mut rules = places.into_iter().map(|at| &self.rules[at]);
        rules.any(|rule| rule.opens_path(tool, fact) && !is_out_of_force(rule, now))
    }

    /// Whether a rule about remotes allows this use of one.
    pub(crate) fn allows_remote(&self, remote: &RemoteUse, now: At) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|rule| rule.allows_remote(remote) && !is_out_of_force(rule, now))
    }

    /// Whether a rule keeps what commands write in a cache of the home folder.
    pub fn keeps_cache(&self, folder: &str, now: At) -> bool {
        let mut rules = self.rules.iter();
        let keeps = |rule: &CompiledRule| rule.keeps_cache(folder) && !is_out_of_force(rule, now);
        self.broken.is_none() && rules.any(keeps)
    }

    /// Whether a rule restricts changing a path: one of a person that does not allow it, or a built-in one that denies it.
    pub fn restricts_change(&self, tool: &str, fact: &ResolvedAccess, now: At) -> bool {
        let subject = Subject::new(tool, SubjectKind::Effect(fact));
        let decision = self.evaluate_subject(&subject, now, Verdict::Allow);
        let mut rules = decision.traces.iter().map(|trace| &trace.rule);
        decision.verdict == Some(Verdict::Deny)
            || rules
                .any(|rule| rule.scope != RuleScope::Builtin && rule.action != RuleAction::Allow)
    }

    /// Whether a rule opens a host that is closed unless it is named.
    pub fn opens_host(&self, tool: &str, real: &str, now: At) -> bool {
        let places = self.index.find_place_rules(tool, &[Capability::NetFetch]);
        let mut rules = places.into_iter().map(|at| &self.rules[at]);
        rules.any(|rule| rule.opens_host(real) && !is_out_of_force(rule, now))
    }
}

/// The permission by which a rule names every tool of a mode.
pub(crate) fn mode_permission(mode: ToolMode) -> &'static str {
    match mode {
        ToolMode::Read => "mode:read",
        ToolMode::SafeWrite => "mode:safe_write",
        ToolMode::Destructive => "mode:destructive",
        ToolMode::Local => "mode:local",
        ToolMode::External => "mode:external",
    }
}

fn is_out_of_force(rule: &CompiledRule, now: At) -> bool {
    rule.spent || rule.rule.expires_ms.is_some_and(|at| at <= now)
}

/// Returns the verdict of the rules that matched, strongest first, and why each of them decides or does not. A
/// project's file that is not trusted may tighten the verdict that would hold without it, and never loosen; neither may
/// an agent that works for another.
fn resolve_matches(
    matches: &[RuleMatch<'_>],
    otherwise: Verdict,
) -> (Option<Verdict>, Vec<RuleTrace>) {
    let Some(first) = matches.first() else {
        return (None, Vec::new());
    };
    let first_verdict = Verdict::from(first.rule.rule.action);
    let without = matches
        .iter()
        .position(|one| one.rule.trusted)
        .map(|at| (at, Verdict::from(matches[at].rule.rule.action)));
    let trusted_verdict = without.map_or(otherwise, |(_, verdict)| verdict);
    let loosens = !first.rule.trusted && first_verdict < trusted_verdict;
    let speaks = match loosens {
        true => without.map(|(at, _)| at),
        false => Some(0),
    };
    let mut traces: Vec<RuleTrace> = matches
        .iter()
        .enumerate()
        .map(|(at, one)| {
            let won = speaks == Some(at);
            let why = match won {
                true => one
                    .precedence
                    .explain_win(matches.get(at + 1).map(|next| next.precedence)),
                false
                    if loosens
                        && !one.rule.trusted
                        && Verdict::from(one.rule.rule.action) < trusted_verdict =>
                {
                    match one.rule.rule.scope {
                        RuleScope::Manifest => {
                            "lost: who works for an agent may only have stricter rules"
                        }
                        RuleScope::Builtin
                        | RuleScope::User
                        | RuleScope::Project
                        | RuleScope::Session => {
                            "lost: a project's rules may only tighten until you trust their file"
                        }
                    }
                    .to_owned()
                }
                false => one
                    .precedence
                    .explain_loss(speaks.map_or(first.precedence, |at| matches[at].precedence)),
            };
            RuleTrace {
                rule: one.rule.rule.clone(),
                won,
                why,
            }
        })
        .collect();
    if let Some(at) = speaks {
        let winner = traces.remove(at);
        traces.insert(0, winner);
    }
    let verdict = match (loosens, speaks) {
        (true, None) => None,
        (true, Some(_)) => Some(trusted_verdict),
        (false, _) => Some(first_verdict),
    };
    (verdict, traces)
}

/// The order of scopes for a person: closest first.
pub fn scope_label(scope: RuleScope) -> &'static str {
    match scope {
        RuleScope::Builtin => "built in",
        RuleScope::Manifest => "agent's manifest",
        RuleScope::User => "your rules",
        RuleScope::Project => "project's rules",
        RuleScope::Session => "session's rules",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_named_as_rules_write_them() {
        for mode in ToolMode::ALL {
            assert_eq!(mode_permission(mode), format!("mode:{}", mode.as_str()));
        }
    }
}
