//! Secrets in options that only their program makes secret: `curl -u user:password`, `sshpass -p password`.

use crate::text::redact::assignment::{VALUE_BYTES_MAX, secret_result};
use crate::text::redact::lookahead::Lookahead;
use crate::text::redact::name::NameClass;
use crate::text::redact::quote::{read_quoted, take_quote};
use crate::text::redact::token::{ByteClass, ScanResult};
use crate::text::redact::value;
use crate::text::redact::value::ValueContext;

use ValuePlacement::{Any, Attached, Next};

/// Maximum number of blanks between an option and its value.
const BLANKS_MAX: usize = 8;
/// Maximum length of an option, in bytes.
const OPTION_BYTES_MAX: usize = 24;

/// Placement of an option's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValuePlacement {
    /// Directly after the letter: `-ppassword`.
    Attached,
    /// In the next word, or after `=`. Letters of other options may stand before the last one: `-su`.
    Next,
    /// Either placement.
    Any,
}

/// Options whose value is a secret.
struct SecretOption {
    /// The programs, with blanks between.
    programs: &'static str,
    /// The options, with blanks between.
    options: &'static str,
    place: ValuePlacement,
    /// Byte after which the secret begins in the value; none if the secret is the whole value.
    behind: Option<u8>,
}

const fn secret_option(
    programs: &'static str,
    options: &'static str,
    place: ValuePlacement,
    behind: Option<u8>,
) -> SecretOption {
    SecretOption {
        programs,
        options,
        place,
        behind,
    }
}

/// The options, according to the manuals of their programs.
const SECRET_OPTIONS: &[SecretOption] = &[
    secret_option("curl", "-u --user -U --proxy-user", Any, Some(b':')),
    secret_option("http https xh xhs", "-a --auth", Next, Some(b':')),
    secret_option("lftp", "-u --user", Next, Some(b',')),
    secret_option("smbclient rpcclient net", "-U --user", Any, Some(b'%')),
    secret_option("sshpass", "-p", Any, None),
    secret_option(
        "mysql mysqldump mysqladmin mysqlimport mysqlshow mariadb mariadb-dump mariadb-admin 7z 7za 7zr",
        "-p",
        Attached,
        None,
    ),
    secret_option(
        "mongo mongosh mongodump mongorestore login",
        "-p",
        Next,
        None,
    ),
    secret_option("redis-cli", "-a", Next, None),
    secret_option("sqlcmd bcp zip unzip", "-P", Any, None),
    secret_option(
        "ldapsearch ldapmodify ldapadd ldapdelete ldapwhoami",
        "-w",
        Any,
        None,
    ),
    secret_option(
        "keytool jarsigner",
        "-storepass -keypass -srcstorepass -deststorepass",
        Next,
        None,
    ),
];

/// Looks for an option after the blank `bytes[0]` whose value is a secret. `context` holds the bytes before.
pub(super) fn scan_option(context: &[u8], bytes: &[u8], is_all: bool) -> ScanResult {
    let line = context.rsplit(|byte| matches!(byte, b'\n' | b';' | b'|' | b'&'));
    let line = line.into_iter().next().unwrap_or_default();
    let mut ahead = Lookahead::new(bytes, is_all);
    if ahead.take(b' ') != Ok(true) || ahead.peek() != Ok(Some(b'-')) {
        return ScanResult::No;
    }
    let known = SECRET_OPTIONS
        .iter()
        .filter(|secret| names_any_program(line, secret.programs));
    for secret in known {
        let look = match scan_option_value(secret, ahead) {
            Ok(look) | Err(look) => look,
        };
        if look != ScanResult::No {
            return look;
        }
    }
    ScanResult::No
}

/// Returns whether a word of a command is one of these programs, by itself or at the end of a path.
fn names_any_program(line: &[u8], programs: &str) -> bool {
    let words = line.split(|byte| {
        byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'(' | b'/')
    });
    let mut words = words.filter(|word| !word.is_empty());
    words.any(|word| {
        programs
            .split(' ')
            .any(|program| program.as_bytes() == word)
    })
}

fn scan_option_value(
    option: &SecretOption,
    mut ahead: Lookahead<'_>,
) -> Result<ScanResult, ScanResult> {
    let start = ahead;
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let word = ahead.take_while(OPTION_BYTES_MAX, is_letter)?;
    let mut names = option.options.split(' ');
    let is_known = names.any(|name| name.as_bytes() == word || ends_letter_group(word, name));
    let blanks = match is_known {
        true if ahead.peek()? == Some(b'=') && word.starts_with(b"--") => {
            ahead.at += 1;
            1
        }
        true => ahead.take_blanks(BLANKS_MAX)?,
        false => 0,
    };
    let is_next = blanks > 0 && option.place != Attached;
    if !is_next {
        // `-ppassword`: what stands right behind the letter.
        ahead = start;
        let is_attached = option.place != Next && skip_option_letter(option, &mut ahead)?;
        if !is_attached {
            return Ok(ScanResult::No);
        }
    }
    let quote = take_quote(&mut ahead)?;
    let of = quote.map_or(ByteClass::Unspaced, |quote| ByteClass::Quoted(quote.byte));
    if let Some(separator) = option.behind {
        let of_user = |byte: u8| of.contains(byte) && byte != separator;
        ahead.take_while(VALUE_BYTES_MAX, of_user)?;
        if !ahead.take(separator)? {
            return Ok(ScanResult::No);
        }
    }
    let value_start = ahead.at;
    let value = match quote {
        Some(quote) => read_quoted(&mut ahead, quote, VALUE_BYTES_MAX)?,
        None => ahead.take_while(VALUE_BYTES_MAX, |byte| of.contains(byte))?,
    };
    let written = match quote {
        Some(_) => ValueContext::Quoted,
        None => ValueContext::Line,
    };
    let is_secret =
        !value.starts_with(b"-") && value::is_secret(NameClass::Password, b"", value, written);
    Ok(secret_result(is_secret, value_start, value, of, &ahead))
}

/// Returns whether a word is a group of letters whose last one is this option: `-su` ends with `-u`.
fn ends_letter_group(word: &[u8], option: &str) -> bool {
    const GROUP_BYTES_MAX: usize = 8;
    let letters = word.strip_prefix(b"-").unwrap_or_default();
    option.len() == 2
        && letters.len() < GROUP_BYTES_MAX
        && letters.iter().all(u8::is_ascii_alphabetic)
        && letters.last() == option.as_bytes().last()
}

/// Skips the letter of an option with an attached value.
fn skip_option_letter(
    option: &SecretOption,
    ahead: &mut Lookahead<'_>,
) -> Result<bool, ScanResult> {
    for name in option.options.split(' ').filter(|name| name.len() == 2) {
        if ahead.take_all(name.as_bytes())? {
            let next = ahead.peek()?;
            return Ok(next.is_some_and(|byte| !byte.is_ascii_whitespace() && byte != b'='));
        }
    }
    Ok(false)
}
