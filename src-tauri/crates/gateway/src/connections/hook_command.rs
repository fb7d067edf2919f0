//! The command of a hook: written for the shell that the agent runs it with, and recognized again.

use std::path::{Path, PathBuf};

/// Ends with 2, which denies, and says why: Codex and Gemini CLI take a silent 2 for a failure, and run on. A program of
/// its own, because shells differ in how they group commands.
const DENY: &str = r#"sh -c 'echo "Denied: Countersign gave no answer." >&2; exit 2'"#;

/// Returns the text of a command of `agents.toml` for a program and an agent; `None` if the program's path cannot stand
/// in a command.
pub(super) fn format_hook_command(template: &str, program: &Path, agent: &str) -> Option<String> {
    fill_template(template, &[program.to_str()?, "hook", agent])
}

/// Returns the text of a command of `agents.toml` with the words of the hook; `None` if they cannot stand in a command.
pub(super) fn fill_template(template: &str, hook: &[&str]) -> Option<String> {
    let hook = shlex::try_join(hook.iter().copied()).ok()?;
    Some(template.replace("DENY", DENY).replace("HOOK", &hook))
}

/// Returns the program of a command that is the hook of an agent, by whatever path the program is called; `None` for any
/// other command.
pub(super) fn parse_hook_command(command: &str, agent: &str) -> Option<PathBuf> {
    let (hook, _) = command.split_once(" || ").unwrap_or((command, ""));
    let words = shlex::split(hook)?;
    let [program, verb, name] = words.as_slice() else {
        return None;
    };
    let program = PathBuf::from(program);
    let is_ours = program
        .file_stem()
        .is_some_and(|stem| stem == "countersign");
    (is_ours && verb == "hook" && name == agent).then_some(program)
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
            let program = Path::new(program);
            let command = format_hook_command("HOOK || DENY", program, "codex").unwrap();
            assert_eq!(command, format!("{quoted} hook codex || {DENY}"));
            assert_eq!(parse_hook_command(&command, "codex").unwrap(), program);
            assert_eq!(parse_hook_command(&command, "cursor"), None);
        }
        for other in [
            "",
            "countersign",
            "/usr/bin/countersign hook",
            "/usr/bin/other hook codex",
            "/usr/bin/countersign run codex",
            "/usr/bin/countersign hook codex --more",
            "'/usr/bin/countersign hook codex",
        ] {
            assert_eq!(parse_hook_command(other, "codex"), None, "{other}");
        }
    }
}
