//! Detects a field of a server's form that seems to ask for a secret, which the protocol forbids.

/// Words that indicate a secret where one of them stands alone in a name or a title.
const SECRET_WORDS: [&str; 14] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "token",
    "credential",
    "credentials",
    "apikey",
    "otp",
    "pin",
    "cvv",
    "cvc",
];

/// Phrases that indicate a secret where their words follow one another, in a description too.
const SECRET_PHRASES: [&str; 12] = [
    "password",
    "passphrase",
    "api key",
    "access key",
    "secret key",
    "private key",
    "access token",
    "refresh token",
    "bearer token",
    "card number",
    "credit card",
    "recovery code",
];

/// Returns the warning for a field that seems to ask for a secret; none if it does not.
pub(super) fn secret_warning(name: &str, title: &str, description: &str) -> Option<String> {
    let (name, title, description) = (
        split_into_words(name),
        split_into_words(title),
        split_into_words(description),
    );
    let has_word = |text: &String| {
        SECRET_WORDS
            .iter()
            .any(|word| format!(" {text} ").contains(&format!(" {word} ")))
    };
    let phrase = |text: &String| SECRET_PHRASES.iter().any(|phrase| text.contains(phrase));
    let is_secret = [&name, &title]
        .into_iter()
        .any(|text| has_word(text) || phrase(text))
        || phrase(&description);
    is_secret.then(|| {
        "This looks like a secret. A server must not ask for one in a form: what you write here is sent to it as it is."
            .to_owned()
    })
}

/// Splits a name into words: `apiKey`, `API_KEY` and "API-Key" all become `api key`.
fn split_into_words(text: &str) -> String {
    let mut words = String::new();
    let mut was_small = false;
    for c in text.chars() {
        if !c.is_alphanumeric() {
            words.push(' ');
        } else {
            if c.is_uppercase() && was_small {
                words.push(' ');
            }
            words.extend(c.to_lowercase());
        }
        was_small = c.is_lowercase();
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_asks_for_a_secret_is_warned_of() {
        for (name, title, description, is_secret) in [
            ("password", "", "", true),
            ("apiKey", "", "", true),
            ("API_KEY", "", "", true),
            ("value", "Access token", "", true),
            ("value", "", "Paste your API key here.", true),
            ("pin", "", "", true),
            ("card-number", "", "", true),
            ("opinion", "", "", false),
            ("name", "Your name", "It is not a secret.", false),
            ("tokenizer", "", "", false),
            ("city", "City", "Where you live", false),
        ] {
            let warned = secret_warning(name, title, description).is_some();
            assert_eq!(warned, is_secret, "{name} {title} {description}");
        }
    }
}
