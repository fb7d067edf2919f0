//! Rights of sub-agents: no more than those of their caller, whatever the requirements, the ceiling and the rules are.

use policy::path::Os;
use policy::rules_file::{self, RulesFile, RulesFileSource};
use policy::{
    CallFacts, EvaluationRequest, RuleSet, Surface, ToolDeclaration, classify_tool, evaluate,
};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use protocol::interface::requirements::VariableValues;
use protocol::view::preview::UndoAvailability;
use protocol::{CallId, Capability, Digest, RequirementSet, ResolvedAccess, RuleScope, Verdict};

const PATHS: [&str; 7] = [
    "src/**",
    "{workspace}/docs/**",
    "{workspace}/**",
    "a.txt",
    "src/*.rs",
    "/w/x/*",
    "**/*.md",
];
const HOSTS: [&str; 3] = ["docs.rs", "*.example.com", "*"];
const PROGRAMS: [&str; 3] = ["git", "cargo", "*"];
const RULES: [(&str, &str); 10] = [
    ("*", "*"),
    ("mode:local", "*"),
    ("fs.read", "src/**"),
    ("fs.read", "**/*.md"),
    ("fs.write", "a.txt"),
    ("tool", "docs/**"),
    ("tool", "git*"),
    ("shell.run", "git push*"),
    ("net.fetch", "*.example.com"),
    ("tool", "docs.rs"),
];

/// The requirements of one tool.
fn requirements_strategy() -> impl Strategy<Value = RequirementSet> {
    let some = |from: &'static [&'static str]| subsequence(from, 0..=from.len().min(3));
    (some(&PATHS), some(&PATHS), some(&HOSTS), some(&PROGRAMS)).prop_map(
        |(read, write, hosts, programs)| {
            let mut set = RequirementSet::empty();
            set = read.into_iter().fold(set, |set, one| set.with_read(one));
            set = write.into_iter().fold(set, |set, one| set.with_write(one));
            set = hosts.into_iter().fold(set, |set, one| set.with_host(one));
            programs
                .into_iter()
                .fold(set, |set, one| set.with_command(one))
        },
    )
}

/// Something that a call touches, in the workspace or beyond it.
fn fact_strategy() -> impl Strategy<Value = ResolvedAccess> {
    use Capability::{FsDelete, FsRead, FsWrite, NetFetch, ShellRun};
    let paths = ["src/a.rs", "src/b/c.md", "docs/d", "a.txt", "x/y", "z"];
    prop_oneof![
        (
            select(vec![FsRead, FsWrite, FsDelete]),
            select(paths.to_vec()),
            any::<bool>()
        )
            .prop_map(|(capability, path, inside)| ResolvedAccess {
                inside,
                ..ResolvedAccess::new_inside(capability, path)
            }),
        select(vec!["docs.rs", "a.example.com", "evil.com"])
            .prop_map(|host| ResolvedAccess::new_inside(NetFetch, host)),
        select(vec![
            "git log",
            "git push",
            "cargo test; git log",
            "rm x",
            "$X"
        ])
        .prop_map(|command| ResolvedAccess::new_inside(ShellRun, command)),
    ]
}

/// Rules as every session of a lineage has them.
fn rules_strategy() -> impl Strategy<Value = RuleSet> {
    let scopes = [
        RuleScope::Manifest,
        RuleScope::User,
        RuleScope::Project,
        RuleScope::Session,
    ];
    let rule = (select(RULES.to_vec()), select(vec!["allow", "ask", "deny"]));
    prop::collection::vec((select(scopes.to_vec()), rule), 0..6).prop_map(|all| {
        let mut set = RuleSet::builtin().with_root("/w");
        for (scope, ((permission, pattern), action)) in all {
            let text = format!(
                "[[rule]]\npermission = '{permission}'\npattern = '{pattern}'\naction = '{action}'\n"
            );
            let source = RulesFileSource {
                trusted: true,
                ..RulesFileSource::new("r", scope)
            };
            set.add(rules_file::parse_rules_file(&text, &source).unwrap());
        }
        set
    })
}

/// The manifest of an agent that work is given to.
fn manifest_strategy() -> impl Strategy<Value = (Option<RequirementSet>, RulesFile)> {
    let rule = (select(RULES.to_vec()), select(vec!["allow", "ask", "deny"]));
    let rules = prop::collection::vec(rule, 0..4).prop_map(|all| {
        let rule = |((permission, pattern), action): &((&str, &str), &str)| {
            format!("[[rule]]\npermission = '{permission}'\npattern = '{pattern}'\naction = '{action}'\n")
        };
        let text: String = all.iter().map(rule).collect();
        rules_file::parse_rules_file(&text, &RulesFileSource::new("agent", RuleScope::Manifest)).unwrap()
    });
    (prop::option::of(requirements_strategy()), rules)
}

/// The verdict on a call of a tool whose agent may touch this much.
fn verdict(requires: &RequirementSet, touched: &[ResolvedAccess], rules: &RuleSet) -> Verdict {
    verdict_below(requires, touched, rules, &[])
}

/// The same for the last of several that work was given to, one below the other.
fn verdict_below(
    requires: &RequirementSet,
    touched: &[ResolvedAccess],
    rules: &RuleSet,
    below: &[(Option<RequirementSet>, RulesFile)],
) -> Verdict {
    let mut rules = rules.clone();
    let around = VariableValues {
        workspace: vec!["/w".to_owned()],
        ad_hoc: Vec::new(),
        user_data: None,
    };
    let surface = |requires| Surface::new(requires, "it", &around, Os::Linux).unwrap();
    let mut facts: CallFacts = touched.iter().cloned().collect();
    facts.restrict_to(&surface(requires));
    for (declared, own) in below {
        if let Some(declared) = declared {
            facts.restrict_further(&surface(declared));
        }
        rules.add(own.clone().without_loosening());
    }
    let classified = classify_tool("tool", ToolDeclaration::default());
    let judgement = evaluate(&EvaluationRequest {
        call: &CallId::from("call"),
        tool: "tool",
        tool_class: &classified,
        facts: &facts,
        undo: &UndoAvailability::NotNeeded,
        needs_person: false,
        rules: &rules,
        ask_for_everything: false,
        headless: None,
        alarms: &[],
        dry_run: None,
        dry_run_first: false,
        judges_effects: false,
        skips_asks: false,
        now: 0,
        rules_only: false,
        shown_digest: &|| Digest(String::new()),
    });
    judgement.verdict()
}

proptest! {
    /// `S002-09`: an agent may touch what its manifest and its tools require. A child has some of its parent's tools, under
    /// the same manifest, rules and folders: whatever it may, its parent may.
    #[test]
    fn a_child_never_exceeds_its_parent(
        manifest in requirements_strategy(),
        tools in prop::collection::vec(requirements_strategy(), 1..4),
        picked in prop::collection::vec(any::<bool>(), 4),
        touched in prop::collection::vec(fact_strategy(), 1..4),
        rules in rules_strategy(),
    ) {
        let childs = tools.iter().zip(&picked).filter(|(_, picked)| **picked);
        let child = RequirementSet::union(std::iter::once(&manifest).chain(childs.map(|(tool, _)| tool)));
        let parent = RequirementSet::union(std::iter::once(&manifest).chain(&tools));
        let (below, above) = (verdict(&child, &touched, &rules), verdict(&parent, &touched, &rules));
        prop_assert!(below >= above, "{below:?} below {above:?}");
        let nothing = verdict(&RequirementSet::empty(), &touched, &rules);
        prop_assert_eq!(nothing, Verdict::Deny, "who requires nothing touches nothing");
    }

    /// `S002-104`: whoever work is given to, at any depth and with any manifest, may do no more than whoever gave it: no deny
    /// becomes an ask or an allow, and no ask an allow.
    #[test]
    fn no_depth_loosens_anything(
        tool in requirements_strategy(),
        chain in prop::collection::vec(manifest_strategy(), 1..=5),
        touched in prop::collection::vec(fact_strategy(), 1..4),
        rules in rules_strategy(),
    ) {
        let at = |depth: usize| verdict_below(&tool, &touched, &rules, &chain[..depth]);
        for depth in 1..=chain.len() {
            prop_assert!(at(depth) >= at(depth - 1), "{:?} at {depth}, {:?} above", at(depth), at(depth - 1));
        }
    }
}
