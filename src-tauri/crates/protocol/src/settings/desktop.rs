//! How the app is reached from the rest of the desktop.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::text::define_checked_text;

/// How the app is reached from the rest of your desktop.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct DesktopSettings {
    /// Whether the app starts when you log in, with its window minimized.
    pub start_at_login: bool,
    /// Keys that bring the window to the front from any program, at the call that waits longest: `Ctrl+Alt+O`. Without any,
    /// no key of other programs is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub shortcut: Option<GlobalShortcut>,
}

impl DesktopSettings {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Keys that the app listens to while another program has the focus: modifiers and one key, such as `Ctrl+Alt+O`.
///
/// Modifiers are `Ctrl`, `Alt`, `Shift`, and `Super`. The key is a letter, a digit, `Space`, or `F1` to `F12`. A key that
/// programs take as text needs `Ctrl`, `Alt`, or `Super`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(try_from = "String", into = "String")]
#[ts(type = "string")]
pub struct GlobalShortcut(String);

define_checked_text!(GlobalShortcut, |keys| {
    let (modifiers, key) = keys.rsplit_once('+').unwrap_or(("", keys));
    let modifiers: Vec<&str> = modifiers.split('+').filter(|one| !one.is_empty()).collect();
    let is_modifier = |one: &&str| ["Ctrl", "Alt", "Shift", "Super"].contains(one);
    let is_repeated = (1..modifiers.len()).any(|at| modifiers[..at].contains(&modifiers[at]));
    let keeps_text = modifiers.iter().any(|one| *one != "Shift") || is_function_key(key);
    match modifiers.iter().all(is_modifier) && !is_repeated && is_key(key) && keeps_text {
        true => Ok(()),
        false => Err(format!(
            "`{}` are no keys such as `Ctrl+Alt+O`: `Ctrl`, `Alt`, `Shift`, or `Super`, then a letter, a digit, `Space`, or \
             `F1` to `F12`; all but `F1` to `F12` with `Ctrl`, `Alt`, or `Super`",
            keys.escape_debug()
        )),
    }
});

fn is_key(key: &str) -> bool {
    let is_single =
        matches!(key.as_bytes(), [one] if one.is_ascii_uppercase() || one.is_ascii_digit());
    is_single || key == "Space" || is_function_key(key)
}

fn is_function_key(key: &str) -> bool {
    let number = key
        .strip_prefix('F')
        .filter(|digits| !digits.starts_with(['0', '+']));
    number.is_some_and(|digits| {
        digits
            .parse()
            .is_ok_and(|number: u8| (1..=12).contains(&number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortcut_leaves_text_to_the_program_in_front() {
        let read = |keys: &str| GlobalShortcut::try_from(keys.to_owned());
        for keys in [
            "Ctrl+Alt+O",
            "Super+Space",
            "F9",
            "Shift+F12",
            "Alt+7",
            "Ctrl+Shift+Z",
        ] {
            assert_eq!(read(keys).map(String::from), Ok(keys.to_owned()));
        }
        for keys in [
            "",
            "O",
            "Shift+O",
            "Space",
            "Ctrl",
            "Ctrl+",
            "+O",
            "ctrl+O",
            "Ctrl+o",
            "Ctrl+Ctrl+O",
            "Ctrl+Enter",
            "F0",
            "F01",
            "F13",
            "Ctrl+Alt",
            "Hyper+O",
            "Ctrl + O",
            "Ctrl+Ö",
        ] {
            let why = read(keys).unwrap_err();
            assert!(why.starts_with(&format!("`{keys}` are no keys")), "{why}");
        }
    }
}
