//! Rules: which of them match a fact, and which one wins (M14).

use protocol::judge::RuleTrace;
use protocol::{Action, Capability, Fact, Rule, RuleScope, ToolMode};

use crate::pattern::{CommandPattern, PathPattern, literal_prefix_chars};
use crate::shell::{self, ShellFacts};

/// A rule with its patterns ready to match.
#[derive(Debug, Clone)]
pub struct CompiledRule {
    /// The rule as written.
    pub rule: Rule,
    path: Option<PathPattern>,
    command: Option<CommandPattern>,
}

impl CompiledRule {
    /// Makes a rule ready; the error is one sentence.
    pub fn new(rule: Rule) -> Result<Self, String> {
        let path = rule.pattern.as_deref().map(PathPattern::new).transpose()?;
        let command = rule.pattern.as_deref().map(CommandPattern::new);
        Ok(Self {
            rule,
            path,
            command,
        })
    }

    /// Exact tool id (3) over capability (2) over mode (1) over everything (0); none if it speaks of something else.
    fn permission_rank(&self, subject: &Subject<'_>) -> Option<u8> {
        let permission = self.rule.permission.as_str();
        if permission == subject.tool {
            return Some(3);
        }
        if permission == "*" {
            return Some(0);
        }
        if let Some(mode) = permission.strip_prefix("mode:") {
            return subject
                .mode
                .is_some_and(|m| m.as_str() == mode)
                .then_some(1);
        }
        subject
            .fact
            .is_some_and(|fact| fact.capability.as_str() == permission)
            .then_some(2)
    }

    fn pattern_matches(&self, subject: &Subject<'_>, shell: Option<&ShellFacts>) -> bool {
        let (Some(path), Some(command)) = (&self.path, &self.command) else {
            return true;
        };
        let Some(fact) = subject.fact else {
            return false;
        };
        let narrow = self.rule.action == Action::Allow;
        match fact.capability {
            Capability::ShellRun if narrow => shell
                .and_then(ShellFacts::plain)
                .is_some_and(|all| all.iter().all(|words| command.matches(words))),
            Capability::ShellRun => shell
                .is_some_and(|facts| facts.may_run().iter().any(|words| command.matches(words))),
            Capability::FsRead | Capability::FsWrite | Capability::FsDelete if narrow => {
                path.matches_anchored(&fact.real)
            }
            Capability::FsRead | Capability::FsWrite | Capability::FsDelete => {
                path.matches_anywhere(&fact.real) || path.matches_anywhere(&fact.target)
            }
            Capability::NetFetch => path.matches_anchored(&fact.target),
        }
    }
}

/// One fact of a call, with what rules may name.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The tool's id.
    pub tool: &'a str,
    /// Its mode.
    pub mode: Option<ToolMode>,
    /// What it touches; none for a call that touches nothing.
    pub fact: Option<&'a Fact>,
}

/// All rules in force.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    rules: Vec<CompiledRule>,
    /// Set when a source could not be read: nothing is allowed without asking while it is.
    pub broken: Option<String>,
}

impl RuleSet {
    /// What holds before anybody wrote a rule: nobody but the person changes Countersign's own files.
    pub fn builtin() -> Self {
        let protect = |permission: &str| Rule {
            permission: permission.to_owned(),
            pattern: Some(".countersign/**".to_owned()),
            action: Action::Deny,
            reason: Some(
                "Countersign's own rules and tools are changed by people only.".to_owned(),
            ),
            scope: RuleScope::Manifest,
            file: None,
            line: None,
        };
        let mut set = Self::default();
        for permission in ["fs.write", "fs.delete"] {
            set.rules.extend(CompiledRule::new(protect(permission)));
        }
        set
    }

    /// Adds rules.
    pub fn extend(&mut self, rules: impl IntoIterator<Item = CompiledRule>) {
        self.rules.extend(rules);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether a search must not look into a file: a rule denies reading it, or wants to be asked about that very place.
    /// A search is one call over many files, so what it would read is judged file by file.
    pub fn closes(&self, path: &str) -> bool {
        let fact = Fact {
            capability: Capability::FsRead,
            target: path.to_owned(),
            real: path.to_owned(),
            inside: true,
            unresolved: None,
        };
        ["read", "grep"].into_iter().any(|tool| {
            let subject = Subject {
                tool,
                mode: Some(ToolMode::Read),
                fact: Some(&fact),
            };
            self.matching(&subject)
                .first()
                .is_some_and(|winner| match winner.rule.action {
                    Action::Deny => true,
                    Action::Ask => winner.rule.pattern.is_some(),
                    Action::Allow => false,
                })
        })
    }

    /// Whether a call is denied whatever it touches: a rule denies the whole tool, and no rule that could speak of the
    /// call says anything else. Such a call needs no look at a file to be denied (`S003-26`).
    pub fn denies_outright(
        &self,
        tool: &str,
        mode: Option<ToolMode>,
        touches: &[Capability],
    ) -> bool {
        let whole = Subject {
            tool,
            mode,
            fact: None,
        };
        let speaks = |compiled: &&CompiledRule| {
            let permission = compiled.rule.permission.as_str();
            compiled.permission_rank(&whole).is_some()
                || touches
                    .iter()
                    .any(|capability| capability.as_str() == permission)
        };
        let mut outright = false;
        for compiled in self.rules.iter().filter(speaks) {
            if compiled.rule.action != Action::Deny {
                return false;
            }
            outright |=
                compiled.rule.pattern.is_none() && compiled.permission_rank(&whole).is_some();
        }
        outright
    }

    /// Every rule that matches, the winner first, each with why it won or lost. Empty if none matches.
    pub fn matching(&self, subject: &Subject<'_>) -> Vec<RuleTrace> {
        let shell = subject
            .fact
            .filter(|fact| fact.capability == Capability::ShellRun)
            .map(|fact| shell::read(&fact.target));
        let mut found: Vec<(Key, &Rule)> = self
            .rules
            .iter()
            .filter_map(|compiled| {
                let rank = compiled.permission_rank(subject)?;
                compiled
                    .pattern_matches(subject, shell.as_ref())
                    .then(|| (Key::new(rank, &compiled.rule), &compiled.rule))
            })
            .collect();
        found.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
        let winner = found.first().map(|(key, _)| *key);
        found
            .into_iter()
            .enumerate()
            .map(|(at, (key, rule))| RuleTrace {
                rule: rule.clone(),
                won: at == 0,
                why: winner.map_or_else(String::new, |won| key.against(won, at == 0)),
            })
            .collect()
    }
}

/// How strong a matching rule is; the greatest wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    manifest_deny: bool,
    permission_rank: u8,
    prefix_chars: usize,
    scope: RuleScope,
    strictness: u8,
}

impl Key {
    fn new(permission_rank: u8, rule: &Rule) -> Self {
        Self {
            manifest_deny: rule.scope == RuleScope::Manifest && rule.action == Action::Deny,
            permission_rank,
            prefix_chars: rule.pattern.as_deref().map_or(0, literal_prefix_chars),
            scope: rule.scope,
            strictness: match rule.action {
                Action::Allow => 0,
                Action::Ask => 1,
                Action::Deny => 2,
            },
        }
    }

    fn against(self, winner: Self, won: bool) -> String {
        let why = match () {
            () if won && self.manifest_deny => "final",
            () if won => "most specific",
            () if winner.manifest_deny && !self.manifest_deny => "a built-in deny is final",
            () if self.permission_rank < winner.permission_rank => "less specific",
            () if self.prefix_chars < winner.prefix_chars => "shorter prefix",
            () if self.scope < winner.scope => "wider scope",
            () if self.strictness < winner.strictness => "less strict",
            () => "the same again",
        };
        why.to_owned()
    }
}
