//! Functions that check something, and say yes after a change where they said no before.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use protocol::text::display_text::to_single_line;
use regex::Regex;

use super::ChangedFile;
use super::row::is_test;

/// Endings of the files whose functions are looked at.
const CODE_ENDINGS: &[&str] = &[
    ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".jsx", ".tsx", ".rs", ".go", ".java", ".kt",
    ".rb", ".php", ".cs", ".swift", ".c", ".cc", ".cpp", ".pl", ".pm",
];

/// What stands in the name of a function that checks something.
const CHECK_WORDS: &[&str] = &[
    "check",
    "verif",
    "valid",
    "auth",
    "allow",
    "permi",
    "access",
    "admin",
    "require",
    "ensure",
    "guard",
    "trust",
    "secure",
    "can_",
    "may_",
    "is_owner",
    "isowner",
    "signature",
];

/// Longest name in a sentence, in characters.
const NAME_CHARS_MAX: usize = 60;

/// The head of a function, with its indentation and its name.
const FUNCTION: &str = r"(?m)^([ \t]*)(?:(?:pub(?:\([a-z]+\))?|async|export|default|static|public|private|protected|internal|final|override|inline|const|let|var|unsafe|def|fn|fun|func|function|sub|bool|boolean|Boolean|Bool|int|void|error)[ \t]+)+(?:\([^)\n]*\)[ \t]*)?([A-Za-z_$][\w$]*)[ \t]*(?:[<(]|=[ \t]*(?:async[ \t]*)?(?:function|\(|\w+[ \t]*=>))";

/// An answer that is always yes.
const YES: &str = r"(?m)\breturn[ \t]+(?:true|True|1|Ok\(\(\)\)|nil|null|None)[ \t]*;?[ \t]*(?:[#}/].*)?$|^[ \t]*(?:true|Ok\(\(\)\))[ \t]*$|=>[ \t]*true\b";

/// An answer that is no, or may be.
const NO: &str = r"(?m)\breturn[ \t]+(?:false|False|0|-1|Err\(|err\b)|\b(?:raise|throw|die|reject|abort)\b|\b(?:bail|panic|ensure|assert)!|\breturn[ \t]+[^\n]*(?:[(<>!]|==|\band\b|&&)|^[ \t]*(?:false|Err\([^\n]*)[ \t]*$";

struct Expressions {
    function: Regex,
    yes: Regex,
    no: Regex,
}

/// Returns the expressions; none if one cannot be read, which a test would tell.
fn expressions() -> Option<&'static Expressions> {
    static EXPRESSIONS: OnceLock<Option<Expressions>> = OnceLock::new();
    let made = EXPRESSIONS.get_or_init(|| {
        Some(Expressions {
            function: Regex::new(FUNCTION).ok()?,
            yes: Regex::new(YES).ok()?,
            no: Regex::new(NO).ok()?,
        })
    });
    made.as_ref()
}

/// Whether a file may hold functions that check something.
pub(super) fn may_hold_checks(path: &str) -> bool {
    CODE_ENDINGS.iter().any(|ending| path.ends_with(ending)) && !is_test(path)
}

/// Returns a sentence on each function that checks something and says yes where it said no before.
pub(super) fn describe_weakened_checks(file: &ChangedFile<'_>) -> Vec<String> {
    let (Some(before), Some(after)) = (file.before, file.after) else {
        return Vec::new();
    };
    if !may_hold_checks(file.path) {
        return Vec::new();
    }
    let (before, after) = (count_answers(before), count_answers(after));
    let weakened = after.iter().filter(|(name, after)| {
        let before = before.get(*name);
        before.is_some_and(|before| after.is_weaker_than(before))
    });
    let sentences = weakened.map(|(name, _)| {
        let name = to_single_line(name, NAME_CHARS_MAX);
        format!("A check says yes where it said no before: `{name}`.")
    });
    sentences.collect()
}

/// How often a function answers, by what it says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Answers {
    yes: usize,
    no: usize,
}

impl Answers {
    fn is_weaker_than(self, before: &Self) -> bool {
        let says_yes_more = self.yes > before.yes;
        let says_only_yes = self.no == 0 && self.yes > 0;
        self.no < before.no && (says_yes_more || says_only_yes)
    }
}

/// Counts the answers of the functions that check something, by name. A function ends where another one begins that is not
/// in it.
fn count_answers(content: &[u8]) -> BTreeMap<String, Answers> {
    let mut answers = BTreeMap::new();
    let (Some(expressions), Ok(text)) = (expressions(), std::str::from_utf8(content)) else {
        return answers;
    };
    let heads: Vec<_> = expressions.function.captures_iter(text).collect();
    for (at, head) in heads.iter().enumerate() {
        let (Some(whole), Some(name)) = (head.get(0), head.get(2)) else {
            continue;
        };
        let lower = name.as_str().to_ascii_lowercase();
        if !CHECK_WORDS.iter().any(|word| lower.contains(word)) {
            continue;
        }
        let indentation = head[1].len();
        let next = heads[at + 1..]
            .iter()
            .find(|next| next[1].len() <= indentation)
            .and_then(|next| next.get(0));
        let body = &text[whole.start()..next.map_or(text.len(), |next| next.start())];
        let found: &mut Answers = answers.entry(name.as_str().to_owned()).or_default();
        found.yes += expressions.yes.find_iter(body).count();
        found.no += expressions.no.find_iter(body).count();
    }
    answers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(path: &str, before: &str, after: &str) -> Vec<String> {
        describe_weakened_checks(&ChangedFile {
            path,
            before: Some(before.as_bytes()),
            after: Some(after.as_bytes()),
        })
    }

    const PYTHON: &str = "\
def check_token(given, expected):
    if not expected:
        return False
    return hmac.compare_digest(given, expected)


def total(rows):
    return False
";

    #[test]
    fn a_check_that_says_yes_is_told() {
        let said = ["A check says yes where it said no before: `check_token`."];
        let open = PYTHON.replacen("return False", "return True", 1);
        assert_eq!(describe("src/auth.py", PYTHON, &open), said);
        let always = "def check_token(given, expected):\n    return True\n";
        assert_eq!(describe("src/auth.py", PYTHON, always), said);
        let rust =
            "pub fn check_token(a: &str) -> bool {\n    a == known()\n        && fresh(a)\n}\n";
        assert!(describe("src/auth.rs", rust, rust).is_empty());
        for (path, before, after) in [
            (
                "auth.ts",
                "export function isAdmin(u) {\n  return u.role === 'admin';\n}\n",
                "export function isAdmin(u) {\n  return true;\n}\n",
            ),
            (
                "auth.ts",
                "export const canAccess = (u) => {\n  if (!u) throw new Error('no');\n  return true;\n};\n",
                "export const canAccess = (u) => {\n  return true;\n};\n",
            ),
            (
                "auth.go",
                "func (s *Server) verify(t string) error {\n\tif t == \"\" {\n\t\treturn errors.New(\"no\")\n\t}\n\treturn nil\n}\n",
                "func (s *Server) verify(t string) error {\n\treturn nil\n}\n",
            ),
            (
                "registry.py",
                "def verify(path):\n    if digest(path) != known:\n        raise ValueError(path)\n    return True\n",
                "def verify(path):\n    return True\n",
            ),
        ] {
            assert_eq!(describe(path, before, after).len(), 1, "{after}");
        }
    }

    #[test]
    fn other_changes_are_not() {
        let stricter = PYTHON.replace("if not expected:", "if not given or not expected:");
        let other = PYTHON.replace(
            "def total(rows):\n    return False",
            "def total(rows):\n    return True",
        );
        let moved = PYTHON.replace("def check_token", "def check_key");
        for after in [&stricter, &other, &moved] {
            assert!(describe("src/auth.py", PYTHON, after).is_empty(), "{after}");
        }
        let open = PYTHON.replacen("return False", "return True", 1);
        assert!(describe("tests/test_auth.py", PYTHON, &open).is_empty());
        assert!(describe("docs/auth.md", PYTHON, &open).is_empty());
        // What is put together answers no once where it did so twice.
        let two = "def validate(a):\n    if a < 0:\n        raise ValueError\n    if a > 9:\n        raise ValueError\n    return True\n";
        let one =
            "def validate(a):\n    if a < 0 or a > 9:\n        raise ValueError\n    return True\n";
        assert!(describe("a.py", two, one).is_empty());
    }
}
