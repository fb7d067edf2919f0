//! Secrets that are read and carried out in one command, and the shapes in which files are carried out.

use super::Alarm;
use super::command::WatchedCommand;
use crate::patterns::host::{is_loopback, resolve_host};

/// Programs that reach another machine.
pub(crate) const NETWORK_PROGRAMS: &str = "curl wget nc ncat netcat socat telnet ftp sftp scp rsync ssh http https aria2c dig \
    nslookup host mail";
/// Beginnings and parts of names under which secrets lie, with commas between.
const SECRET_NAMES: &str = "/.ssh/, /.aws/, /.gnupg/, /.kube/, /.azure/, /.config/gcloud, /.docker/config.json, /.netrc, \
    /.pgpass, /.git-credentials, /.npmrc, /.pypirc, /.env, /etc/shadow, /etc/sudoers, /id_rsa, \
    /id_ed25519, /id_ecdsa, .pem, /.password-store, /keychains/, /login data";
/// Programs that tell secrets themselves.
const SECRET_PRINTERS: &str = "printenv env security secret-tool pass gpg";

/// Denies sending a secret to another machine, and asks about sending a file.
pub(super) fn check_exfiltration(script: &WatchedCommand) -> Option<Alarm> {
    let mut carriers = script.commands_running(NETWORK_PROGRAMS).peekable();
    carriers.peek()?;
    if let Some(secret) = script.all_words().find(|word| is_secret_path(word)) {
        return Some(Alarm::deny(format!(
            "It reads `{secret}`, where secrets lie, and reaches the network in the same command."
        )));
    }
    let is_piped =
        script.text.contains('|') || script.text.contains("$(") || script.text.contains('`');
    let tells = script
        .commands_running(SECRET_PRINTERS)
        .find(|words| match words[0].as_str() {
            // With a program behind it, it runs that.
            "env" => words.len() == 1,
            _ => true,
        });
    if let Some(words) = tells.filter(|_| is_piped) {
        return Some(Alarm::deny(format!(
            "`{}` tells secrets, and the same command reaches the network.",
            words[0]
        )));
    }
    carriers
        .filter(|words| !(script.is_own_loopback && names_loopback(words)))
        .find_map(find_uploaded_file)
        .map(|what| Alarm::ask(format!("It sends `{what}` to another machine.")))
}

/// Whether a program is told to reach the loopback.
fn names_loopback(words: &[String]) -> bool {
    words
        .iter()
        .any(|word| is_loopback(&resolve_host(word).real))
}

fn is_secret_path(word: &str) -> bool {
    let lower = word.to_lowercase();
    if lower.contains("://") {
        return false;
    }
    // `f=@.env` and `host:.env` name the file behind a sign.
    lower.split(['@', '=', ':', ',']).any(|part| {
        let part = format!("/{part}");
        let mut secrets = SECRET_NAMES.split(", ");
        !part.ends_with(".pub") && secrets.any(|secret| part.contains(secret))
    })
}

/// A file that a program sends as it is.
fn find_uploaded_file(words: &[String]) -> Option<&str> {
    let mut before = "";
    for word in &words[1..] {
        let sends = match words[0].as_str() {
            "curl" => {
                let data = matches!(
                    before,
                    "-d" | "--data"
                        | "--data-binary"
                        | "--data-raw"
                        | "--data-urlencode"
                        | "-F"
                        | "--form"
                        | "--json"
                );
                (data && word.contains('@')) || matches!(before, "-T" | "--upload-file")
            }
            "wget" => word.starts_with("--post-file=") || word.starts_with("--body-file="),
            _ => false,
        };
        if sends {
            return Some(word);
        }
        before = word;
    }
    None
}
