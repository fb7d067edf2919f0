//! Settings that stand in blocks: each line with the keys that lead to it, `auth.enabled: false`, as indentation tells.

/// Endings of files whose blocks are told by indentation, or by the heads of sections.
const NESTED_ENDINGS: &[&str] = &[
    ".yml", ".yaml", ".json", ".jsonc", ".toml", ".ini", ".cfg", ".conf", ".tf", ".tofu", ".hcl",
];

/// Whether settings of a file may stand in blocks.
pub(super) fn may_nest(path: &str) -> bool {
    NESTED_ENDINGS.iter().any(|ending| path.ends_with(ending))
}

/// Returns the lines of a file, each with the keys of the blocks that it stands in before its own.
pub(super) fn flatten_lines(text: &str) -> String {
    let mut flat = String::with_capacity(text.len() * 2);
    let mut section = String::new();
    let mut blocks: Vec<(usize, &str)> = Vec::new();
    for line in text.lines() {
        let content = line.trim_start();
        let content = content.strip_prefix("- ").unwrap_or(content);
        let indentation = line.len() - content.len();
        let content = content.trim_end();
        if let Some(head) = section_head(content) {
            section = head.to_owned();
            blocks.clear();
            continue;
        }
        let Some((key, rest)) = split_key(content) else {
            continue;
        };
        while blocks.last().is_some_and(|(at, _)| *at >= indentation) {
            blocks.pop();
        }
        for block in [section.as_str()]
            .into_iter()
            .chain(blocks.iter().map(|(_, key)| *key))
        {
            if !block.is_empty() {
                flat.push_str(block);
                flat.push('.');
            }
        }
        flat.push_str(key);
        flat.push_str(rest);
        flat.push('\n');
        blocks.push((indentation, key));
    }
    flat
}

/// The name in `[name]` and `[[name]]`.
fn section_head(line: &str) -> Option<&str> {
    let head = line.strip_prefix('[')?.strip_suffix(']')?;
    let head = head.trim_matches(['[', ']', ' ']);
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._-\"".contains(c);
    (!head.is_empty() && head.chars().all(is_name)).then_some(head)
}

/// Splits a line into its key, without quotes, and the rest from `:`, `=`, or `{` on.
fn split_key(line: &str) -> Option<(&str, &str)> {
    let unquoted = line.trim_start_matches(['"', '\'']);
    let end = unquoted.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c)))?;
    let (key, rest) = unquoted.split_at(end);
    let rest = rest.trim_start_matches(['"', '\'']);
    let is_value = rest.trim_start().starts_with([':', '=', '{']);
    (!key.is_empty() && is_value).then_some((key, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_the_keys_that_lead_to_it() {
        for (text, expected) in [
            (
                "web:\n  auth:\n    enabled: false\n  tls: true\n\nport: 80\n",
                "web:\nweb.auth:\nweb.auth.enabled: false\nweb.tls: true\nport: 80\n",
            ),
            (
                "{\n  \"auth\": {\n    \"enabled\": false\n  }\n}\n",
                "auth: {\nauth.enabled: false\n",
            ),
            (
                "[server.auth]\nenabled = false\n[log]\nlevel = 3\n",
                "server.auth.enabled = false\nlog.level = 3\n",
            ),
            (
                "users:\n  - name: a\n    mfa: false\n",
                "users:\nusers.name: a\nusers.mfa: false\n",
            ),
            (
                "auth {\n  enabled = false\n}\n",
                "auth {\nauth.enabled = false\n",
            ),
        ] {
            assert_eq!(flatten_lines(text), expected);
        }
    }
}
