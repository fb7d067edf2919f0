//! Language servers that other people wrote, asked through the whole pipeline; installed by `cargo xtask test --peers`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests end where they fail, and set up real folders"
)]

use std::path::Path;

use agent::Host;
use protocol::languages::LanguageServer;
use protocol::{CallState, Op, Settings};
use serde_json::{Value, json};
use support::{Fixture, call};

const GEOMETRY: &str = "def area(width: int, height: int) -> int:\n    return width * height\n";
/// `{}` stands before the name, so that columns count.
const MAIN: &str = "from geometry import area\n\n\ndef total(sizes: list[tuple[int, int]]) -> int:\n    \
    return sum(len(\"{}\") * area(w, h) for w, h in sizes)\n\n\nprint(total([(1, 2)]))\n";
const BROKEN: &str = "def broken(:\n    return 1\n";

/// Pyright of npm, by its file.
fn pyright() -> LanguageServer {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("peers/node_modules/pyright/langserver.index.js");
    server("pyright", "node", &[&file.display().to_string(), "--stdio"])
}

/// The one of PyPI that goes by Jedi.
fn jedi() -> LanguageServer {
    let root = std::env::var("COUNTERSIGN_PEERS");
    let root = root
        .expect("run these tests by `cargo xtask test --peers`, which installs what they talk to");
    let file = Path::new(&root).join("bin/jedi-language-server");
    server("jedi", &file.display().to_string(), &[])
}

fn server(id: &str, command: &str, args: &[&str]) -> LanguageServer {
    LanguageServer {
        id: id.to_owned(),
        enabled: true,
        command: command.to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        files: [("py".to_owned(), "python".to_owned())].into(),
    }
}

fn lsp(action: &str, path: &str, more: Value) -> Value {
    let mut arguments = json!({ "action": action, "path": path });
    let more = more.as_object().unwrap().clone();
    arguments.as_object_mut().unwrap().extend(more);
    call("lsp", arguments)
}

/// A small project whose agent makes these calls with the help of this server.
async fn project(server: LanguageServer, main: &str, calls: Vec<Value>) -> Fixture {
    let mut turns = calls;
    turns.push(json!({ "text": "Done." }));
    let host = Host::Headless { approve_all: false };
    let mut desk = Fixture::with_host(turns.into(), host).await;
    desk.file("geometry.py", GEOMETRY)
        .file("main.py", main)
        .file("broken.py", BROKEN);
    let settings = Box::new(Settings {
        language_servers: vec![server],
        ..Settings::default()
    });
    desk.desk
        .submit(Op::SetSettings { settings })
        .await
        .unwrap();
    desk
}

/// `S002-32`: definitions, references, problems, symbols and a renaming by servers as they are.
#[tokio::test(flavor = "multi_thread")]
async fn s002_32_servers_of_others_know_a_project() {
    // The renaming of the second one counts characters, whatever was agreed: there each is one unit.
    for (server, before) in [(pyright(), "\u{1f600}"), (jedi(), "x")] {
        let main = MAIN.replace("{}", before);
        let id = server.id.clone();
        let area = json!({ "line": 5, "symbol": "area" });
        let rename =
            json!({ "path": "main.py", "line": 5, "symbol": "area", "new_name": "surface" });
        let calls = vec![
            lsp("definition", "main.py", area),
            lsp(
                "references",
                "geometry.py",
                json!({ "line": 1, "symbol": "area" }),
            ),
            lsp("symbols", "main.py", json!({})),
            lsp("diagnostics", "broken.py", json!({})),
            lsp("diagnostics", "geometry.py", json!({})),
            call("lsp_rename", rename),
            lsp(
                "definition",
                "main.py",
                json!({ "line": 5, "symbol": "surface" }),
            ),
        ];
        let mut desk = project(server, &main, calls).await;
        desk.play().await;
        let outcomes = desk.outcomes().await;
        for (state, said) in &outcomes {
            assert_eq!(*state, CallState::Done, "{id}: {said}");
        }
        let said: Vec<&str> = outcomes.iter().map(|(_, said)| said.as_str()).collect();
        assert_eq!(
            said[0], "geometry.py:1:5: def area(width: int, height: int) -> int:",
            "{id}"
        );
        let uses: Vec<&str> = said[1]
            .lines()
            .filter_map(|line| line.split(": ").next())
            .collect();
        assert_eq!(
            uses,
            ["geometry.py:1:5", "main.py:1:22", "main.py:5:27"],
            "{id}: {}",
            said[1]
        );
        assert!(said[2].contains("function total 4"), "{id}: {}", said[2]);
        assert!(
            said[3].contains("broken.py:1:12: error"),
            "{id}: {}",
            said[3]
        );
        assert_eq!(said[4], "No problems were found.", "{id}");
        let renamed = |text: &str| text.replace("area", "surface");
        assert_eq!(
            desk.read("geometry.py").unwrap(),
            renamed(GEOMETRY),
            "{id}: {}",
            said[5]
        );
        assert_eq!(desk.read("main.py").unwrap(), renamed(&main), "{id}");
        assert!(
            said[6].starts_with("geometry.py:1:5: def surface("),
            "{id}: {}",
            said[6]
        );
    }
}
