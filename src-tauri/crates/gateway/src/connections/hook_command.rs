//! The command of a hook: written for the shell that the agent runs it with, and recognized again.

use std::path::PathBuf;

const DATA_DIR_OPTION: &str = "--data-dir";

/// Ends with 2, which denies, and says why: Codex and Gemini CLI take a silent 2 for a failure, and run on. A program of
/// its own, because shells differ in how they group commands.
const DENY: &str = r#"sh -c 'echo "Denied: Countersign gave no answer." >&2; exit 2'"#;

/// The program that a hook calls, and the data folder that the hook names to it: the settings of a project may set
/// variables for the agent, and no variable may lead the hook to other rules.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HookTarget {
    /// The program, absolute.
    pub(super) program: PathBuf,
    /// The data folder, absolute; `None` in a hook that names none.
    pub(super) data_dir: Option<PathBuf>,
}

impl HookTarget {
    /// Returns the words that call the hook of an agent; `None` if a path is no text.
    pub(super) fn words<'a>(&'a self, agent: &'a str) -> Option<Vec<&'a str>> {
        let mut words = vec![self.program.to_str()?];
        if let Some(data_dir) = &self.data_dir {
            words.extend([DATA_DIR_OPTION, data_dir.to_str()?]);
        }
        words.extend(["hook", agent]);
        Some(words)
    }

    /// Returns the target of these words; `None` if they do not call the hook of the agent.
    pub(super) fn from_words(words: &[String], agent: &str) -> Option<Self> {
        let (program, data_dir, verb, name) = match words {
            [program, verb, name] => (program, None, verb, name),
            [program, option, data_dir, verb, name] if option == DATA_DIR_OPTION => {
                (program, Some(PathBuf::from(data_dir)), verb, name)
            }
            _ => return None,
        };
        let program = PathBuf::from(program);
        let is_ours = program
            .file_stem()
            .is_some_and(|stem| stem == "countersign");
        (is_ours && verb == "hook" && name == agent).then_some(Self { program, data_dir })
    }
}

/// Returns the text of a command of `agents.toml` for a program and an agent; `None` if the program's path cannot stand
/// in a command.
pub(super) fn format_hook_command(
    template: &str,
    target: &HookTarget,
    agent: &str,
) -> Option<String> {
    fill_template(template, &target.words(agent)?)
}

/// Returns the text of a command of `agents.toml` with the words of the hook; `None` if they cannot stand in a command.
pub(super) fn fill_template(template: &str, hook: &[&str]) -> Option<String> {
    let hook = shlex::try_join(hook.iter().copied()).ok()?;
    Some(template.replace("DENY", DENY).replace("HOOK", &hook))
}

/// Returns the target of a command that is the hook of an agent, by whatever path the program is called; `None` for any
/// other command.
pub(super) fn parse_hook_command(command: &str, agent: &str) -> Option<HookTarget> {
    let (hook, _) = command.split_once(" || ").unwrap_or((command, ""));
    HookTarget::from_words(&shlex::split(hook)?, agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_recognized_by_its_words() {
        for (program, quoted) in [
            ("/usr/bin/countersign", "/usr/bin/countersign"),
            ("/opt/my apps/countersign", "'/opt/my apps/countersign'"),
            ("/opt/DENY/countersign", "/opt/DENY/countersign"),
            ("/opt/it's/countersign", "\"/opt/it's/countersign\""),
        ] {
            for (data_dir, option) in [(None, ""), (Some("/d"), " --data-dir /d")] {
                let target = HookTarget {
                    program: program.into(),
                    data_dir: data_dir.map(PathBuf::from),
                };
                let command = format_hook_command("HOOK || DENY", &target, "codex").unwrap();
                assert_eq!(command, format!("{quoted}{option} hook codex || {DENY}"));
                assert_eq!(parse_hook_command(&command, "codex").unwrap(), target);
                assert_eq!(parse_hook_command(&command, "cursor"), None);
            }
        }
        for other in [
            "",
            "countersign",
            "/usr/bin/countersign hook",
            "/usr/bin/other hook codex",
            "/usr/bin/countersign run codex",
            "/usr/bin/countersign hook codex --more",
            "/usr/bin/countersign --rules /r hook codex",
            "'/usr/bin/countersign hook codex",
        ] {
            assert_eq!(parse_hook_command(other, "codex"), None, "{other}");
        }
    }
}
