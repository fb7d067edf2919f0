//! Secrets in options that only their program makes secret: `curl -u user:password`, `sshpass -p password`.

use super::ahead::Ahead;
use super::assigned::{VALUE_BYTES_MAX, secret};
use super::name::Says;
use super::quote::{quoted, take_quote};
use super::token::{Look, Of};
use super::value::{self, Written};

/// Blanks between an option and its value.
const BLANKS_MAX: usize = 8;
/// How long an option is at the most, in bytes.
const OPTION_BYTES_MAX: usize = 24;

/// Where the value of an option stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Right behind the letter: `-ppassword`.
    Attached,
    /// In the next word, or behind `=`. Letters of other options may stand before the last one: `-su`.
    Next,
    /// Either.
    Any,
}

/// An option whose value is a secret.
struct Secret {
    programs: &'static [&'static str],
    options: &'static [&'static str],
    place: Place,
    /// Where the secret begins in the value: behind the first of these bytes; at its start where there is none.
    behind: Option<u8>,
}

/// The options, as the manuals of their programs tell them.
const SECRETS: &[Secret] = &[
    Secret {
        programs: &["curl"],
        options: &["-u", "--user", "-U", "--proxy-user"],
        place: Place::Any,
        behind: Some(b':'),
    },
    Secret {
        programs: &["http", "https", "xh", "xhs"],
        options: &["-a", "--auth"],
        place: Place::Next,
        behind: Some(b':'),
    },
    Secret {
        programs: &["lftp"],
        options: &["-u", "--user"],
        place: Place::Next,
        behind: Some(b','),
    },
    Secret {
        programs: &["smbclient", "rpcclient", "net"],
        options: &["-U", "--user"],
        place: Place::Any,
        behind: Some(b'%'),
    },
    Secret {
        programs: &["sshpass"],
        options: &["-p"],
        place: Place::Any,
        behind: None,
    },
    Secret {
        programs: &[
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mysqlimport",
            "mysqlshow",
            "mariadb",
            "mariadb-dump",
            "mariadb-admin",
            "7z",
            "7za",
            "7zr",
        ],
        options: &["-p"],
        place: Place::Attached,
        behind: None,
    },
    Secret {
        programs: &["mongo", "mongosh", "mongodump", "mongorestore", "login"],
        options: &["-p"],
        place: Place::Next,
        behind: None,
    },
    Secret {
        programs: &["redis-cli"],
        options: &["-a"],
        place: Place::Next,
        behind: None,
    },
    Secret {
        programs: &["sqlcmd", "bcp", "zip", "unzip"],
        options: &["-P"],
        place: Place::Any,
        behind: None,
    },
    Secret {
        programs: &[
            "ldapsearch",
            "ldapmodify",
            "ldapadd",
            "ldapdelete",
            "ldapwhoami",
        ],
        options: &["-w"],
        place: Place::Any,
        behind: None,
    },
    Secret {
        programs: &["keytool", "jarsigner"],
        options: &["-storepass", "-keypass", "-srcstorepass", "-deststorepass"],
        place: Place::Next,
        behind: None,
    },
];

/// Looks whether an option begins behind the blank that is `bytes[0]`, and its value is a secret. `context` is what stands
/// before it.
pub(super) fn look(context: &[u8], bytes: &[u8], is_all: bool) -> Look {
    let line = context.rsplit(|byte| matches!(byte, b'\n' | b';' | b'|' | b'&'));
    let line = line.into_iter().next().unwrap_or_default();
    let mut ahead = Ahead::new(bytes, is_all);
    if ahead.take(b' ') != Ok(true) || ahead.peek() != Ok(Some(b'-')) {
        return Look::No;
    }
    let told = SECRETS
        .iter()
        .filter(|secret| names_any(line, secret.programs));
    for secret in told {
        let look = match find(secret, ahead) {
            Ok(look) | Err(look) => look,
        };
        if look != Look::No {
            return look;
        }
    }
    Look::No
}

/// Whether a word of a command is one of these programs, by itself or at the end of a path.
fn names_any(line: &[u8], programs: &[&str]) -> bool {
    let words = line.split(|byte| {
        byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'(' | b'/')
    });
    let mut words = words.filter(|word| !word.is_empty());
    words.any(|word| programs.iter().any(|program| program.as_bytes() == word))
}

fn find(option: &Secret, mut ahead: Ahead<'_>) -> Result<Look, Look> {
    let start = ahead;
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let word = ahead.take_while(OPTION_BYTES_MAX, is_letter)?;
    let is_named = option.options.iter().any(|name| name.as_bytes() == word);
    let is_grouped = option.options.iter().any(|name| ends_group(word, name));
    let blanks = match is_named || is_grouped {
        true if ahead.peek()? == Some(b'=') && word.starts_with(b"--") => {
            ahead.at += 1;
            1
        }
        true => ahead.take_blanks(BLANKS_MAX)?,
        false => 0,
    };
    let is_next = blanks > 0 && option.place != Place::Attached;
    if !is_next {
        // `-ppassword`: what stands right behind the letter.
        ahead = start;
        let is_attached = option.place != Place::Next && take_letter(option, &mut ahead)?;
        if !is_attached {
            return Ok(Look::No);
        }
    }
    let quote = take_quote(&mut ahead)?;
    let of = quote.map_or(Of::Unspaced, |quote| Of::Quoted(quote.byte));
    if let Some(separator) = option.behind {
        let of_user = |byte: u8| of.has(byte) && byte != separator;
        ahead.take_while(VALUE_BYTES_MAX, of_user)?;
        if !ahead.take(separator)? {
            return Ok(Look::No);
        }
    }
    let kept = ahead.at;
    let value = match quote {
        Some(quote) => quoted(&mut ahead, quote, VALUE_BYTES_MAX)?,
        None => ahead.take_while(VALUE_BYTES_MAX, |byte| of.has(byte))?,
    };
    let written = match quote {
        Some(_) => Written::Quoted,
        None => Written::Line,
    };
    let is_secret =
        !value.starts_with(b"-") && value::is_secret(Says::Password, b"", value, written);
    Ok(secret(is_secret, kept, value, of, &ahead))
}

/// Whether a word is a group of letters whose last one is this option: `-su` ends with `-u`.
fn ends_group(word: &[u8], option: &str) -> bool {
    const GROUP_BYTES_MAX: usize = 8;
    let letters = word.strip_prefix(b"-").unwrap_or_default();
    option.len() == 2
        && letters.len() < GROUP_BYTES_MAX
        && letters.iter().all(u8::is_ascii_alphabetic)
        && letters.last() == option.as_bytes().last()
}

/// Goes past the letter of an option to which a value is attached.
fn take_letter(option: &Secret, ahead: &mut Ahead<'_>) -> Result<bool, Look> {
    for name in option.options.iter().filter(|name| name.len() == 2) {
        if ahead.take_all(name.as_bytes())? {
            let next = ahead.peek()?;
            return Ok(next.is_some_and(|byte| !byte.is_ascii_whitespace() && byte != b'='));
        }
    }
    Ok(false)
}
