//! What a command or a program inherits of the app's own environment: everything but what by its name holds a secret.
//!
//! Keys of model providers, and whatever else the app was started with to show who it is, are the app's and the person's,
//! and nobody else's: what prints its environment would give them to a model, and what has a way to the network to
//! anybody. So what commands find no more are also `GITHUB_TOKEN`, `NPM_TOKEN` and their like: `gh`, `npm publish` or
//! `aws` have to be given theirs in the command, where it is seen, or by a person who passes that name. Not kept back is
//! what only leads to a secret or may hold one among other things, because builds and tests go by it: `SSH_AUTH_SOCK`,
//! `DATABASE_URL`, `HTTP_PROXY`, `KUBECONFIG`. A person may withhold such names too.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::{Arc, PoisonError, RwLock};

/// Endings of names, between underscores. A name may also be nothing but one of them.
const SECRETS: [&str; 18] = [
    "API_KEY",
    "APIKEY",
    "ACCESS_KEY",
    "AUTH",
    "AUTH_KEY",
    "CREDENTIALS",
    "ENCRYPTION_KEY",
    "MASTER_KEY",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PAT",
    "PRIVATE_KEY",
    "SECRET",
    "SECRETS",
    "SECRET_KEY",
    "SECRET_KEY_BASE",
    "TOKEN",
];

/// Which variables of the app are inherited. Cheap to clone: what is chosen on one clone holds on all of them, for what is
/// started from then on. By default what is named like a secret is kept back.
#[derive(Debug, Clone, Default)]
pub struct Inherited(Arc<RwLock<Chosen>>);

/// Names in capitals: some systems do not tell them apart.
#[derive(Debug, Default)]
struct Chosen {
    withheld: BTreeSet<String>,
    passed: BTreeSet<String>,
}

impl Inherited {
    /// Chooses by name. What is passed is inherited whatever it is called; what is withheld never is, passed or not.
    pub fn choose<'a>(
        &self,
        withheld: impl IntoIterator<Item = &'a str>,
        passed: impl IntoIterator<Item = &'a str>,
    ) {
        let chosen = Chosen {
            withheld: withheld.into_iter().map(str::to_uppercase).collect(),
            passed: passed.into_iter().map(str::to_uppercase).collect(),
        };
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = chosen;
    }

    /// Every variable that is inherited.
    pub(crate) fn variables(&self) -> Vec<(OsString, OsString)> {
        let chosen = self.0.read().unwrap_or_else(PoisonError::into_inner);
        std::env::vars_os()
            .filter(|(name, _)| chosen.lets(&name.to_string_lossy()))
            .collect()
    }
}

impl Chosen {
    fn lets(&self, name: &str) -> bool {
        let name = name.to_uppercase();
        !self.withheld.contains(&name) && (self.passed.contains(&name) || !names_a_secret(&name))
    }
}

/// Whether a variable's name, in capitals, says that it holds a secret.
pub fn names_a_secret(name: &str) -> bool {
    SECRETS.iter().any(|secret| {
        let before = name.strip_suffix(secret);
        before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lets(name: &str) -> bool {
        Chosen::default().lets(name)
    }

    #[test]
    fn a_variable_that_names_a_secret_is_kept_back() {
        for name in [
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "GEMINI_API_KEY",
            "OPENROUTER_API_KEY",
            "GITHUB_TOKEN",
            "npm_token",
            "TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "SECRET_KEY_BASE",
            "PGPASSWORD_PASSWORD",
            "NPM_CONFIG__AUTH",
            "AZURE_DEVOPS_EXT_PAT",
        ] {
            assert!(!lets(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "LANG",
            "SSH_AUTH_SOCK",
            "DATABASE_URL",
            "KUBECONFIG",
            "HTTP_PROXY",
            "XAUTHORITY",
            "TOKENIZERS_PARALLELISM",
            "GIT_AUTHOR_NAME",
            "SECRETARY",
            "KEYTOKEN",
            "COMPAT",
        ] {
            assert!(lets(name), "{name}");
        }
    }

    #[test]
    fn a_person_passes_and_withholds_names() {
        let inherited = Inherited::default();
        let clone = inherited.clone();
        clone.choose(
            ["Company_Login", "NPM_TOKEN"],
            ["github_token", "NPM_TOKEN"],
        );
        let chosen = inherited.0.read().unwrap();
        for (name, is_inherited) in [
            ("COMPANY_LOGIN", false),
            ("COMPANY_LOGIN_URL", true),
            ("GITHUB_TOKEN", true),
            ("GH_TOKEN", false),
            // To withhold is the stronger word.
            ("NPM_TOKEN", false),
            ("PATH", true),
        ] {
            assert_eq!(chosen.lets(name), is_inherited, "{name}");
        }
    }
}
