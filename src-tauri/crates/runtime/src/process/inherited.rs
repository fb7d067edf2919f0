//! What a command inherits of the app's own environment: everything but what by its name holds a secret.
//!
//! Keys of model providers, and whatever else the app was started with to show who it is, are the app's and the person's,
//! and no command's: one that prints its environment would give them to a model, and one with a way to the network to
//! anybody. So what commands find no more are also `GITHUB_TOKEN`, `NPM_TOKEN` and their like: `gh`, `npm publish` or
//! `aws` have to be given theirs in the command, where it is seen. Not kept back is what only leads to a secret or may
//! hold one among other things, because builds and tests go by it: `SSH_AUTH_SOCK`, `DATABASE_URL`, `HTTP_PROXY`,
//! `KUBECONFIG`.

use std::ffi::OsString;

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

/// Every variable of the app that a command inherits.
pub(crate) fn inherited() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| !is_secret(&name.to_string_lossy()))
}

/// Whether a variable's name says that it holds a secret.
pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRETS.iter().any(|secret| {
        let before = name.strip_suffix(secret);
        before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert!(is_secret(name), "{name}");
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
            assert!(!is_secret(name), "{name}");
        }
    }
}
