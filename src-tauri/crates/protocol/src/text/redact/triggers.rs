//! Places where a secret may begin: one table over three bytes, so that most text is passed over with one look-up each.

use std::sync::OnceLock;

use crate::text::redact::token::{KEY_ID_PREFIXES, ScanResult, TokenKind, token_kinds};
use crate::text::redact::{address, assignment, name, options, pem, token};

/// Kind of secret that may begin at a place.
#[derive(Debug, Clone, Copy)]
enum Trigger {
    /// A token of the table.
    Token(&'static TokenKind),
    /// The id of an Amazon access key.
    KeyId,
    /// `Bearer` and a token.
    Bearer,
    /// A name that may announce a secret.
    Name,
    /// An option that its program makes secret.
    Option,
    /// A password in an address.
    Address,
    /// The part of a Telegram bot's token after its number.
    BotToken,
    /// A private key in PEM.
    PrivateKey,
}

impl Trigger {
    /// Returns whether the trigger begins only where a word does.
    fn needs_word_start(self) -> bool {
        match self {
            Self::Token(_) | Self::KeyId | Self::Bearer => true,
            Self::Name | Self::Option | Self::Address | Self::BotToken | Self::PrivateKey => false,
        }
    }

    /// Returns whether a trigger that begins with `begins` may begin with these few bytes. The bytes are compared
    /// unfolded, so that a line end is not taken for a letter.
    fn can_begin_with(self, begins: &str, bytes: &[u8], is_start: bool) -> bool {
        let is_same = |(of, byte): (u8, &u8)| of == b'?' || of.eq_ignore_ascii_case(byte);
        (is_start || !self.needs_word_start()) && begins.bytes().zip(bytes).all(is_same)
    }
}

/// Number of folded bytes: bytes are folded to their lowest five bits, which are the same for upper and lower case of a
/// letter.
const FOLDS: usize = 32;

/// The triggers by their first three bytes.
pub(super) struct Triggers {
    /// Bucket of each combination of three folded bytes, from 1; 0 for none.
    buckets_of: Vec<u16>,
    buckets: Vec<Vec<Trigger>>,
    /// Each trigger with the text with which it begins.
    all: Vec<(&'static str, Trigger)>,
}

/// Returns the table.
pub(super) fn triggers() -> &'static Triggers {
    static TRIGGERS: OnceLock<Triggers> = OnceLock::new();
    TRIGGERS.get_or_init(Triggers::build)
}

impl Triggers {
    fn build() -> Self {
        let mut all = Self {
            buckets_of: vec![0; FOLDS * FOLDS * FOLDS],
            buckets: Vec::new(),
            all: Vec::new(),
        };
        for kind in token_kinds() {
            all.add_trigger(kind.begins, Trigger::Token(kind));
        }
        for id in KEY_ID_PREFIXES {
            all.add_trigger(id, Trigger::KeyId);
        }
        all.add_trigger("bearer", Trigger::Bearer);
        all.add_trigger(" -?", Trigger::Option);
        all.add_trigger("://", Trigger::Address);
        all.add_trigger(token::BOT_TOKEN_MARK, Trigger::BotToken);
        all.add_trigger("-----BEGIN ", Trigger::PrivateKey);
        for word in name::NAME_TRIGGERS {
            all.add_trigger(word, Trigger::Name);
        }
        all
    }

    fn add_trigger(&mut self, begins: &'static str, trigger: Trigger) {
        self.all.push((begins, trigger));
        let folds = |at: usize| match begins.as_bytes().get(at) {
            Some(b'?') | None => 0..FOLDS,
            Some(byte) => fold_byte(*byte)..fold_byte(*byte) + 1,
        };
        for first in folds(0) {
            for second in folds(1) {
                for third in folds(2) {
                    let place = (first * FOLDS + second) * FOLDS + third;
                    if self.buckets_of[place] == 0 {
                        self.buckets.push(Vec::new());
                        self.buckets_of[place] =
                            u16::try_from(self.buckets.len()).unwrap_or(u16::MAX);
                    }
                    let bucket = usize::from(self.buckets_of[place]) - 1;
                    self.buckets[bucket].push(trigger);
                }
            }
        }
    }

    /// Returns how many bytes from the place `at` on certainly begin no trigger. `is_start` says of a place whether a
    /// word may begin there; `is_all` that no more bytes will come.
    pub fn plain_prefix_len(
        &self,
        bytes: &[u8],
        at: usize,
        is_all: bool,
        is_start: impl Fn(usize) -> bool,
    ) -> usize {
        let rest = &bytes[at..];
        for (place, three) in rest.windows(3).enumerate() {
            let triggers = self.bucket(three);
            let begins = |trigger: &Trigger| !trigger.needs_word_start() || is_start(at + place);
            if !triggers.is_empty() && triggers.iter().any(begins) {
                return place;
            }
        }
        if is_all {
            return rest.len();
        }
        // The next bytes may complete a beginning in the last two bytes, or in the last one.
        let held = [2, 1].into_iter().find(|length| {
            rest.len().checked_sub(*length).is_some_and(|place| {
                let is_start = is_start(at + place);
                let mut all = self.all.iter();
                all.any(|(begins, trigger)| {
                    trigger.can_begin_with(begins, &rest[place..], is_start)
                })
            })
        });
        rest.len() - held.unwrap_or(0)
    }

    fn bucket(&self, three: &[u8]) -> &[Trigger] {
        let place = three
            .iter()
            .fold(0, |place, byte| place * FOLDS + fold_byte(*byte));
        match self.buckets_of[place] {
            0 => &[],
            bucket => &self.buckets[usize::from(bucket) - 1],
        }
    }

    /// Looks for a secret at the start of `bytes`. `context` holds the bytes before.
    pub fn scan(&self, context: &[u8], bytes: &[u8], is_start: bool, is_all: bool) -> ScanResult {
        let Some(three) = bytes.get(..3) else {
            return match is_all {
                true => ScanResult::No,
                false => ScanResult::Unsure,
            };
        };
        for trigger in self.bucket(three) {
            if trigger.needs_word_start() && !is_start {
                continue;
            }
            let look = match trigger {
                Trigger::Token(kind) => token::scan_token(kind, bytes, is_all),
                Trigger::KeyId => token::scan_key_id(bytes, is_all),
                Trigger::Bearer => token::scan_bearer(bytes, is_all),
                Trigger::Name => assignment::scan_assignment(context, bytes, is_all),
                Trigger::Option => options::scan_option(context, bytes, is_all),
                Trigger::Address => address::scan_address(context, bytes, is_all),
                Trigger::BotToken => token::scan_bot_token(context, bytes, is_all),
                Trigger::PrivateKey => pem::scan_private_key(bytes, is_all),
            };
            // The first that is not ruled out decides, so that it does not matter how much has come.
            if look != ScanResult::No {
                return look;
            }
        }
        ScanResult::No
    }
}

fn fold_byte(byte: u8) -> usize {
    usize::from(byte & 0x1f)
}
