//! Recognises text for PowerShell or for the shell of Windows: it is parsed as neither, and never allowed.

use crate::shell::tables::list_has_word;

/// Why a command is taken for one of another shell, as a sentence.
pub(in crate::shell) fn detect_foreign_shell(program: &str, list: &[String]) -> Option<String> {
    let lower = program.to_lowercase();
    let name = strip_executable_ending(&lower);
    if list_has_word(
        "powershell pwsh cmd command.com wscript cscript mshta rundll32 regsvr32 wmic wsl msiexec",
        name,
    ) {
        return Some(format!("`{program}` runs what its arguments say."));
    }
    if is_cmdlet(program) {
        return Some(format!("`{program}` looks like a command of PowerShell."));
    }
    let switches = list[1..].iter().any(|word| is_windows_switch(word));
    let is_cmd = list_has_word(
        "del erase rd xcopy robocopy attrib icacls cacls takeown reg schtasks vssadmin bcdedit diskpart format \
         fsutil cipher taskkill netsh wevtutil bitsadmin certutil",
        name,
    ) || switches
        && list_has_word(
            "dir copy move rmdir mkdir md ren rename type start call for if set tree cls",
            name,
        );
    if is_cmd {
        return Some(format!("`{program}` looks like a command of Windows."));
    }
    list.iter()
        .find(|word| has_windows_variable(word))
        .map(|word| format!("`{word}` looks like a variable of Windows."))
}

/// The text that a foreign shell is given.
pub(in crate::shell) fn extract_foreign_script(program: &str, list: &[String]) -> Option<String> {
    let lower = program.to_lowercase();
    let takes = match strip_executable_ending(&lower) {
        "powershell" | "pwsh" => |word: &str| {
            word.strip_prefix(['-', '/'])
                .is_some_and(|rest| !rest.is_empty() && "command".starts_with(&rest.to_lowercase()))
        },
        "cmd" => |word: &str| matches!(word.to_lowercase().as_str(), "/c" | "/k" | "/r"),
        _ => return None,
    };
    let at = list
        .iter()
        .position(|word| takes(word))
        .map_or(1, |at| at + 1);
    Some(list.get(at..)?.join(" "))
}

/// `rm.exe` is `rm`.
pub(in crate::shell) fn strip_executable_ending(program: &str) -> &str {
    let dot = program.rfind('.').unwrap_or(program.len());
    match list_has_word(".exe .cmd .bat .com .ps1", &program[dot..].to_lowercase()) && dot > 0 {
        true => &program[..dot],
        false => program,
    }
}

fn is_cmdlet(program: &str) -> bool {
    let Some((verb, noun)) = program.split_once('-') else {
        return false;
    };
    let known_verb = list_has_word(
        "get set new remove add clear copy move rename invoke start stop restart out import export write read test \
         select where foreach sort measure compare convertto convertfrom join split resolve push pop register \
         unregister enable disable wait format show update install uninstall expand compress receive send suspend",
        &verb.to_lowercase(),
    );
    let known_noun = list_has_word(
        "item content childitem expression process service itemproperty location object webrequest restmethod \
         command job variable acl path alias host output string file archive module scheduledtask eventlog",
        &noun.to_lowercase(),
    );
    let written = verb.starts_with(|c: char| c.is_ascii_uppercase())
        && noun.starts_with(|c: char| c.is_ascii_uppercase())
        && noun.bytes().all(|byte| byte.is_ascii_alphanumeric());
    known_verb && (written || known_noun)
}

/// `/s`, `/q`, `/a:h`
fn is_windows_switch(word: &str) -> bool {
    let Some(letters) = word.strip_prefix('/') else {
        return false;
    };
    let name = letters.split(':').next().unwrap_or_default();
    (1..=2).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || byte == b'?')
}

/// `%USERPROFILE%`
fn has_windows_variable(word: &str) -> bool {
    word.split('%').skip(1).step_by(2).any(|name| {
        name.len() >= 4
            && name
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    }) && word.matches('%').count() >= 2
}
