//! Arguments of `servers`: servers of tools.

use std::path::PathBuf;

use clap::Subcommand;
use protocol::server::audience::Audience;

/// Subcommands of `servers`.
#[derive(Debug, Subcommand)]
pub(crate) enum ServersCommand {
    /// List them, with their tools and what waits for a look.
    List,
    /// Set one up, by its command or its address. It is off until it is enabled.
    Add(AddServerArgs),
    /// Show the servers that other products and the project are set up with. They are offered, never used by themselves, and
    /// none of their secrets is taken over.
    Import {
        /// One product's file instead of the places where products keep theirs.
        #[arg(long, value_name = "PRODUCT", requires = "file",
            value_parser = ["claude-code", "claude-desktop", "cline", "codex", "cursor", "gemini-cli", "goose", "opencode",
                "vscode", "windsurf", "zed"])]
        from: Option<String>,
        /// The file.
        #[arg(requires = "from", value_name = "FILE")]
        file: Option<PathBuf>,
        /// The workspace.
        #[arg(long, value_name = "DIR", default_value = ".")]
        workspace: PathBuf,
        /// Set up this one of them, off. May be repeated. Without this nothing is written.
        #[arg(long, value_name = "NAME")]
        add: Vec<String>,
        /// Set it up anew if there is one of this name.
        #[arg(long, requires = "add")]
        replace: bool,
    },
    /// Switch one on: it is started, and the first time its tools are approved as they are then.
    Enable {
        /// Its name.
        server: String,
    },
    /// Switch one off.
    Disable {
        /// Its name.
        server: String,
    },
    /// Start one, show which of its tools are not as they were approved, and approve them.
    Approve {
        /// Its name.
        server: String,
        /// Approve what waits, if it still is what has this digest.
        #[arg(long, value_name = "DIGEST")]
        accept: Option<String>,
    },
    /// Run one in a sandbox, where it can change one folder alone and open none of the secrets that are found when it is
    /// started; or as you again. One that is on is started anew.
    #[command(alias = "room")]
    Sandbox {
        /// Its name.
        server: String,
        /// The one folder that it may change.
        #[arg(value_name = "FOLDER", required_unless_present = "leave")]
        folder: Option<PathBuf>,
        /// Let it reach this host, such as `api.example.com` or `localhost:8080`; it reaches none if none is named. May be given
        /// again.
        #[arg(long, value_name = "HOST", requires = "folder")]
        allow_host: Vec<String>,
        /// Run it as you, outside any sandbox.
        #[arg(long, conflicts_with = "folder")]
        leave: bool,
    },
    /// Start one anew, and say whether it answers.
    Restart {
        /// Its name.
        server: String,
    },
    /// Sign in to one that wants to know who asks: shows the address to open, and waits until you come back from there.
    SignIn {
        /// Its name.
        server: String,
    },
    /// Take out of the system keychain what you signed in to one with.
    SignOut {
        /// Its name.
        server: String,
    },
    /// List the prompts that one has for you, or take one up.
    Prompts {
        /// Its name.
        server: String,
        /// The prompt.
        prompt: Option<String>,
        /// The values that fill in the prompt.
        #[arg(requires = "prompt", value_name = "NAME=VALUE")]
        arguments: Vec<String>,
    },
    /// List the resources that one has, or read one.
    Resources {
        /// Its name.
        server: String,
        /// The resource's address.
        uri: Option<String>,
    },
    /// Start one, and show what it says when it does.
    Logs {
        /// Its name.
        server: String,
    },
    /// Forget one, with what was approved of it.
    Remove {
        /// Its name.
        server: String,
    },
    /// Put a secret into the system keychain, read from standard input, for a value `keychain:NAME`. An empty one removes it.
    Secret {
        /// Its name.
        name: String,
    },
}

/// Who reads what is sent to a server or a service, as the command line names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum AudienceArg {
    /// You alone.
    Mine,
    /// Others.
    Others,
}

impl From<AudienceArg> for Audience {
    fn from(audience: AudienceArg) -> Self {
        match audience {
            AudienceArg::Mine => Self::Mine,
            AudienceArg::Others => Self::Others,
        }
    }
}

/// Server to set up.
#[derive(Debug, clap::Args)]
pub(crate) struct AddServerArgs {
    /// Its name, the first half of its tools' names: letters, digits, `-` and single `_`.
    pub(crate) server: String,
    /// Set it up anew if there is one of this name.
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) settings: ServerArgs,
    /// The id of a client that you were given for signing in to it.
    #[arg(long, value_name = "ID", requires = "url")]
    pub(crate) client_id: Option<String>,
    /// The secret that goes with it: `${NAME}` or `keychain:NAME`.
    #[arg(long, value_name = "REFERENCE", requires = "client_id")]
    pub(crate) client_secret: Option<String>,
    /// Who reads what is sent there: you alone, or others, so that sending something asks where effects are judged.
    #[arg(long, value_name = "WHO", value_enum)]
    pub(crate) audience: Option<AudienceArg>,
    /// The program and its arguments.
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "url")]
    pub(crate) command: Vec<String>,
}

/// How a server is reached and started, beside its command.
#[derive(Debug, clap::Args)]
pub(crate) struct ServerArgs {
    /// The server's address.
    #[arg(long, value_name = "URL", conflicts_with_all = ["command", "env", "folder", "sandbox"])]
    pub(crate) url: Option<String>,
    /// A header of every request. The value may be `${NAME}` or `keychain:NAME`. May be repeated.
    #[arg(long, value_name = "NAME=VALUE", requires = "url")]
    pub(crate) header: Vec<String>,
    /// A variable for the program. The value may be `${NAME}` or `keychain:NAME`. May be repeated.
    #[arg(long, value_name = "NAME=VALUE", requires = "command")]
    pub(crate) env: Vec<String>,
    /// The folder that the program starts in; in a sandbox that of the sandbox if none is named.
    #[arg(long, value_name = "DIR", requires = "command")]
    pub(crate) folder: Option<PathBuf>,
    /// Run the program in a sandbox, where it can change this folder alone.
    #[arg(long, alias = "room", value_name = "DIR", requires = "command")]
    pub(crate) sandbox: Option<PathBuf>,
    /// A host that it may reach from its sandbox. May be repeated.
    #[arg(long, value_name = "HOST", requires = "sandbox")]
    pub(crate) allow_host: Vec<String>,
    /// How long the server may take to start, and to answer, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = protocol::server::mcp_servers::SERVER_TIMEOUT_MS)]
    pub(crate) timeout_ms: u32,
}
