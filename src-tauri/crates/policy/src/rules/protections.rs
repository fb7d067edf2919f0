//! Built-in protections from the first start: places that run code later, secrets, and Countersign's own files.
//!
//! A protection stands beside the rules (M14 does not order it): it makes the verdict stricter, whatever they say. A
//! rule of the person's overrides one that may be overridden, but only by naming the very place: `.env.local`, not
//! `**`.

use std::sync::{Arc, OnceLock};

use globset::escape;
use protocol::rule::verdict::RuleTrace;
use protocol::{Capability, ResolvedAccess, Rule, RuleAction, RuleScope, Verdict};

use crate::path::Os;
use crate::patterns::{PathPattern, PathPatternSet};
use crate::rules::{
    CompiledRule, Subject, SubjectKind, covers_fact, covers_named_path, matches_named_path,
    path_forms,
};

/// Places of code that runs by itself later on, and that no agent has to change.
const AUTORUN_PATHS: &[&str] = &[
    ".git/hooks/**",
    ".git/config",
    ".git/config.worktree",
    ".git/modules/**/hooks/**",
    ".git/modules/**/config",
    ".ssh/**",
];
/// The rest of a repository's own records.
const GIT_INTERNALS: &[&str] = &[".git/**"];
/// Files that shells and sessions read when they start.
const STARTUP_FILES: &[&str] = &[
    ".{bash_profile,bash_login,bash_logout,bashrc,bash_aliases,profile,inputrc}",
    ".{zshrc,zshenv,zprofile,zlogin,zlogout}",
    ".{cshrc,tcshrc,login,kshrc,envrc}",
    ".{xprofile,xinitrc,xsession,xsessionrc,pam_environment}",
    ".config/fish/**",
    ".config/{autostart,systemd,environment.d}/**",
    ".{gitconfig,config/git/config}",
    "Library/{LaunchAgents,LaunchDaemons}/**",
    "{PowerShell,WindowsPowerShell}/*profile.ps1",
    "Start Menu/Programs/Startup/**",
];
/// Files that editors, tools and agents read, and whose content they run or obey.
const TOOL_CONFIG_FILES: &[&str] = &[
    ".gitmodules",
    ".ripgreprc",
    ".mcp.json",
    ".{vscode,idea}/**",
    ".claude/{commands,agents,hooks}/**",
    ".claude/settings*.json",
];
/// Secrets of their owner.
const SECRET_PATHS: &[&str] = &[
    ".env",
    ".env.*",
    ".envrc",
    "*.{pem,key,p12,pfx,jks,keystore,kdbx,ppk}",
    "id_{rsa,dsa,ecdsa,ed25519,ecdsa_sk,ed25519_sk}",
    ".{ssh,aws,azure,gnupg,kube,password-store}/**",
    ".config/{gcloud,gh,op}/**",
    ".docker/config.json",
    ".{netrc,pgpass,npmrc,pypirc,git-credentials,vault-token,htpasswd}",
    ".{yarnrc.yml,my.cnf,s3cfg,boto,dockercfg,databrickscfg,authinfo,vault_pass,aider.conf.yml}",
    "{secret,secrets,.secret,.secrets,credentials}/*.{json,yml,yaml,toml,ini,txt,env,conf,xml}",
    "{secret,secrets,credentials}.{json,yml,yaml,toml,ini,txt}",
    "{service-account,service_account,serviceaccount,serviceAccount,client_secret}*.json",
    "{application_default_credentials,firebase-adminsdk,google-credentials,gcp-credentials,gcp-key}*.json",
    "*.{tfstate,tfvars,p8,agekey,kubeconfig,ovpn}",
    "*.{tfstate.backup,tfvars.json}",
    "{kubeconfig,wp-config.php,vault_pass,vault_pass.txt,.vault_pass.txt}",
    "{auth.json,local.properties,keystore.properties,signing.properties}",
];
/// Samples of a file of secrets hold none.
const SECRET_SAMPLES: [&str; 6] = [
    ".example",
    ".sample",
    ".template",
    ".dist",
    ".defaults",
    ".schema",
];
/// The bundle of public certificates that pip, certifi, and curl bring along.
const PUBLIC_CERTIFICATES: &str = "cacert.pem";
/// Countersign's own.
const OWN_PATHS: &[&str] = &[".countersign/**"];

/// The system by whose spelling paths are compared: where case does not count on some system it does not count here,
/// for nobody means another file by `.ENV`.
const SPELLING_OS: Os = Os::Macos;

/// All protections.
#[derive(Debug, Clone, Default)]
pub struct Protections {
    all: Arc<Vec<Protection>>,
    /// The patterns of all protections, compiled on first use by any clone; none if they cannot be looked for at once.
    patterns: Arc<OnceLock<Option<PathPatternSet>>>,
}

#[derive(Debug, Clone)]
struct Protection {
    capabilities: &'static [Capability],
    rule: Rule,
    path: PathPattern,
    /// Whether no rule overrides the protection.
    is_final: bool,
    /// Whether the protection does not hold for samples and public certificates.
    exempts_public: bool,
    /// Whether the protection does not hold for the effects of a dry run, where a program of its own keeps these paths,
    /// unless the command line itself removes the folder.
    exempts_effects: bool,
}

/// Paths that are protected alike, for one reason.
struct ProtectedPaths<'a> {
    patterns: &'a [&'a str],
    /// The kinds of access that the protection restricts.
    capabilities: &'static [Capability],
    action: RuleAction,
    /// Whether no rule overrides the protection.
    is_final: bool,
    reason: &'a str,
}

const CHANGE_CAPABILITIES: &[Capability] = &[Capability::FsWrite, Capability::FsDelete];
const ACCESS_CAPABILITIES: &[Capability] = &[
    Capability::FsRead,
    Capability::FsWrite,
    Capability::FsDelete,
];

impl Protections {
    /// Returns the protections that hold from the first start.
    pub fn standard() -> Self {
        static STANDARD: OnceLock<Protections> = OnceLock::new();
        STANDARD.get_or_init(Self::build_standard).clone()
    }

    fn build_standard() -> Self {
        let mut all = Self::default();
        all.add(&ProtectedPaths {
            patterns: OWN_PATHS,
            capabilities: CHANGE_CAPABILITIES,
            action: RuleAction::Deny,
            is_final: true,
            reason: OWN_REASON,
        });
        all.add(&ProtectedPaths {
            patterns: AUTORUN_PATHS,
            capabilities: CHANGE_CAPABILITIES,
            action: RuleAction::Deny,
            is_final: true,
            reason: "What lies there runs by itself later on; an agent must not change it.",
        });
        all.add(&ProtectedPaths {
            patterns: STARTUP_FILES,
            capabilities: CHANGE_CAPABILITIES,
            action: RuleAction::Deny,
            is_final: false,
            reason: "Shells and sessions run it when they start.",
        });
        all.add(&ProtectedPaths {
            patterns: GIT_INTERNALS,
            capabilities: CHANGE_CAPABILITIES,
            action: RuleAction::Deny,
            is_final: false,
            reason: "Git keeps its own records there; it is changed with git.",
        });
        all.add(&ProtectedPaths {
            patterns: TOOL_CONFIG_FILES,
            capabilities: CHANGE_CAPABILITIES,
            action: RuleAction::Ask,
            is_final: false,
            reason: "Editors, tools and agents do what it says.",
        });
        all.add(&ProtectedPaths {
            patterns: SECRET_PATHS,
            capabilities: ACCESS_CAPABILITIES,
            action: RuleAction::Ask,
            is_final: false,
            reason: "Secrets are often kept there.",
        });
        all
    }

    /// The protections as rules, for display.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.all.iter().map(|protection| &protection.rule)
    }

    /// Protects a folder of the app's own, by its path from the root of the workspace on; the whole workspace if that is
    /// empty.
    pub fn protect_folder(&mut self, folder: &str) {
        let everything = match folder {
            "" => "**".to_owned(),
            _ => format!("{}/**", literal_pattern(folder)),
        };
        self.add(&ProtectedPaths {
            patterns: &[everything.as_str()],
            capabilities: CHANGE_CAPABILITIES,
            action: RuleAction::Deny,
            is_final: true,
            reason: OWN_REASON,
        });
    }

    fn add(&mut self, protected: &ProtectedPaths<'_>) {
        for pattern in protected.patterns {
            let Ok(path) = PathPattern::new(pattern, SPELLING_OS) else {
                continue;
            };
            path.compile();
            self.patterns = Arc::default();
            Arc::make_mut(&mut self.all).push(Protection {
                capabilities: protected.capabilities,
                path,
                is_final: protected.is_final,
                exempts_public: protected.action == RuleAction::Ask,
                exempts_effects: GIT_INTERNALS.contains(pattern),
                rule: Rule {
                    permission: match protected.capabilities.len() {
                        2 => "fs.write",
                        _ => "fs.read",
                    }
                    .to_owned(),
                    pattern: Some((*pattern).to_owned()),
                    action: protected.action,
                    reason: Some(protected.reason.to_owned()),
                    scope: RuleScope::Builtin,
                    file: None,
                    line: None,
                    expires_ms: None,
                    max_uses: None,
                    grant: None,
                },
            });
        }
    }

    /// Patterns for which protections may make the reading of a file stricter.
    pub(crate) fn read_patterns(&self) -> impl Iterator<Item = &PathPattern> {
        let reading = |one: &&Protection| one.capabilities.contains(&Capability::FsRead);
        self.all.iter().filter(reading).map(|one| &one.path)
    }

    /// Whether a path of the workspace is protected from reading, because secrets are often kept there.
    pub fn is_secret(&self, path: &str) -> bool {
        let fact = ResolvedAccess::new_inside(Capability::FsRead, path);
        self.strictest_action(&fact).is_some()
    }

    /// Returns the strictest action of the protections for a path, whatever the rules are.
    pub(crate) fn strictest_action(&self, fact: &ResolvedAccess) -> Option<RuleAction> {
        if !self.may_cover(fact, None) {
            return None;
        }
        self.all
            .iter()
            .filter(|protection| {
                protection.capabilities.contains(&fact.capability)
                    && !(protection.exempts_public && is_public(fact))
                    && covers_fact(&protection.path, fact, None)
            })
            .map(|protection| protection.rule.action)
            .max_by_key(|action| Verdict::from(*action))
    }

    /// Whether a protection could cover a path: a quick look, which rules out most of them.
    fn may_cover(&self, fact: &ResolvedAccess, root: Option<&str>) -> bool {
        // What a wildcard stands for is compared with each pattern.
        if fact.derived && fact.doubt.is_some() {
            return true;
        }
        let patterns = self.patterns.get_or_init(|| {
            let all: Vec<&PathPattern> = self.all.iter().map(|one| &one.path).collect();
            PathPatternSet::from_patterns(SPELLING_OS, &all)
        });
        let removes = fact.capability == Capability::FsDelete;
        patterns.as_ref().is_none_or(|patterns| {
            matches_named_path(fact, root, |forms| patterns.may_cover(forms))
                || removes && patterns.may_cover_in_removed(&path_forms(fact, root))
        })
    }

    /// Returns the strictest protection that is stricter than `current`, with its verdict. `speaks` is the rule that
    /// decided: where it names the place itself, it overrides protections that may be overridden.
    ///
    /// Where a command runs in the sandbox first, only the paths that it names to be changed count: the sandbox masks what
    /// must not be read, and the effects name the very files that a wildcard or a folder stood for.
    pub(crate) fn tighten_verdict(
        &self,
        subject: &Subject<'_>,
        root: Option<&str>,
        current: Verdict,
        speaks: Option<&CompiledRule>,
    ) -> Option<(Verdict, RuleTrace)> {
        let (fact, is_effect) = match subject.seen {
            SubjectKind::Path(fact) => (fact, false),
            SubjectKind::Effect(fact) => (fact, true),
            SubjectKind::WholeCall { .. }
            | SubjectKind::Command { .. }
            | SubjectKind::Host(_)
            | SubjectKind::Response(_) => {
                return None;
            }
        };
        let waits = subject.is_sandboxed && fact.derived && !is_effect;
        if waits && fact.inside && fact.capability == Capability::FsRead {
            return None;
        }
        if !self.may_cover(fact, root) {
            return None;
        }
        let covers = match waits {
            true => covers_named_path,
            false => covers_fact,
        };
        let holds = |protection: &&Protection| {
            protection.capabilities.contains(&fact.capability)
                && Verdict::from(protection.rule.action) > current
                && !(protection.exempts_effects && is_effect && !subject.is_named_removal)
                && !(protection.exempts_public && is_public(fact))
                && covers(&protection.path, fact, root)
        };
        let overridden = |protection: &Protection| {
            !protection.is_final
                && speaks.is_some_and(|rule| rule.trusted && rule.names_protected(&protection.path))
        };
        let stands = self
            .all
            .iter()
            .filter(holds)
            .filter(|protection| !overridden(protection))
            .max_by_key(|protection| {
                (Verdict::from(protection.rule.action), protection.is_final)
            })?;
        let why = match stands.is_final {
            true => "built in, and final",
            false => "built in; a rule that names this very place overrides it",
        };
        Some((
            Verdict::from(stands.rule.action),
            RuleTrace {
                rule: stands.rule.clone(),
                won: true,
                why: why.to_owned(),
            },
        ))
    }
}

const OWN_REASON: &str = "Countersign's own rules and tools are changed by people only.";

/// Returns the pattern of exactly one path, whatever is in its name.
fn literal_pattern(path: &str) -> String {
    let escaped = escape(&path.replace('\\', r"\\"));
    // At the beginning of a pattern these stand for a home folder.
    match escaped.chars().next() {
        Some(first @ ('~' | '$')) => format!("[{first}]{}", &escaped[1..]),
        Some(_) | None => escaped,
    }
}

/// Whether a file holds no secret although its name is like those that do.
fn is_public(fact: &ResolvedAccess) -> bool {
    let name = fact.real.rsplit('/').next().unwrap_or_default();
    name == PUBLIC_CERTIFICATES || SECRET_SAMPLES.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAMES: [&str; 14] = [
        "src",
        ".git",
        "config",
        "hooks",
        ".ENV",
        ".e\u{200c}nv",
        "x.pem",
        ".ssh",
        "Secrets",
        "a.json",
        "..",
        "my\\.env",
        "",
        "~",
    ];

    proptest! {
        /// The quick look leaves the protections unchanged.
        #[test]
        fn no_protected_path_is_missed(
            real in proptest::collection::vec(0..NAMES.len(), 0..4),
            target in proptest::collection::vec(0..NAMES.len(), 0..4),
            inside: bool,
            removes: bool,
        ) {
            let path = |names: &[usize]| {
                let names: Vec<&str> = names.iter().map(|at| NAMES[*at]).collect();
                names.join("/")
            };
            let protections = Protections::standard();
            let capability = [Capability::FsWrite, Capability::FsDelete][usize::from(removes)];
            let fact = ResolvedAccess {
                target: path(&target),
                inside,
                ..ResolvedAccess::new_inside(capability, path(&real))
            };
            let root = Some("/home/me/.ssh/project");
            let covered = protections.all.iter().any(|one| covers_fact(&one.path, &fact, root));
            prop_assert!(!covered || protections.may_cover(&fact, root), "{:?}", fact);
        }
    }

    #[test]
    fn samples_and_public_certificates_are_no_secrets() {
        let protections = Protections::standard();
        for (path, expected) in [
            (".env", true),
            (".env.example", false),
            ("auth.json", true),
            ("app/local.properties", true),
            ("gradle.properties", false),
            ("certs/server.pem", true),
            ("certs/my-cacert.pem", true),
            (".venv/lib/site-packages/certifi/cacert.pem", false),
        ] {
            assert_eq!(protections.is_secret(path), expected, "{path}");
        }
    }

    #[test]
    fn a_folder_is_protected_whatever_it_is_called() {
        for folder in [
            "data",
            "my data",
            "a/[data]",
            "da{t,c}a",
            "da*a?",
            "[!d]ata",
            "da\\ta",
            "~/data",
            "$HOME/data",
            "{workspace}/data",
        ] {
            let mut protections = Protections::default();
            protections.protect_folder(folder);
            let action = |capability, path: &str| {
                protections.strictest_action(&ResolvedAccess::new_inside(capability, path))
            };
            for capability in [Capability::FsWrite, Capability::FsDelete] {
                for path in [
                    format!("{folder}/rules.toml"),
                    format!("{folder}/grants/grt_1.json"),
                    folder.to_owned(),
                ] {
                    let denied = Some(RuleAction::Deny);
                    assert_eq!(action(capability, &path), denied, "{folder}: {path}");
                }
            }
            assert_eq!(action(Capability::FsWrite, "other/file"), None, "{folder}");
        }
    }
}
