//! The part of an environment that a command or a program inherits: variables known to be harmless, see
//! `variables.toml`, and those that a person passes. The environment is the app's own, or for the commands of an agent
//! that runs in another terminal, that terminal's.
//!
//! Keys of model providers, and any other credentials that the app was started with, are for the app and the person
//! alone: a command that prints its environment would give them to a model, and one with network access to anybody. A
//! list of harmful variables would never be complete, so an unknown variable is withheld, `DATABASE_URL` and
//! `GITHUB_TOKEN` with it: it is given in the command, where it is seen, or by a person who passes that name. The same
//! holds for tool servers, language servers and watchdogs: further variables that one of them needs are in its own
//! settings.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use serde::{Deserialize, Serialize};

/// Endings of names, between underscores. A name may also consist of an ending alone.
const SECRET_NAME_SUFFIXES: [&str; 18] = [
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

/// Variable that makes `cd folder` lead elsewhere. A command is judged by the folders that it names, so that none inherits it.
const FOLDER_SEARCH_PATH: &str = "CDPATH";

/// Variable that stays the app's, whoever's command it is: `~` in a command is judged as the home folder of the app.
const HOME: &str = "HOME";

/// Choice of the variables that are inherited, and the environment that they are of. Cheap to clone: what is set on one
/// clone holds on all of them, for processes started from then on. By default the variables of the app that are known
/// to be harmless.
#[derive(Debug, Clone, Default)]
pub struct InheritedEnv {
    choice: Arc<RwLock<EnvChoice>>,
    /// The environment of the terminal that the commands are from; none for the app's own.
    terminal: Arc<RwLock<Option<Arc<TerminalEnv>>>>,
}

/// Environment of the terminal that an agent of somebody else runs in. Variables that are no text are not in it.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalEnv(BTreeMap<String, String>);

/// Names in upper case, since some systems do not distinguish case.
#[derive(Debug, Default)]
struct EnvChoice {
    withheld: BTreeSet<String>,
    passed: BTreeSet<String>,
}

impl InheritedEnv {
    /// Chooses by name. A passed variable is inherited whatever its name, but for `CDPATH`; a withheld one never is, passed
    /// or not.
    pub fn set_choice<'a>(
        &self,
        withheld: impl IntoIterator<Item = &'a str>,
        passed: impl IntoIterator<Item = &'a str>,
    ) {
        let chosen = EnvChoice {
            withheld: withheld.into_iter().map(str::to_uppercase).collect(),
            passed: passed.into_iter().map(str::to_uppercase).collect(),
        };
        *self.choice.write().unwrap_or_else(PoisonError::into_inner) = chosen;
    }

    /// Returns the same choice of the app's own variables, until the environment of a terminal is set.
    #[must_use]
    pub fn without_terminal(&self) -> Self {
        Self {
            choice: self.choice.clone(),
            terminal: Arc::default(),
        }
    }

    /// Returns the same choice of the environment that is set now, whatever is set later.
    pub(crate) fn fixed(&self) -> Self {
        Self {
            choice: self.choice.clone(),
            terminal: Arc::new(RwLock::new(self.terminal())),
        }
    }

    /// Sets the environment of the terminal that the commands are from.
    pub fn set_terminal(&self, mut terminal: TerminalEnv) {
        terminal.0.remove(HOME);
        terminal
            .0
            .extend(std::env::var(HOME).map(|home| (HOME.to_owned(), home)));
        *self
            .terminal
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(terminal));
    }

    /// Returns every variable that is inherited.
    pub(crate) fn inherited_variables(&self) -> Vec<(OsString, OsString)> {
        let chosen = self.choice.read().unwrap_or_else(PoisonError::into_inner);
        let mut variables = self.variables();
        variables.retain(|(name, value)| chosen.is_inherited(&name.to_string_lossy(), value));
        variables
    }

    /// Returns the value of a variable, whether it is inherited or not.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        match self.terminal() {
            Some(terminal) => terminal.0.get(name).map(OsString::from),
            None => std::env::var_os(name),
        }
    }

    fn variables(&self) -> Vec<(OsString, OsString)> {
        match self.terminal() {
            Some(terminal) => {
                let variables = terminal.0.iter();
                variables
                    .map(|(name, value)| (name.into(), value.into()))
                    .collect()
            }
            None => std::env::vars_os().collect(),
        }
    }

    fn terminal(&self) -> Option<Arc<TerminalEnv>> {
        let terminal = self.terminal.read().unwrap_or_else(PoisonError::into_inner);
        terminal.clone()
    }
}

impl TerminalEnv {
    /// Returns the environment of this process.
    pub fn current() -> Self {
        let variables = std::env::vars_os();
        variables
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    /// Returns the length of all names and values, in bytes.
    pub fn byte_len(&self) -> usize {
        let variables = self.0.iter();
        variables
            .map(|(name, value)| name.len() + value.len())
            .sum()
    }
}

impl FromIterator<(String, String)> for TerminalEnv {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(variables: T) -> Self {
        Self(variables.into_iter().collect())
    }
}

/// Without the values, of which some are secrets.
impl fmt::Debug for TerminalEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl EnvChoice {
    fn is_inherited(&self, name: &str, value: &OsStr) -> bool {
        let name = name.to_uppercase();
        if name == FOLDER_SEARCH_PATH || self.withheld.contains(&name) {
            return false;
        }
        self.passed.contains(&name)
            || HarmlessVariables::load().contains(&name) && !has_password_in_url(value)
    }
}

/// The variables that are known to be harmless, in upper case.
#[derive(Debug, Default)]
struct HarmlessVariables {
    names: BTreeSet<String>,
    families: Vec<String>,
    secrets: Vec<String>,
}

/// The format of `variables.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VariableList {
    secrets: Vec<String>,
    group: Vec<VariableGroup>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VariableGroup {
    #[allow(dead_code, reason = "for whoever reads the file")]
    what: String,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    families: Vec<String>,
}

impl HarmlessVariables {
    /// Loads the variables of `variables.toml`; none at all if it cannot be read.
    fn load() -> &'static Self {
        static LOADED: OnceLock<HarmlessVariables> = OnceLock::new();
        LOADED.get_or_init(|| {
            let list = toml::from_str(include_str!("variables.toml"));
            list.map(Self::from_list).unwrap_or_default()
        })
    }

    fn from_list(list: VariableList) -> Self {
        let mut harmless = Self {
            secrets: list.secrets,
            ..Self::default()
        };
        for group in list.group {
            harmless.names.extend(group.names);
            harmless.families.extend(group.families);
        }
        harmless
    }

    fn contains(&self, name: &str) -> bool {
        let begins = |family: &String| name.starts_with(family.as_str());
        let is_secret = |secret: &String| name.contains(secret.as_str());
        self.names.contains(name)
            || self.families.iter().any(begins) && !self.secrets.iter().any(is_secret)
    }
}

/// Whether a value is, or contains, an address with a password: `https://user:password@host`.
fn has_password_in_url(value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    let mut addresses = value.split("://").skip(1);
    addresses.any(|address| {
        let end = address.find(['/', '?', '#', ' ']).unwrap_or(address.len());
        let user = address[..end].rsplit_once('@').map(|(user, _)| user);
        user.is_some_and(|user| user.contains(':'))
    })
}

/// Whether a variable's name, in upper case, says that it holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    SECRET_NAME_SUFFIXES.iter().any(|secret| {
        let before = name.strip_suffix(secret);
        before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inherits(name: &str) -> bool {
        EnvChoice::default().is_inherited(name, OsStr::new("value"))
    }

    #[test]
    fn the_list_of_harmless_variables_can_be_read() {
        let list: VariableList = toml::from_str(include_str!("variables.toml")).unwrap();
        let all = list
            .group
            .iter()
            .flat_map(|group| group.names.iter().chain(&group.families));
        for name in all {
            assert_eq!(*name, name.to_uppercase());
        }
        assert!(HarmlessVariables::load().names.len() > 200);
    }

    #[test]
    fn only_what_is_known_to_be_harmless_is_inherited() {
        for name in [
            "ANTHROPIC_API_KEY",
            "API_KEY_OPENAI",
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "AZURE_DEVOPS_EXT_PAT",
            "CARGO_REGISTRIES_OURS_TOKEN",
            "CARGO_REGISTRY_CREDENTIAL_PROVIDER",
            "CI_JOB_JWT",
            "COOKIE",
            "CREDS",
            "DATABASE_URL",
            "DB_PASS",
            "DOCKER_AUTH_CONFIG",
            "GITHUB_TOKEN",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "MYSQL_PWD",
            "NPM_CONFIG__AUTH",
            "NPM_CONFIG__AUTHTOKEN",
            "NPM_CONFIG_//PACKAGES.EXAMPLE/:_AUTHTOKEN",
            "OPENAI_API_KEY_2",
            "OPENAI_KEY",
            "PASSWORD1",
            "PGPASSWORD",
            "PIP_KEYRING_PROVIDER",
            "POETRY_HTTP_BASIC_OURS_PASSWORD",
            "PRIVATE_KEY_PEM",
            "SLACK_WEBHOOK",
            "SOMETHING_NOBODY_KNOWS",
            "SSH_KEY",
            "SUPABASE_SERVICE_ROLE_KEY",
            "TOKEN_GITHUB",
            "UV_PUBLISH_TOKEN",
            "YARN_NPM_AUTH_TOKEN",
            "npm_token",
        ] {
            assert!(!inherits(name), "{name}");
        }
        for name in [
            "CARGO_HOME",
            "CARGO_TARGET_DIR",
            "CC",
            "CMAKE_PREFIX_PATH",
            "GIT_AUTHOR_NAME",
            "GOFLAGS",
            "HOME",
            "HTTP_PROXY",
            "JAVA_HOME",
            "KUBECONFIG",
            "LANG",
            "LC_ALL",
            "MAKEFLAGS",
            "NODE_OPTIONS",
            "PATH",
            "PYTHONPATH",
            "RUST_BACKTRACE",
            "SSH_AUTH_SOCK",
            "TOKENIZERS_PARALLELISM",
            "VIRTUAL_ENV",
            "XAUTHORITY",
            "XDG_RUNTIME_DIR",
            "http_proxy",
            "npm_config_cache",
        ] {
            assert!(inherits(name), "{name}");
        }
    }

    #[test]
    fn a_passed_variable_is_inherited_unless_it_leads_cd_elsewhere() {
        let inherited = InheritedEnv::default();
        inherited.set_choice([], ["GITHUB_TOKEN", "CDPATH"]);
        let chosen = inherited.choice.read().unwrap();
        let value = OsStr::new("value");
        assert!(chosen.is_inherited("GITHUB_TOKEN", value));
        assert!(!chosen.is_inherited("CDPATH", value));
    }

    #[test]
    fn a_password_in_an_address_is_withheld_whatever_it_is_called() {
        let chosen = EnvChoice::default();
        for (value, is_inherited) in [
            ("http://proxy.example:3128", true),
            ("http://user@proxy.example", true),
            ("http://user:password@proxy.example:3128/", false),
            ("direct,https://user:p@ss@packages.example", false),
            ("https://packages.example/a:b@c", true),
        ] {
            let inherits = chosen.is_inherited("HTTPS_PROXY", OsStr::new(value));
            assert_eq!(inherits, is_inherited, "{value}");
        }
        let passed = InheritedEnv::default();
        passed.set_choice([], ["https_proxy"]);
        let value = OsStr::new("http://user:password@proxy.example");
        assert!(
            passed
                .choice
                .read()
                .unwrap()
                .is_inherited("HTTPS_PROXY", value)
        );
    }

    #[test]
    fn a_person_passes_and_withholds_names() {
        let inherited = InheritedEnv::default();
        let clone = inherited.clone();
        clone.set_choice(
            ["Cargo_Home", "NPM_TOKEN"],
            ["github_token", "NPM_TOKEN", "Company_Setting"],
        );
        let chosen = inherited.choice.read().unwrap();
        for (name, is_inherited) in [
            ("CARGO_HOME", false),
            ("CARGO_TARGET_DIR", true),
            ("COMPANY_SETTING", true),
            ("COMPANY_LOGIN", false),
            ("GITHUB_TOKEN", true),
            ("GH_TOKEN", false),
            // To withhold is the stronger word.
            ("NPM_TOKEN", false),
            ("PATH", true),
        ] {
            let inherits = chosen.is_inherited(name, OsStr::new("value"));
            assert_eq!(inherits, is_inherited, "{name}");
        }
    }

    #[test]
    fn the_variables_of_a_terminal_are_chosen_as_the_apps_are() {
        let terminal = |variables: &[(&str, &str)]| -> TerminalEnv {
            let variables = variables.iter();
            variables
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        let inherited = InheritedEnv::default().without_terminal();
        inherited.set_choice([], ["COMPANY_SETTING"]);
        inherited.set_terminal(terminal(&[
            ("HOME", "/elsewhere"),
            ("VIRTUAL_ENV", "/venv"),
            ("OPENAI_API_KEY", "held"),
            ("CDPATH", "/elsewhere"),
            ("COMPANY_SETTING", "passed"),
        ]));
        let fixed = inherited.fixed();
        inherited.set_terminal(terminal(&[("VIRTUAL_ENV", "/other")]));

        let app = fixed.without_terminal();
        assert_eq!(app.variable("PATH"), std::env::var_os("PATH"));
        let home = std::env::var_os(HOME).unwrap();
        let expected = [
            (OsString::from("COMPANY_SETTING"), OsString::from("passed")),
            ("HOME".into(), home.clone()),
            ("VIRTUAL_ENV".into(), "/venv".into()),
        ];
        assert_eq!(fixed.inherited_variables(), expected);
        assert_eq!(fixed.variable("OPENAI_API_KEY"), Some("held".into()));
        assert_eq!(fixed.variable("PATH"), None);
        let expected = [
            (OsString::from("HOME"), home),
            ("VIRTUAL_ENV".into(), "/other".into()),
        ];
        assert_eq!(inherited.inherited_variables(), expected);
    }

    #[test]
    fn a_name_says_whether_it_holds_a_secret() {
        for (name, is_secret) in [
            ("ANTHROPIC_API_KEY", true),
            ("TOKEN", true),
            ("NPM_CONFIG__AUTH", true),
            ("GIT_AUTHOR_NAME", false),
            ("KEYTOKEN", false),
            ("COMPAT", false),
        ] {
            assert_eq!(is_secret_name(name), is_secret, "{name}");
        }
    }
}
