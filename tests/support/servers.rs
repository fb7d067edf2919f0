//! Servers and services of a fixture's desk: set up, changed, and told of by one hand for both kinds.

use protocol::op::OpReceipt;
use protocol::query::{Answer, Query};
use protocol::server::apis::{ApiChange, ApiSetup, ApiView};
use protocol::server::mcp_servers::{ServerChange, ServerId, ServerTransport, ServerView};
use protocol::{CallView, Op, UserError};

use crate::{Fixture, expect_variant, shown_effects};

/// A name that both kinds can have.
///
/// # Panics
/// They cannot.
pub fn server_id(name: &str) -> ServerId {
    ServerId::try_from(name.to_owned()).unwrap()
}

/// The setup of a program that is a server of tools.
pub fn stdio_server(command: &str, args: &[&str], env: &[(&str, &str)]) -> ServerTransport {
    let args = args.iter().map(|&arg| arg.to_owned());
    let env = env
        .iter()
        .map(|&(name, value)| (name.to_owned(), value.to_owned()));
    ServerTransport::Stdio {
        command: command.to_owned(),
        args: args.collect(),
        env: env.collect(),
        folder: None,
        sandbox: None,
    }
}

impl Fixture {
    /// Does something with the server `one`.
    ///
    /// # Errors
    /// The desk says no.
    pub async fn change_server(&self, change: ServerChange) -> Result<OpReceipt, UserError> {
        let server = server_id("one");
        self.engine
            .submit(Op::ChangeServer { server, change })
            .await
    }

    /// Sets the server `one` up in this way. It is not switched on by that.
    ///
    /// # Panics
    /// The desk says no.
    pub async fn set_server(&self, transport: ServerTransport) {
        let timeout_ms = 20_000;
        let set = ServerChange::Set {
            transport,
            timeout_ms,
            audience: None,
        };
        self.change_server(set).await.unwrap();
    }

    /// Sets the server `one` up in this way and switches it on.
    ///
    /// # Panics
    /// The desk says no.
    pub async fn add_server(&self, transport: ServerTransport) {
        self.set_server(transport).await;
        let on = ServerChange::Switch { enabled: true };
        self.change_server(on).await.unwrap();
    }

    /// Adds, as `one`, the server whose tools read and change files of the workspace. Its program is
    /// `CARGO_BIN_EXE_mcp_server`, which only the binaries of tests know.
    ///
    /// # Panics
    /// The desk says no.
    pub async fn add_file_server(&self, command: &str) {
        let root = self.workspace_root().display().to_string();
        // So few tools that none of them has to be searched for.
        let transport = stdio_server(command, &["few", "files"], &[("FIXTURE_ROOT", &root)]);
        self.add_server(transport).await;
    }

    /// Adds, as `pets`, the service that a document of the workspace describes.
    ///
    /// # Panics
    /// The desk says no.
    pub async fn add_api(&self, document: &str) {
        let setup = Box::new(ApiSetup {
            document: self.workspace_root().join(document).display().to_string(),
            ..ApiSetup::default()
        });
        self.change_api(ApiChange::Set { setup }).await.unwrap();
        let on = ApiChange::Switch { enabled: true };
        self.change_api(on).await.unwrap();
    }

    /// Does something with the service `pets`.
    ///
    /// # Errors
    /// The desk says no.
    pub async fn change_api(&self, change: ApiChange) -> Result<OpReceipt, UserError> {
        let api = server_id("pets");
        self.engine.submit(Op::ChangeApi { api, change }).await
    }

    /// The servers, and what is wrong with their file.
    ///
    /// # Panics
    /// The desk does not tell.
    pub async fn server_views(&self) -> (Vec<ServerView>, Option<UserError>) {
        expect_variant!(self.query(Query::Servers).await, Answer::Servers { servers, fault } => (servers, fault))
    }

    /// The services, and what is wrong with their file.
    ///
    /// # Panics
    /// The desk does not tell.
    pub async fn api_views(&self) -> (Vec<ApiView>, Option<UserError>) {
        expect_variant!(self.query(Query::Apis).await, Answer::Apis(all) => (all.apis, all.fault))
    }

    /// The names of the tools that one of them brings.
    ///
    /// # Panics
    /// The desk does not tell.
    pub async fn server_tool_names(&self, name: &str) -> Vec<String> {
        let query = Query::Tools { workspace: None };
        let tools = expect_variant!(self.query(query).await, Answer::Tools { tools } => tools);
        let ids = tools.iter().map(|tool| tool.record.id().to_owned());
        let family = format!("{name}__");
        ids.filter(|id| id.starts_with(&family)).collect()
    }
}

/// The only one of a list, whose file is right.
///
/// # Panics
/// There are others, or none, or something is wrong.
pub fn single_view<T>((all, fault): (Vec<T>, Option<UserError>)) -> T {
    assert_eq!(fault, None);
    let [one] = <[T; 1]>::try_from(all).unwrap_or_else(|all| panic!("{} of them", all.len()));
    one
}

/// The changes that a call is shown to have made: each path with what became of it.
///
/// # Panics
/// It is not shown by its effects.
pub fn changed_paths(view: &CallView) -> Vec<String> {
    let changes = shown_effects(view).changes.iter();
    changes.map(ToString::to_string).collect()
}
