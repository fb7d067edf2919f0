//! What a change of a repository's settings, `.git/config`, means: whether any of them could run a program.

use gix_config::File;
use gix_config::file::Metadata;
use gix_config::file::init::Options;
use protocol::rule::evidence::GitSettingsChange;

/// Settings that neither run a program nor say where one is found, by section.
const INERT_KEYS: &[(&str, &[&str])] = &[
    (
        "branch",
        &["remote", "pushremote", "merge", "rebase", "description"],
    ),
    (
        "remote",
        &["url", "pushurl", "fetch", "push", "prune", "tagopt"],
    ),
    ("user", &["name", "email"]),
    ("init", &["defaultbranch"]),
    ("pull", &["rebase", "ff"]),
    ("push", &["default", "autosetupremote"]),
    ("fetch", &["prune"]),
    ("merge", &["ff", "conflictstyle"]),
    ("rebase", &["autostash", "autosquash"]),
    (
        "core",
        &["autocrlf", "eol", "ignorecase", "filemode", "quotepath"],
    ),
];

/// Compares the settings before and after a command; none if one that changed could run a program, or if they cannot be
/// read.
pub(super) fn compare_settings(before: &[u8], after: &[u8]) -> Option<GitSettingsChange> {
    let (old, new) = (Settings::parse(before)?, Settings::parse(after)?);
    if has_new_escape(before, after) || old.select_active() != new.select_active() {
        return None;
    }
    let changed = new.find_changed_names(&old);
    let are_branches = changed.iter().all(|name| name.starts_with("branch."));
    Some(match are_branches && new.follows_remotes_of(&old) {
        true => GitSettingsChange::Branches,
        false => GitSettingsChange::Other(changed),
    })
}

/// Whether a line that is new has a backslash. None of the settings compared here needs one, and what a backslash means
/// is where two readers could differ.
fn has_new_escape(before: &[u8], after: &[u8]) -> bool {
    let lines = |text| <[u8]>::split(text, |byte| *byte == b'\n');
    lines(after)
        .filter(|line| line.contains(&b'\\'))
        .any(|line| !lines(before).any(|old| old == line))
}

/// One setting, `section.subsection.key` with its value. Section and key are in lower case: git reads them in any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    pub section: String,
    pub subsection: Option<String>,
    pub key: String,
    pub value: String,
}

impl Setting {
    fn name(&self) -> String {
        match &self.subsection {
            Some(subsection) => format!("{}.{subsection}.{}", self.section, self.key),
            None => format!("{}.{}", self.section, self.key),
        }
    }

    fn is_inert(&self) -> bool {
        let mut sections = INERT_KEYS.iter();
        sections.any(|(section, keys)| *section == self.section && keys.contains(&&*self.key))
    }

    fn is_remote_of_branch(&self) -> bool {
        self.section == "branch" && matches!(&*self.key, "remote" | "pushremote")
    }
}

/// The settings of one file, in its order.
pub(super) struct Settings(pub Vec<Setting>);

impl Settings {
    /// Reads settings; none if they are not well-formed.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let meta = Metadata::default();
        let file = File::from_bytes_no_includes(text.as_bytes(), meta, Options::default()).ok()?;
        Some(Self::from_file(&file))
    }

    /// Lists the settings of files that are read already.
    pub fn from_file(file: &File) -> Self {
        let sections = file.sections().flat_map(|section| {
            let header = section.header();
            let subsection = header.subsection_name().map(ToString::to_string);
            let name = header.name().to_string().to_ascii_lowercase();
            section.body().into_iter().map(move |(key, value)| Setting {
                section: name.clone(),
                subsection: subsection.clone(),
                key: key.to_ascii_lowercase(),
                value: value.to_string(),
            })
        });
        Self(sections.collect())
    }

    /// Returns the settings that may run a program.
    fn select_active(&self) -> Vec<&Setting> {
        self.0.iter().filter(|it| !it.is_inert()).collect()
    }

    /// Returns the names whose values differ from those before, each once.
    fn find_changed_names(&self, before: &Self) -> Vec<String> {
        let mut names: Vec<String> = self.0.iter().chain(&before.0).map(Setting::name).collect();
        names.sort();
        names.dedup();
        names.retain(|name| self.find_values(name) != before.find_values(name));
        names
    }

    fn find_values(&self, name: &str) -> Vec<&str> {
        let settings = self.0.iter().filter(|it| it.name() == name);
        settings.map(|it| &*it.value).collect()
    }

    /// Whether each branch follows this repository, a remote that is known before, or what some branch followed before.
    fn follows_remotes_of(&self, before: &Self) -> bool {
        let is_known = |remote: &str| {
            remote == "."
                || before.0.iter().any(|it| match it.is_remote_of_branch() {
                    true => it.value == remote,
                    false => it.section == "remote" && it.subsection.as_deref() == Some(remote),
                })
        };
        let mut followed = self.0.iter().filter(|it| it.is_remote_of_branch());
        followed.all(|it| is_known(&it.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "[core]\n\tbare = false\n\tsshCommand = ssh -v\n[remote \"origin\"]\n\turl = https://git.example/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[branch \"old\"]\n\tremote = origin\n\tmerge = refs/heads/old\n";

    fn compare(edit: impl Fn(&str) -> String) -> Option<GitSettingsChange> {
        let after = edit(BEFORE);
        assert_ne!(after, BEFORE, "the edit changes the settings");
        compare_settings(BEFORE.as_bytes(), after.as_bytes())
    }

    fn adding(text: &str) -> Option<GitSettingsChange> {
        compare(|before| format!("{before}{text}"))
    }

    #[test]
    fn branches_come_go_and_are_renamed() {
        let removed = "[branch \"old\"]\n\tremote = origin\n\tmerge = refs/heads/old\n";
        assert_eq!(
            compare(|before| before.replace(removed, "")),
            Some(GitSettingsChange::Branches)
        );
        assert_eq!(
            compare(|before| before.replace("\"old\"", "\"new\"")),
            Some(GitSettingsChange::Branches)
        );
        for followed in [
            "[branch \"new\"]\n\tremote = origin\n\tmerge = refs/heads/new\n",
            "[branch \"new\"]\n\tremote = .\n\tmerge = refs/heads/main\n\trebase = true\n",
            "# nothing\n",
        ] {
            assert_eq!(
                adding(followed),
                Some(GitSettingsChange::Branches),
                "{followed}"
            );
        }
    }

    #[test]
    fn other_settings_that_run_no_program_are_named() {
        for (added, name) in [
            (
                "[branch \"new\"]\n\tremote = https://other.example/a.git\n",
                "branch.new.remote",
            ),
            (
                "[remote \"fork\"]\n\turl = https://other.example/a.git\n",
                "remote.fork.url",
            ),
            (
                "[remote \"origin\"]\n\tpushurl = https://other.example/a.git\n",
                "remote.origin.pushurl",
            ),
            ("[USER]\n\tEmail = a@b.example\n", "user.email"),
        ] {
            let names = vec![name.to_owned()];
            assert_eq!(
                adding(added),
                Some(GitSettingsChange::Other(names)),
                "{added}"
            );
        }
        // A branch that follows a remote of the same change.
        let both = adding(
            "[remote \"fork\"]\n\turl = https://other.example/a.git\n[branch \"x\"]\n\tremote = fork\n",
        );
        assert!(matches!(both, Some(GitSettingsChange::Other(_))));
    }

    #[test]
    fn a_setting_that_may_run_a_program_is_none_of_these() {
        for added in [
            "[core]\n\thooksPath = /tmp/hooks\n",
            "[core]\n\tfsmonitor = ./run\n",
            "[alias]\n\tst = !./run\n",
            "[include]\n\tpath = ../more\n",
            "[includeIf \"gitdir:/\"]\n\tpath = ../more\n",
            "[remote \"origin\"]\n\tuploadpack = ./run\n",
            "[remote \"origin\"]\n\tvcs = run\n",
            "[branch \"main\"]\n\tmergeoptions = -s run\n",
            "[url \"https://other.example/\"]\n\tinsteadOf = https://git.example/\n",
            "[filter \"x\"]\n\tclean = ./run\n",
            "[credential]\n\thelper = ./run\n",
            "[core.sub]\n\thooksPath = x\n",
            "[user]\n\tname = a\\\n[core]\n\thooksPath = x\n",
            "[user]\n\tname = a\\tb\n",
            "[broken\n",
        ] {
            assert_eq!(adding(added), None, "{added}");
        }
        assert_eq!(compare(|before| before.replace("ssh -v", "./run")), None);
        assert_eq!(
            compare(|before| before.replace("\tsshCommand = ssh -v\n", "")),
            None
        );
        assert_eq!(compare_settings(BEFORE.as_bytes(), b"\xff"), None);
    }
}
