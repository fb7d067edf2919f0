//! Arguments of `apis`: services and their documents.

use clap::Subcommand;

use super::servers::AudienceArg;

/// Subcommands of `apis`.
#[derive(Debug, Subcommand)]
pub(crate) enum ApisCommand {
    /// List them, with their tools and what waits for a look.
    List,
    /// Set one up, by its OpenAPI document. It is off until it is enabled.
    Add(Box<AddApiArgs>),
    /// Switch one on: its document is read, and the first time its tools are approved as they are then.
    Enable {
        /// Its name.
        api: String,
    },
    /// Switch one off.
    Disable {
        /// Its name.
        api: String,
    },
    /// Read the document of one again, show which of its tools are not as they were approved, and approve them.
    Approve {
        /// Its name.
        api: String,
        /// Approve what waits, if it still is what has this digest.
        #[arg(long, value_name = "DIGEST")]
        accept: Option<String>,
    },
    /// Forget one, with what was approved of it.
    Remove {
        /// Its name.
        api: String,
    },
}

/// A service that is set up. A value may be `${NAME}` or `keychain:NAME`; secrets are put into the keychain by `countersign
/// servers secret NAME`.
#[derive(Debug, clap::Args)]
pub(crate) struct AddApiArgs {
    /// Its name, the first half of its tools' names: letters, digits, `-` and single `_`.
    pub(crate) api: String,
    /// Its document: an address, or a file.
    pub(crate) document: String,
    /// Set it up anew if there is one of this name.
    #[arg(long)]
    pub(crate) replace: bool,
    /// Read files that the document refers to as well, as far as they lie in its folder.
    #[arg(long)]
    pub(crate) follow_files: bool,
    /// The address of the service, in the place of those that the document names.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// A variable in the document's addresses. May be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) variable: Vec<String>,
    /// A header of every request. May be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) header: Vec<String>,
    /// A key or a token, by the name of the document's security scheme: `${NAME}` or `keychain:NAME`. May be repeated.
    #[arg(long, value_name = "SCHEME=REFERENCE")]
    pub(crate) token: Vec<String>,
    /// A name and a password, by the name of the document's security scheme. May be repeated.
    #[arg(long, value_name = "SCHEME=NAME,PASSWORD")]
    pub(crate) basic: Vec<String>,
    /// A client that asks for a token (OAuth 2.0 client credentials), by the name of the document's security scheme.
    /// May be repeated.
    #[arg(long, value_name = "SCHEME=ID,SECRET")]
    pub(crate) client: Vec<String>,
    /// Take only operations of this tag. `*` stands for anything, here and below. May be repeated.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Take only operations of this id. May be repeated.
    #[arg(long, value_name = "ID")]
    pub(crate) operation: Vec<String>,
    /// Take only operations of this path, and of what is below it. May be repeated.
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Vec<String>,
    /// How long it may take to answer, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = protocol::server::apis::API_TIMEOUT_MS)]
    pub(crate) timeout_ms: u32,
    /// Who reads what is sent there: you alone, or others, so that sending something asks where effects are judged.
    #[arg(long, value_name = "WHO", value_enum)]
    pub(crate) audience: Option<AudienceArg>,
}
