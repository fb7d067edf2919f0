//! Classification of names by the value that they announce: `DB_PASSWORD`, `client-secret`, `next_page_token`.

use crate::text::word_set::WordSet;

/// How certainly a name announces a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameClass {
    /// The name does not announce a secret.
    Nothing,
    /// The value may be a secret: only one that looks random counts.
    Maybe,
    /// The name of a token or a key.
    Token,
    /// The name of a password.
    Password,
    /// A header with credentials after a scheme.
    Authorization,
    /// A header of cookies.
    Cookies,
}

/// Maximum length of a name that is examined, in bytes.
pub(super) const NAME_BYTES_MAX: usize = 64;
/// Maximum number of words of a name that are examined.
const NAME_WORDS_MAX: usize = 12;

/// Triggers for the examination of a name: every secret's name contains one of these, in upper or lower case.
pub(super) const NAME_TRIGGERS: [&str; 11] = [
    "pass", "pwd", "secret", "token", "key", "cred", "auth", "cookie", "sig", "webhook", "jwt",
];

static PASSWORDS: WordSet =
    WordSet::new("password passwd passphrase passcode pwd pass pw requirepass");
static TOKENS: WordSet =
    WordSet::new("token secret apikey apitoken authtoken accesstoken credential");
/// Words before `key` that make it a secret one.
static SECRET_KEYS: WordSet = WordSet::new(
    "access account admin api app application auth client consumer deploy encryption license \
     master private role secret service shared signing ssh subscription webhook",
);
/// Words before a key or a token that make it harmless.
pub(super) static HARMLESS_PREFIXES: WordSet = WordSet::new(
    "bos cache cancellation composite continuation csharp current cursor design end eof eos \
     first foreign group hash i18n idempotency last lexer mask next object pad page pagination \
     parse partition prev previous primary public pub row sort special start stop sync theme \
     translation unique unk syntax",
);
/// Last words of a name whose value is only something about a secret.
static HARMLESS_SUFFIXES: WordSet = WordSet::new(
    "alg algorithm arn at attempts bits change changed checksum class column confirm \
     confirmation count created digest dir directory email enabled endpoint env error errors \
     expiration expired expires expiry field file filename fingerprint folder format handler \
     hash header hint id ids in index input integrity kind label len length limit location \
     manager max message method min mode name namespace names offset parameter path pattern \
     placeholder policy position prefix provider ref required reset sha size status stdin \
     store title ttl type uri url version",
);
/// Last words of a name that do not change its meaning.
static IGNORED_SUFFIXES: WordSet = WordSet::new(
    "b64 base64 current data default dev development encoded live main new old pem plain prod \
     production raw staging string test value x",
);

/// Words before `token` that make it a secret one where both are one word.
static SECRET_TOKENS: WordSet = WordSet::new("access auth bearer refresh session");
/// Words beside passwords and tokens for which a name may announce a secret.
static SECRET_HINTS: WordSet = WordSet::new("key cred auth sig webhook jwt authkey signature");

/// Classifies a name, as it is written: its words may be joined by `_`, `-` or `.`, or by capitals.
pub(super) fn classify_name(name: &[u8]) -> NameClass {
    let Ok(name) = std::str::from_utf8(name) else {
        return NameClass::Nothing;
    };
    let all = split_words(name);
    let mut words = all.as_slice();
    while let [before @ .., last] = words {
        let is_number = last.bytes().all(|byte| byte.is_ascii_digit());
        match !before.is_empty() && (is_number || IGNORED_SUFFIXES.contains(last)) {
            true => words = before,
            false => break,
        }
    }
    let Some((last, before)) = words.split_last() else {
        return NameClass::Nothing;
    };
    let last = last.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_before = |set: &WordSet| before.last().is_some_and(|word| set.contains(word));
    match last {
        "authorization" => return NameClass::Authorization,
        "cookie" | "cookies" => return NameClass::Cookies,
        // By itself it says as well that something passed.
        "pass" if before.is_empty() => return NameClass::Token,
        _ if PASSWORDS.contains(last) || last.ends_with("password") || last.ends_with("passwd") => {
            return NameClass::Password;
        }
        _ if TOKENS.contains(last) => {
            return match is_before(&HARMLESS_PREFIXES) {
                true => NameClass::Nothing,
                false => NameClass::Token,
            };
        }
        "key" if is_before(&SECRET_KEYS) => return NameClass::Token,
        "key" if before.is_empty() || is_before(&HARMLESS_PREFIXES) => return NameClass::Nothing,
        _ if HARMLESS_SUFFIXES.contains(last) => return NameClass::Nothing,
        _ => {}
    }
    // `accesskey`, `AccountKey` in one word, `authToken` in lower case.
    let joined = |key: &str, set: &WordSet| {
        let before = last.strip_suffix(key);
        before.is_some_and(|before| set.contains(before))
    };
    if joined("key", &SECRET_KEYS) || joined("token", &SECRET_TOKENS) || last.ends_with("secret") {
        return NameClass::Token;
    }
    let is_of_secrets = |word: &String| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let word = word.strip_suffix('s').unwrap_or(word);
        [&PASSWORDS, &TOKENS, &SECRET_HINTS]
            .iter()
            .any(|set| set.contains(word))
    };
    let harmless = all.iter().any(|word| HARMLESS_PREFIXES.contains(word));
    match !harmless && all.iter().any(is_of_secrets) {
        true => NameClass::Maybe,
        false => NameClass::Nothing,
    }
}

/// Splits a name into its words, in lower case.
fn split_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let bytes = name.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        if !byte.is_ascii_alphanumeric() {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            continue;
        }
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let next_is_lower = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        let begins = byte.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase() || (before.is_ascii_uppercase() && next_is_lower)
            });
        if begins && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        word.push(char::from(byte.to_ascii_lowercase()));
    }
    words.extend((!word.is_empty()).then_some(word));
    words.truncate(NAME_WORDS_MAX);
    words
}

/// Returns whether a byte may belong to a name.
pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_their_values_are() {
        for (says_so, names) in [
            (
                NameClass::Password,
                "password PASSWORD db_password DB_PASS PGPASSWORD MYSQL_PWD spring.datasource.password dbPassword \
                 PASSWORD1 ClearTextPassword passphrase REDIS_PASSWORD_PROD",
            ),
            (
                NameClass::Token,
                "token GITHUB_TOKEN client_secret clientSecret aws_secret_access_key AWS_SECRET_ACCESS_KEY AccountKey \
                 apiKey api-key X-Api-Key api_key OPENAI_API_KEY_2 SECRET_KEY _authToken private_key AUTH_TOKEN accesskey \
                 SUPABASE_SERVICE_ROLE_KEY SSH_KEY client-key-data refresh_token client.secret storageAccountKey",
            ),
            (
                NameClass::Maybe,
                "OPENAI_KEY TOKEN_GITHUB API_KEY_OPENAI auth CREDS credentials sig SLACK_WEBHOOK keys max_tokens",
            ),
            (
                NameClass::Nothing,
                "key tokenizer token_count passed bypass password_field secret_name secretName \
                 next_page_token nextToken public_key primaryKey cache_key token_type tokenUrl access_token_expires_in author \
                 keyboard compass password_hash id_token_hint monkey passwordLength secretKeyRef",
            ),
            (
                NameClass::Authorization,
                "Authorization Proxy-Authorization",
            ),
            (NameClass::Cookies, "Cookie Set-Cookie"),
        ] {
            for name in names.split_whitespace() {
                assert_eq!(classify_name(name.as_bytes()), says_so, "{name}");
            }
        }
    }
}
