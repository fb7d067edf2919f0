//! Arguments of `config` and `keys`: the settings and the keys.

use clap::Subcommand;

/// Subcommands of `config`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show the value of a setting, or all that are set.
    Get {
        /// The setting, such as `model.provider`; all that the file sets if none is named.
        setting: Option<String>,
    },
    /// Set a setting; the file's comments stay.
    Set {
        /// The setting, such as `model.provider` or `limits.turns`.
        setting: String,
        /// Its value in TOML; a word that is not TOML is taken as a text.
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a setting from the file, so that its default holds.
    Unset {
        /// The setting.
        setting: String,
    },
    /// Show where the settings file is.
    Path,
    /// Open the settings in $VISUAL or $EDITOR, and check them before they hold.
    Edit,
}

/// Subcommands of `keys`.
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// List the providers with the place that each key comes from.
    List,
    /// Put a provider's key, read from standard input, into the keychain.
    Set {
        /// The provider's id.
        provider: String,
    },
    /// Remove a provider's key from the keychain.
    Remove {
        /// The provider's id.
        provider: String,
    },
}
