//! Patterns that a rule for a call could name, from the parsed call: the narrowest first.

use protocol::rule::evidence::{RemoteUse, RemoteUseKind};
use protocol::{Capability, Digest, ResolvedAccess, RuleAction, ToolMode, Verdict};

use super::literal_pattern;
use crate::limits::PATTERN_BYTES_MAX;
use crate::request::EvaluationRequest;
use crate::rules::{Subject, SubjectKind};
use crate::shell::list_has_word;
use crate::watchdogs;

/// A rule that could be offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GrantCandidate {
    pub permission: String,
    pub pattern: Option<String>,
    /// Description of the calls that the pattern covers, in one line.
    pub words: String,
    /// Digest of the only call that the pattern is for, if it is for one call.
    pub exact_digest: Option<Digest>,
}

/// The very call, although its watchdogs ask.
pub(super) fn exact_call_candidate(request: &EvaluationRequest<'_>) -> Option<GrantCandidate> {
    let call = request.facts.exact_digest()?.clone();
    let reasons = watchdogs::grantable_reasons(request.alarms).join(" ");
    Some(GrantCandidate {
        exact_digest: Some(call),
        ..build_candidate(
            request,
            None,
            format!("exactly this call, although: {reasons}"),
        )
    })
}

/// Lists everything that a rule for this call could name.
pub(super) fn list_candidates(
    request: &EvaluationRequest<'_>,
    action: RuleAction,
) -> Vec<GrantCandidate> {
    let declared: Vec<&ResolvedAccess> = request
        .facts
        .all()
        .iter()
        .filter(|fact| !fact.derived)
        .collect();
    let all = |capability: fn(Capability) -> bool| {
        !declared.is_empty() && declared.iter().all(|fact| capability(fact.capability))
    };
    let mut candidates = match () {
        () if all(|one| one == Capability::ShellRun) => command_candidates(request, action),
        () if all(is_path_capability) => path_candidates(request, &declared),
        () if all(|one| one == Capability::NetFetch) => host_candidates(request, &declared),
        () if declared.is_empty() => mention_candidates(request),
        () => Vec::new(),
    };
    candidates.retain(|one| {
        one.pattern.as_deref().is_none_or(|pattern| {
            pattern.len() <= PATTERN_BYTES_MAX && crate::path::find_hidden_char(pattern).is_none()
        })
    });
    candidates
}

fn is_path_capability(capability: Capability) -> bool {
    match capability {
        Capability::FsRead | Capability::FsWrite | Capability::FsDelete => true,
        Capability::NetFetch | Capability::ShellRun => false,
    }
}

fn build_candidate(
    request: &EvaluationRequest<'_>,
    pattern: Option<String>,
    words: String,
) -> GrantCandidate {
    GrantCandidate {
        permission: request.tool.to_owned(),
        pattern,
        words,
        exact_digest: None,
    }
}

fn tool_candidate(request: &EvaluationRequest<'_>) -> GrantCandidate {
    let words = format!("every call of `{}`, whatever its arguments", request.tool);
    build_candidate(request, None, words)
}

/// Candidates for a call of somebody else's tool: the path or host that its arguments name, if they name just one; then
/// the tool, whatever its arguments.
fn mention_candidates(request: &EvaluationRequest<'_>) -> Vec<GrantCandidate> {
    let facts: Vec<&ResolvedAccess> = request.facts.all().iter().collect();
    let mut reals: Vec<&str> = facts.iter().map(|fact| fact.real.as_str()).collect();
    reals.sort_unstable();
    reals.dedup();
    let all = |of: fn(Capability) -> bool| facts.iter().all(|fact| of(fact.capability));
    let mut candidates = match reals.as_slice() {
        [real] if !real.is_empty() && all(is_path_capability) => {
            single_path_candidates(request, real)
        }
        [real] if !real.is_empty() && all(|one| one == Capability::NetFetch) => {
            vec![build_candidate(
                request,
                Some((*real).to_owned()),
                format!("`{}` alone", crate::rules::quote_truncated(real)),
            )]
        }
        _ => argument_candidates(request),
    };
    candidates.push(tool_candidate(request));
    candidates.extend(verb_candidate(request));
    candidates
}

/// Every tool of the server whose name begins with the same reading verb, where a rule can name them so.
fn verb_candidate(request: &EvaluationRequest<'_>) -> Option<GrantCandidate> {
    let permission = request.tool_class.verb_permission.clone()?;
    let start = permission.strip_suffix('*')?;
    request.tool.starts_with(start).then(|| GrantCandidate {
        words: format!("every tool whose name begins with `{start}`, whatever its arguments"),
        permission: permission.clone(),
        pattern: None,
        exact_digest: None,
    })
}

/// Of so many arguments each is offered.
const ARGUMENT_OFFERS_MAX: usize = 3;
/// Most bytes of an argument value that is offered.
const ARGUMENT_BYTES_MAX: usize = 80;

/// The arguments that are single words, each alone.
fn argument_candidates(request: &EvaluationRequest<'_>) -> Vec<GrantCandidate> {
    let all = request.facts.arguments().unwrap_or_default().iter();
    let named = all.filter_map(|argument| {
        let value = argument.text.as_deref()?;
        let is_word = !value.is_empty() && !value.contains(char::is_whitespace);
        let pattern = crate::patterns::argument::exact_argument_pattern(&argument.name, value)?;
        (is_word && value.len() <= ARGUMENT_BYTES_MAX).then(|| {
            let name = &argument.name;
            let words = format!(
                "every call whose `{name}` is `{}`",
                crate::rules::quote_truncated(value)
            );
            build_candidate(request, Some(pattern), words)
        })
    });
    named.take(ARGUMENT_OFFERS_MAX).collect()
}

/// One path, then its folder.
fn single_path_candidates(request: &EvaluationRequest<'_>, real: &str) -> Vec<GrantCandidate> {
    let mut candidates = vec![build_candidate(
        request,
        Some(literal_pattern::path(real)),
        format!("`{}` alone", crate::rules::quote_truncated(real)),
    )];
    if let Some((folder, _)) = real
        .rsplit_once('/')
        .filter(|(folder, _)| !folder.is_empty())
    {
        candidates.push(build_candidate(
            request,
            Some(format!("{}/**", literal_pattern::path(folder))),
            format!("everything in `{}/`", crate::rules::quote_truncated(folder)),
        ));
    }
    candidates
}

/// Folders with fewer names, such as a whole home, are not offered.
const OUTSIDE_FOLDER_NAMES_MIN: usize = 3;

/// Reading what a dry run read outside of the workspace: the one file, and the folder that everything lies in.
pub(super) fn outside_read_candidates(request: &EvaluationRequest<'_>) -> Vec<GrantCandidate> {
    let reads = request
        .dry_run
        .map(|dry_run| dry_run.outside_reads.as_slice());
    let Some([first, others @ ..]) = reads else {
        return Vec::new();
    };
    let build = |pattern: String, words: String| GrantCandidate {
        permission: Capability::FsRead.as_str().to_owned(),
        pattern: Some(pattern),
        words,
        exact_digest: None,
    };
    let mut candidates = Vec::new();
    if others.is_empty() {
        candidates.push(build(
            literal_pattern::path(first),
            format!("reading `{}` alone", crate::rules::quote_truncated(first)),
        ));
    }
    let mut folders = first
        .match_indices('/')
        .rev()
        .map(|(end, _)| &first[..=end]);
    let shared = folders.find(|folder| others.iter().all(|path| path.starts_with(folder)));
    let names = |folder: &str| folder.split('/').filter(|name| !name.is_empty()).count();
    if let Some(folder) = shared.filter(|folder| names(folder) >= OUTSIDE_FOLDER_NAMES_MIN) {
        candidates.push(build(
            format!("{}/**", literal_pattern::path(folder.trim_end_matches('/'))),
            format!(
                "reading everything in `{}`",
                crate::rules::quote_truncated(folder)
            ),
        ));
    }
    candidates
}

/// Of so many commands a denial is offered each.
const DENY_CANDIDATES_MAX: usize = 4;

/// Programs that are seldom the ones to deny: they wrap or surround the one that matters.
const COMMON_PROGRAMS: &str = "cd pushd popd ls cat echo printf pwd true false : test [ export set unset head tail grep \
    wc sort sleep which mkdir exit wait";

/// Candidates for a command. A rule is about one simple command: the only one that no rule allows yet, or each of those
/// that could be denied.
fn command_candidates(request: &EvaluationRequest<'_>, action: RuleAction) -> Vec<GrantCandidate> {
    let subjects = Subject::from_facts(request.tool, request.tool_class.mode, request.facts);
    let all = subjects
        .iter()
        .filter(|subject| !subject.tightens)
        .filter_map(|subject| match &subject.seen {
            SubjectKind::Command { words, .. } if !words.is_empty() => Some((subject, words)),
            SubjectKind::Command { .. }
            | SubjectKind::WholeCall { .. }
            | SubjectKind::Path(_)
            | SubjectKind::Effect(_)
            | SubjectKind::Host(_)
            | SubjectKind::Response(_) => None,
        });
    match action {
        RuleAction::Allow => {
            let mut open = all.filter(|(subject, _)| !is_subject_allowed(request, subject));
            match (open.next(), open.next()) {
                (Some((subject, only)), None) => {
                    let remote = subject.remote.map(remote_candidate);
                    let patterns = command_pattern_candidates(request, action, only);
                    remote.into_iter().chain(patterns).collect()
                }
                _ => Vec::new(),
            }
        }
        RuleAction::Ask | RuleAction::Deny => {
            let mut parts: Vec<_> = all.collect();
            // The command that is most likely meant comes first.
            parts.sort_by_key(|(subject, words)| {
                (
                    is_subject_allowed(request, subject),
                    list_has_word(COMMON_PROGRAMS, &words[0]),
                )
            });
            parts
                .into_iter()
                .take(DENY_CANDIDATES_MAX)
                .flat_map(|(_, words)| command_pattern_candidates(request, action, words))
                .collect()
        }
    }
}

/// The remote that a command uses, for whatever use of the same kind.
fn remote_candidate(used: &RemoteUse) -> GrantCandidate {
    let what = match used.kind {
        RemoteUseKind::Fetch => "`git fetch` from",
        RemoteUseKind::PushNewBranch => "`git push` of a new branch to",
    };
    GrantCandidate {
        permission: used.kind.permission().to_owned(),
        words: format!("{what} `{}`, at `{}`", used.remote, used.address),
        pattern: Some(used.address.clone()),
        exact_digest: None,
    }
}

/// Lists the patterns that a rule for one simple command could name.
fn command_pattern_candidates(
    request: &EvaluationRequest<'_>,
    action: RuleAction,
    words: &[String],
) -> Vec<GrantCandidate> {
    let shown = |words: &[String]| crate::rules::quote_truncated(&words.join(" "));
    let mut candidates = vec![build_candidate(
        request,
        Some(literal_pattern::exact_command_pattern(words)),
        format!("exactly `{}`", shown(words)),
    )];
    for prefix in open_prefixes(words) {
        candidates.push(build_candidate(
            request,
            Some(match action {
                RuleAction::Allow => literal_pattern::command_prefix_pattern(prefix),
                // Glued to its last word a deny would go on within it.
                RuleAction::Ask | RuleAction::Deny => {
                    format!("{} *", literal_pattern::exact_command_pattern(prefix))
                }
            }),
            format!("`{}`, then the end or more words", shown(prefix)),
        ));
    }
    candidates
}

fn is_subject_allowed(request: &EvaluationRequest<'_>, subject: &Subject<'_>) -> bool {
    let decision = request
        .rules
        .evaluate_subject(subject, request.now, Verdict::Ask);
    decision.verdict == Some(Verdict::Allow)
}

/// The beginnings that a rule may leave open: never the program alone.
fn open_prefixes(words: &[String]) -> Vec<&[String]> {
    let mut prefixes = Vec::new();
    if words.len() >= 2 {
        prefixes.push(words);
    }
    // Up to the last word that names what is worked on, and up to the sub-command.
    let is_name = |word: &String| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'))
    };
    if words.len() > 2 && is_name(&words[1]) {
        let named = words.iter().take_while(|word| is_name(word)).count();
        if named > 2 && named < words.len() {
            prefixes.push(&words[..named]);
        }
        prefixes.push(&words[..2]);
    }
    prefixes
}

/// One path, then its folder, then the tool wherever it works, where what it does can be seen and bounded.
fn path_candidates(
    request: &EvaluationRequest<'_>,
    declared: &[&ResolvedAccess],
) -> Vec<GrantCandidate> {
    let mut reals: Vec<&str> = declared.iter().map(|fact| fact.real.as_str()).collect();
    reals.dedup();
    let every_call = build_candidate(
        request,
        None,
        format!("every call of `{}` in the workspace", request.tool),
    );
    let mut candidates = Vec::new();
    if let [real] = reals.as_slice()
        && declared.iter().all(|fact| fact.inside)
        && !real.is_empty()
    {
        candidates.extend(single_path_candidates(request, real));
    }
    match request.tool_class.mode {
        Some(ToolMode::Read | ToolMode::SafeWrite) => candidates.push(every_call),
        // A tool that takes something away, or is of no known kind, is not granted as a whole.
        Some(ToolMode::Destructive | ToolMode::Local | ToolMode::External) | None => {}
    }
    candidates
}

/// The one host.
fn host_candidates(
    request: &EvaluationRequest<'_>,
    declared: &[&ResolvedAccess],
) -> Vec<GrantCandidate> {
    match declared {
        [one] if one.real.is_empty() => vec![tool_candidate(request)],
        [one] => vec![build_candidate(
            request,
            Some(one.real.clone()),
            format!("`{}` alone", crate::rules::quote_truncated(&one.real)),
        )],
        _ => Vec::new(),
    }
}
