//! The verdict on the effects of a dry run: every path that the call changed is judged by the rules for changing it.

use protocol::rule::evidence::DryRunEvidence;
use protocol::rule::verdict::TrailStep;
use protocol::{At, Capability, Gate, ResolvedAccess, RuleAction, RuleScope, Verdict};

use crate::explanation;
use crate::request::EvaluationRequest;
use crate::rules::traces::merge_traces;
use crate::rules::{RuleDecision, RuleSet, Subject, SubjectKind};

/// How many paths are spoken of one by one.
const LISTED_PATHS_MAX: usize = 3;

/// How many paths a command may change without a question, where undoable changes need none.
const UNASKED_CHANGES_MAX: usize = 200;

/// Notice on a new repository, where files that nobody may change in an existing one are shown to the person instead.
const NEW_REPOSITORY_NOTICE: &str = "It begins a repository, whose configuration and hooks run programs later on: they are yours to look at.";

/// Judges the effects of a dry run by the rules. A path that no rule matches asks, unless the call itself was let
/// through before, or the person wants no question about what a file tool would be let through with.
pub(crate) fn evaluate_effects(
    request: &EvaluationRequest<'_>,
    dry_run: &DryRunEvidence,
) -> TrailStep {
    let mut verdict = Verdict::Allow;
    let mut rules = Vec::new();
    let mut reasons = vec![summarize_changes(dry_run)];
    let mut begins = false;
    for fact in &dry_run.effects {
        let subject = effect_subject(request, fact);
        let otherwise = unruled_verdict(dry_run, fact);
        let decision = request
            .rules
            .evaluate_subject(&subject, request.now, otherwise);
        let effect_verdict = match decision.verdict.unwrap_or(otherwise) {
            Verdict::Deny
                if is_in_new_repository(dry_run, fact) && is_builtin_denial(&decision) =>
            {
                begins = true;
                Verdict::Ask
            }
            effect_verdict => {
                if effect_verdict != Verdict::Allow && reasons.len() <= LISTED_PATHS_MAX {
                    reasons.extend(explanation::explain_piece(&subject, &decision));
                }
                effect_verdict
            }
        };
        verdict = verdict.max(effect_verdict);
        merge_traces(&mut rules, decision.traces);
    }
    for host in &dry_run.response_hosts {
        let decision = evaluate_response(request.rules, request.tool, host, request.now);
        let effect_verdict = decision.verdict.unwrap_or(Verdict::Allow);
        if effect_verdict != Verdict::Allow {
            let fact = ResolvedAccess::new_inside(Capability::NetFetch, host.clone());
            reasons.extend(explanation::explain_piece(
                &response_subject(request.tool, &fact),
                &decision,
            ));
        }
        verdict = verdict.max(effect_verdict);
        merge_traces(&mut rules, decision.traces);
    }
    if begins {
        reasons.push(NEW_REPOSITORY_NOTICE.to_owned());
    }
    if dry_run.effects.is_empty() && !dry_run.agreed && !dry_run.nothing_is_allowed {
        verdict = verdict.max(Verdict::Ask);
    }
    // Data that was sent cannot be taken back: nobody wants that to go unseen.
    let has_only_sent = dry_run.effects.is_empty() || dry_run.undoable_is_allowed;
    if !dry_run.reached.is_empty() && has_only_sent && !dry_run.agreed {
        verdict = verdict.max(Verdict::Ask);
    }
    let builds = usize::try_from(dry_run.build_outputs).unwrap_or(usize::MAX);
    if !dry_run.agreed && dry_run.effects.len().saturating_sub(builds) > UNASKED_CHANGES_MAX {
        verdict = verdict.max(Verdict::Ask);
        reasons.push(format!(
            "More than {UNASKED_CHANGES_MAX} paths are looked at, even where each could be undone."
        ));
    }
    // Whoever let the command through did not know that it plants something.
    if !dry_run.later_runs.is_empty() {
        verdict = verdict.max(Verdict::Ask);
        reasons.extend(dry_run.later_runs.iter().take(LISTED_PATHS_MAX).cloned());
    }
    let lost = dry_run.loss.iter().chain(&dry_run.repository_change);
    if !dry_run.agreed {
        for reason in lost {
            verdict = verdict.max(Verdict::Ask);
            reasons.push(reason.clone());
        }
    }
    // A person would want to know of refusals before the call counts as done.
    if dry_run.refused > 0 && !dry_run.agreed {
        verdict = verdict.max(Verdict::Ask);
    }
    // Whoever let it through did not know that it does something else here than outside.
    if let (Some(first), false) = (dry_run.secrets.first(), dry_run.effects.is_empty()) {
        verdict = verdict.max(Verdict::Ask);
        reasons.push(describe_missing_secrets(first, dry_run.secrets.len()));
    }
    rules.sort_by_key(|trace| std::cmp::Reverse((trace.won, Verdict::from(trace.rule.action))));
    TrailStep {
        gate: Gate::Effects,
        verdict: Some(verdict),
        text: reasons.join(" "),
        rules,
    }
}

/// Returns the verdict on a changed path that no rule matches.
fn unruled_verdict(dry_run: &DryRunEvidence, fact: &ResolvedAccess) -> Verdict {
    // Only the repository of the workspace itself was examined, and none below it.
    let is_everyday = dry_run.is_everyday_git && fact.real.starts_with(".git/");
    let is_undoable = is_everyday || !changes_repository(fact);
    match dry_run.agreed || (dry_run.undoable_is_allowed && is_undoable) {
        true => Verdict::Allow,
        false => Verdict::Ask,
    }
}

/// Whether a path is one of git's own, other than its list of what is staged: what a branch, a tag or the configuration
/// says is no file of the project, and no file tool changes it.
fn changes_repository(fact: &ResolvedAccess) -> bool {
    let parts: Vec<&str> = fact.real.split('/').collect();
    let git = parts
        .iter()
        .position(|part| part.eq_ignore_ascii_case(".git"));
    git.is_some_and(|at| parts[at + 1..] != ["index"])
}

/// Whether any rule of a request, in force or not, matches the effects of the call's dry run.
pub fn has_effect_rule(request: &EvaluationRequest<'_>) -> bool {
    let spoken_of = |subject: &Subject<'_>| {
        let decision = request
            .rules
            .evaluate_subject(subject, request.now, Verdict::Ask);
        !decision.traces.is_empty()
    };
    let (tool, now) = (request.tool, request.now);
    request.dry_run.is_some_and(|dry_run| {
        let mut changed = dry_run.effects.iter();
        let mut hosts = dry_run.response_hosts.iter();
        changed.any(|fact| spoken_of(&effect_subject(request, fact)))
            || hosts.any(|host| {
                !evaluate_response(request.rules, tool, host, now)
                    .traces
                    .is_empty()
            })
    })
}

/// Returns the subject for a path that a call changed.
fn effect_subject<'a>(request: &EvaluationRequest<'a>, fact: &'a ResolvedAccess) -> Subject<'a> {
    Subject {
        mode: request.tool_class.mode,
        is_named_removal: request.facts.removes(&fact.real),
        exact_digest: request.facts.exact_digest(),
        ..Subject::new(request.tool, SubjectKind::Effect(fact))
    }
}

/// Describes effects of a dry run that was refused the contents of secrets.
fn describe_missing_secrets(first: &str, secrets: usize) -> String {
    let more = match secrets - 1 {
        0 => String::new(),
        1 => " and 1 more".to_owned(),
        more => format!(" and {more} more"),
    };
    format!(
        "It was refused the secret `{first}`{more}, so what it did may not be what it does with it: look closely."
    )
}

/// Whether a rule asks about the answer of one of these hosts, or denies reading it. An answer that no rule matches may
/// be read.
pub fn requires_response_review(rules: &RuleSet, tool: &str, hosts: &[String], now: At) -> bool {
    let mut hosts = hosts.iter();
    hosts.any(|host| evaluate_response(rules, tool, host, now).verdict > Some(Verdict::Allow))
}

fn evaluate_response(rules: &RuleSet, tool: &str, host: &str, now: At) -> RuleDecision {
    let fact = ResolvedAccess::new_inside(Capability::NetFetch, host);
    rules.evaluate_subject(&response_subject(tool, &fact), now, Verdict::Allow)
}

fn response_subject<'a>(tool: &'a str, fact: &'a ResolvedAccess) -> Subject<'a> {
    Subject::new(tool, SubjectKind::Response(fact))
}

/// Denies effects beyond the surface of the agent: the capability check of a dry run, which no rule lifts.
pub(crate) fn check_effects_scope(dry_run: &DryRunEvidence) -> Option<TrailStep> {
    let beyond = dry_run.beyond.as_ref();
    beyond.map(|why| TrailStep::new(Gate::Capability, Verdict::Deny, why))
}

/// Whether a path lies in a repository that came to be in the same run.
fn is_in_new_repository(dry_run: &DryRunEvidence, fact: &ResolvedAccess) -> bool {
    let mut repositories = dry_run.begun.iter();
    repositories.any(|git| {
        let below = fact.real.strip_prefix(git.as_str());
        below.is_some_and(|below| below.starts_with('/'))
    })
}

/// Whether only built-in protections deny, and no rule that anybody wrote.
fn is_builtin_denial(decision: &RuleDecision) -> bool {
    let mut denials = decision
        .traces
        .iter()
        .filter(|trace| trace.rule.action == RuleAction::Deny);
    denials.all(|trace| trace.rule.scope == RuleScope::Builtin)
}

/// Whether the verdict on the effects settles the asks of the gates before: it does where only the mode of the call, or
/// the lack of a rule, made them ask, or doubt about what runs; not where a rule, a watchdog or a place did, where the person wants to be asked
/// about everything, or where the rules could not be read.
pub(crate) fn can_settle_ask(request: &EvaluationRequest<'_>, steps: &[TrailStep]) -> bool {
    let asks = |step: &&TrailStep| step.verdict == Some(Verdict::Ask);
    let by_a_rule = |step: &TrailStep| {
        let mut rules = step.rules.iter();
        rules.any(|trace| trace.won && Verdict::from(trace.rule.action) == Verdict::Ask)
    };
    !request.ask_for_everything
        && request.rules.broken.is_none()
        && steps.iter().filter(asks).all(|step| match step.gate {
            Gate::Mode => true,
            Gate::Rules => !by_a_rule(step),
            Gate::Capability => can_settle_doubt(request),
            Gate::Watchdog
            | Gate::Effects
            | Gate::Undo
            | Gate::Interaction
            | Gate::Headless
            | Gate::Consent => false,
        })
}

/// Whether the effects settle a doubt about what a command runs: where the person judges commands by what they change,
/// it is known now. Not where a rule restricts commands, which the doubtful one may be, nor before a place is opened.
fn can_settle_doubt(request: &EvaluationRequest<'_>) -> bool {
    let judges_effects = match request.dry_run {
        Some(dry_run) => dry_run.undoable_is_allowed,
        None => request.dry_run_first,
    };
    let mode = request.tool_class.mode;
    judges_effects
        && !request.facts.has_only_mentions()
        && request.facts.roots_to_open().next().is_none()
        && !request
            .rules
            .restricts_commands(request.tool, mode, request.now)
}

fn summarize_changes(dry_run: &DryRunEvidence) -> String {
    if !dry_run.response_hosts.is_empty() {
        let hosts = dry_run.response_hosts.join(", ");
        return format!("It came from {hosts}, and the agent has not read it.");
    }
    let changed = match dry_run.effects.len() {
        0 => "nothing".to_owned(),
        1 => "1 path".to_owned(),
        many => format!("{many} paths"),
    };
    let refused = match dry_run.refused {
        0 => "nothing".to_owned(),
        1 => "1 thing".to_owned(),
        many => format!("{many} things"),
    };
    let reached = match dry_run.reached.is_empty() {
        true => String::new(),
        false => format!(" It reached {}.", dry_run.reached.join(", ")),
    };
    let without = match dry_run.own_settings.first() {
        Some(first) => format!(" It ran without the settings in `{first}`."),
        None => String::new(),
    };
    let ran = match dry_run.for_real {
        true => "Run for real",
        false => "In a dry run",
    };
    format!("{ran}, it changed {changed} and was refused {refused}.{reached}{without}")
}

#[cfg(test)]
mod tests {
    use protocol::ToolMode;

    use super::*;
    use crate::test_request::with_request;
    use crate::watchdogs::Alarm;

    /// The verdict on a command that changed these paths, and the gate that its reason comes from.
    fn verdict(rules: &str, dry_run: &DryRunEvidence, alarms: &[Alarm]) -> (Verdict, String) {
        let fact = ResolvedAccess::new_inside(Capability::ShellRun, "make all");
        with_request("bash", ToolMode::Local, fact, rules, |request| {
            let judgement = crate::evaluate::evaluate(&EvaluationRequest {
                alarms,
                dry_run: Some(dry_run),
                ..*request
            });
            (judgement.verdict(), judgement.trail().lead.clone())
        })
    }

    fn dry_run(effects: &[(Capability, &str)]) -> DryRunEvidence {
        let facts = effects.iter();
        DryRunEvidence {
            effects: facts
                .map(|(capability, path)| ResolvedAccess::new_inside(*capability, *path))
                .collect(),
            ..DryRunEvidence::default()
        }
    }

    #[test]
    fn effects_are_judged_by_the_rules_for_changing_them() {
        use Capability::{FsDelete, FsWrite};
        use Verdict::{Allow, Ask, Deny};
        let writes_out =
            "[[rule]]\npermission = \"fs.write\"\npattern = \"out/**\"\naction = \"allow\"\n";
        let asks_src =
            "[[rule]]\npermission = \"fs.write\"\npattern = \"src/**\"\naction = \"ask\"\n";
        let denies_src =
            "[[rule]]\npermission = \"fs.write\"\npattern = \"src/**\"\naction = \"deny\"\n";
        let asks_make = "[[rule]]\npermission = \"bash\"\npattern = \"make*\"\naction = \"ask\"\n";
        let allows_make =
            "[[rule]]\npermission = \"bash\"\npattern = \"make*\"\naction = \"allow\"\n";
        let out = &[(FsWrite, "out/a")][..];
        let src = &[(FsWrite, "out/a"), (FsWrite, "src/a")][..];
        for (rules, effects, agreed, expected) in [
            // Nobody spoke of it: a person looks at what it changes.
            ("", &[][..], false, Ask),
            ("", out, false, Ask),
            (writes_out, out, false, Allow),
            (writes_out, src, false, Ask),
            // Permission to write does not permit deleting.
            (writes_out, &[(FsDelete, "out/a")], false, Ask),
            // A rule about the command was meant for the command.
            (&[writes_out, asks_make].concat(), out, false, Ask),
            (denies_src, src, false, Deny),
            // Let through before: only what a rule says of its effects counts.
            ("", src, true, Allow),
            (allows_make, src, true, Allow),
            (asks_make, src, true, Allow),
            (asks_src, src, true, Ask),
            (denies_src, src, true, Deny),
            // To write is not to delete, but who may not write may not delete.
            (denies_src, &[(FsDelete, "src/a")], true, Deny),
            // Protections hold for effects; a repository's records are git's own, its hooks are nobody's.
            ("", &[(FsWrite, ".git/index")], true, Allow),
            ("", &[(FsWrite, ".git/hooks/post-commit")], true, Deny),
            ("", &[(FsWrite, ".env")], true, Ask),
            ("", &[(FsWrite, ".countersign/rules.toml")], true, Deny),
            (writes_out, &[(FsWrite, "out/.bashrc")], false, Deny),
        ] {
            let dry_run = DryRunEvidence {
                agreed,
                ..dry_run(effects)
            };
            let (verdict, lead) = verdict(rules, &dry_run, &[]);
            assert_eq!(verdict, expected, "{rules} {effects:?} {agreed}: {lead}");
        }
    }

    /// An answer of a host may be read unless a rule on reading answers asks or denies; rules about the request do not
    /// apply to the answer.
    #[test]
    fn what_came_is_judged_by_its_own_rules() {
        use Verdict::{Allow, Ask, Deny};
        let rule = |permission: &str, pattern: &str, action: &str| {
            format!(
                "[[rule]]\npermission = \"{permission}\"\npattern = \"{pattern}\"\naction = \"{action}\"\n"
            )
        };
        let dry_run = DryRunEvidence {
            response_hosts: vec!["docs.rs".to_owned(), "a.example.com".to_owned()],
            agreed: true,
            for_real: true,
            ..DryRunEvidence::default()
        };
        let asks = rule("net.read", "*.example.com", "ask");
        for (rules, expected) in [
            (String::new(), Allow),
            (rule("net.fetch", "*.example.com", "ask"), Allow),
            (rule("bash", "make*", "ask"), Allow),
            (
                "[[rule]]\npermission = \"*\"\naction = \"ask\"\n".to_owned(),
                Allow,
            ),
            (rule("net.read", "packages.example", "ask"), Allow),
            (asks.clone(), Ask),
            (
                "[[rule]]\npermission = \"net.read\"\naction = \"ask\"\n".to_owned(),
                Ask,
            ),
            (asks + &rule("net.read", "a.example.com", "allow"), Allow),
            (rule("net.read", "docs.rs", "deny"), Deny),
        ] {
            let (verdict, lead) = verdict(&rules, &dry_run, &[]);
            assert_eq!(verdict, expected, "{rules}: {lead}");
            let told = lead.contains("because of what came, ");
            assert_eq!(told, expected != Allow, "{rules}: {lead}");
        }
    }

    #[test]
    fn a_new_repository_is_looked_at_and_an_old_one_keeps_its_hooks() {
        use Capability::FsWrite;
        let effects = [
            (FsWrite, "lib/.git"),
            (FsWrite, "lib/.git/config"),
            (FsWrite, "lib/.git/hooks/pre-commit"),
        ];
        let begun = DryRunEvidence {
            begun: vec!["lib/.git".to_owned()],
            agreed: true,
            ..dry_run(&effects)
        };
        assert_eq!(verdict("", &begun, &[]).0, Verdict::Ask);
        let mut elsewhere = begun.clone();
        let hook = ResolvedAccess::new_inside(FsWrite, "lib/.github/.git/config");
        elsewhere.effects.push(hook);
        assert_eq!(verdict("", &elsewhere, &[]).0, Verdict::Deny);
        let old = DryRunEvidence {
            begun: Vec::new(),
            ..begun.clone()
        };
        assert_eq!(verdict("", &old, &[]).0, Verdict::Deny);
        // A rule that somebody wrote denies it all the same.
        let denies =
            "[[rule]]\npermission = \"fs.write\"\npattern = \"lib/**\"\naction = \"deny\"\n";
        assert_eq!(verdict(denies, &begun, &[]).0, Verdict::Deny);
    }

    /// Writes beyond the surface of the agent are denied, whatever a rule or a person says.
    #[test]
    fn what_lies_beyond_the_agent_is_denied() {
        let allows =
            "[[rule]]\npermission = \"fs.write\"\npattern = \"src/**\"\naction = \"allow\"\n";
        for agreed in [false, true] {
            let beyond = DryRunEvidence {
                beyond: Some("It lies beyond.".to_owned()),
                agreed,
                ..dry_run(&[(Capability::FsWrite, "src/a")])
            };
            let (verdict, lead) = verdict(allows, &beyond, &[]);
            assert_eq!(verdict, Verdict::Deny);
            assert_eq!(lead, "Denied, because it lies beyond.");
        }
    }

    #[test]
    fn what_changes_nothing_needs_no_question_where_the_person_chose_so() {
        let nothing = DryRunEvidence {
            nothing_is_allowed: true,
            ..DryRunEvidence::default()
        };
        let refused = DryRunEvidence {
            refused: 1,
            ..nothing.clone()
        };
        let reached = DryRunEvidence {
            reached: vec!["docs.rs".to_owned()],
            ..nothing.clone()
        };
        let asks = [Alarm::ask("It looks odd.".to_owned())];
        for (dry_run, alarms, expected) in [
            (&nothing, &[][..], Verdict::Allow),
            (&DryRunEvidence::default(), &[], Verdict::Ask),
            (&refused, &[], Verdict::Ask),
            (&reached, &[], Verdict::Ask),
            // A call that a watchdog wants shown is shown, whatever its effects.
            (&nothing, &asks, Verdict::Ask),
        ] {
            assert_eq!(verdict("", dry_run, alarms).0, expected, "{dry_run:?}");
        }
    }

    /// M24: where the person judges commands by their effects, what a file tool would be let through with passes.
    #[test]
    fn undoable_changes_need_no_question_where_the_person_chose_so() {
        use Capability::{FsDelete, FsWrite};
        use Verdict::{Allow, Ask, Deny};
        let rule = |permission: &str, pattern: &str, action: &str| {
            format!(
                "[[rule]]\npermission = \"{permission}\"\npattern = \"{pattern}\"\naction = \"{action}\"\n"
            )
        };
        let many: Vec<String> = (0..=UNASKED_CHANGES_MAX)
            .map(|n| format!("out/{n}"))
            .collect();
        let many: Vec<_> = many.iter().map(|path| (FsWrite, path.as_str())).collect();
        for (rules, effects, expected) in [
            (
                String::new(),
                &[(FsWrite, "src/a"), (FsDelete, "old")][..],
                Allow,
            ),
            (String::new(), &many[1..], Allow),
            (String::new(), &many[..], Ask),
            // What git keeps for itself is no file of the project, but for the list of what is staged.
            (String::new(), &[(FsWrite, ".git/index")], Allow),
            (String::new(), &[(FsWrite, ".git/refs/heads/main")], Ask),
            (String::new(), &[(FsDelete, "lib/.git/HEAD")], Ask),
            (String::new(), &[(FsWrite, ".git/hooks/pre-commit")], Deny),
            (String::new(), &[(FsWrite, ".env")], Ask),
            // Rules speak first, of the command as of what it changed.
            (
                rule("fs.write", "src/**", "ask"),
                &[(FsWrite, "src/a")],
                Ask,
            ),
            (
                rule("fs.write", "src/**", "deny"),
                &[(FsWrite, "src/a")],
                Deny,
            ),
            (rule("bash", "make*", "ask"), &[(FsWrite, "src/a")], Ask),
        ] {
            let dry_run = DryRunEvidence {
                nothing_is_allowed: true,
                undoable_is_allowed: true,
                ..dry_run(effects)
            };
            let (verdict, lead) = verdict(&rules, &dry_run, &[]);
            assert_eq!(verdict, expected, "{rules} {effects:?}: {lead}");
        }
        for (path, expected) in [
            (".git/refs/heads/main", Allow),
            ("lib/.git/refs/heads/main", Ask),
        ] {
            let everyday = DryRunEvidence {
                undoable_is_allowed: true,
                is_everyday_git: true,
                ..dry_run(&[(FsWrite, path)])
            };
            assert_eq!(verdict("", &everyday, &[]).0, expected, "{path}");
        }
        let sent = DryRunEvidence {
            undoable_is_allowed: true,
            reached: vec!["docs.rs".to_owned()],
            ..dry_run(&[(FsWrite, "src/a")])
        };
        assert_eq!(
            verdict("", &sent, &[]).0,
            Ask,
            "what was sent is not undone"
        );
    }

    /// M24: a doubt about what a command runs is settled by its effects, unless a rule restricts commands: it may be
    /// the one that the rule means.
    #[test]
    fn a_doubt_is_settled_by_effects_unless_a_rule_restricts_commands() {
        let doubtful = ResolvedAccess {
            doubt: Some("It is decided as it runs.".to_owned()),
            ..ResolvedAccess::new_inside(Capability::FsRead, "$file")
        };
        let denies = "[[rule]]\npermission = \"bash\"\npattern = \"rm*\"\naction = \"deny\"\n";
        let allows = "[[rule]]\npermission = \"bash\"\npattern = \"ls*\"\naction = \"allow\"\n";
        for (rules, undoable_is_allowed, expected) in [
            ("", true, Verdict::Allow),
            (allows, true, Verdict::Allow),
            (denies, true, Verdict::Ask),
            ("", false, Verdict::Ask),
        ] {
            let dry_run = DryRunEvidence {
                nothing_is_allowed: true,
                undoable_is_allowed,
                ..DryRunEvidence::default()
            };
            let judged = with_request(
                "bash",
                ToolMode::Local,
                doubtful.clone(),
                rules,
                |request| {
                    let request = EvaluationRequest {
                        dry_run: Some(&dry_run),
                        ..*request
                    };
                    crate::evaluate::evaluate(&request).verdict()
                },
            );
            assert_eq!(judged, expected, "{rules}");
        }
    }

    /// M24: where nobody can be asked, a call that its effects may settle is not denied before they are known.
    #[test]
    fn a_headless_call_waits_for_its_effects() {
        let fact = || ResolvedAccess::new_inside(Capability::ShellRun, "make all");
        let asks = "[[rule]]\npermission = \"bash\"\npattern = \"make*\"\naction = \"ask\"\n";
        for (rules, dry_run_first, expected) in [
            ("", true, Verdict::Ask),
            ("", false, Verdict::Deny),
            // Its effects settle nothing, so it never runs.
            (asks, true, Verdict::Deny),
        ] {
            let judged = with_request("bash", ToolMode::Local, fact(), rules, |request| {
                let request = EvaluationRequest {
                    headless: Some("Nobody is there."),
                    dry_run_first,
                    ..*request
                };
                crate::evaluate::evaluate(&request).verdict()
            });
            assert_eq!(judged, expected, "{rules} {dry_run_first}");
        }
    }
}
