//! Tests of heads and summaries on the formats of real files, and on texts that cannot be read.

use std::fmt::Write;

use protocol::view::preview::FileDiff;

use crate::diff::tests::diff;
use crate::limits::{STRUCTURE_BYTES_MAX, STRUCTURE_DEPTH_MAX, STRUCTURE_NODES_MAX};

const JOBS: &str = r#"{
  "jobs": [
    { "id": 4710, "name": "build-docs", "status": "done" },
    {
      "id": 4711,
      "name": "nightly-train",
      "owner": "ada",
      "queue": "gpu",
      "status": "running"
    },
    {
      "id": 4712,
      "name": "evaluate",
      "owner": "ada",
      "queue": "gpu",
      "status": "running"
    }
  ]
}
"#;

/// The heads of all hunks, then the summary.
fn drawn(file: &FileDiff) -> String {
    let mut text = String::new();
    for hunk in &file.hunks {
        writeln!(text, "@@ {}", hunk.section).unwrap();
    }
    for line in &file.summary {
        writeln!(text, "{line}").unwrap();
    }
    if file.summary_more > 0 {
        writeln!(text, "and {} more", file.summary_more).unwrap();
    }
    text
}

#[track_caller]
fn check(path: &str, before: &str, after: &str, expected: &[&str]) {
    let text = drawn(&diff(path, before, after));
    assert_eq!(text.lines().collect::<Vec<_>>(), expected, "{path}");
}

#[test]
fn a_changed_member_is_told_with_its_item() {
    let after = JOBS.replacen("running", "cancelled", 1);
    check(
        "state/jobs.json",
        JOBS,
        &after,
        &[
            "@@ jobs › 4711 “nightly-train” › status",
            "jobs › 4711 “nightly-train” › status: running → cancelled",
        ],
    );
}

#[test]
fn the_same_change_of_several_items_is_told_once() {
    let after = JOBS.replace("running", "cancelled");
    check(
        "jobs.json",
        JOBS,
        &after,
        &[
            "@@ jobs › 4711 “nightly-train” › status",
            "jobs › 4711 “nightly-train”, 4712 “evaluate” › status: running → cancelled",
        ],
    );
}

#[test]
fn an_added_item_is_told_and_not_the_comma_before_it() {
    let after = JOBS.replace(
        "\"running\"\n    }\n  ]",
        "\"running\"\n    },\n    {\n      \"id\": 4713,\n      \"name\": \"publish\"\n    }\n  ]",
    );
    check(
        "jobs.json",
        JOBS,
        &after,
        &["@@ jobs › 4713 “publish”", "jobs › 4713 “publish” added"],
    );
    check(
        "a.json",
        "{\n  \"a\": 1\n}\n",
        "{\n  \"a\": 1,\n  \"b\": 2\n}\n",
        &["@@ b", "b added: 2"],
    );
}

#[test]
fn a_document_in_one_line_is_told_apart() {
    let before = r#"{"jobs":[{"id":1,"status":"running"},{"id":2,"status":"running"}]}"#;
    check(
        "jobs.json",
        before,
        &before.replace(r#"2,"status":"running""#, r#"2,"status":"failed""#),
        &[
            "@@ jobs › 2 › status",
            "jobs › 2 › status: running → failed",
        ],
    );
}

#[test]
fn items_without_a_name_are_counted_and_those_that_only_move_up_are_not_told() {
    check(
        "a.json",
        "{\n  \"ports\": [\n    80,\n    443,\n    8080\n  ]\n}\n",
        "{\n  \"ports\": [\n    443,\n    8080\n  ]\n}\n",
        &["@@ ports › #1", "ports › #1 removed: 80"],
    );
}

#[test]
fn a_text_and_a_number_are_told_apart() {
    check(
        "a.json",
        "{ \"port\": 80 }\n",
        "{ \"port\": \"80\" }\n",
        &["@@ port", "port: 80 → \"80\""],
    );
}

#[test]
fn an_item_is_not_called_by_the_number_of_another_thing() {
    check(
        "a.json",
        "[\n  { \"parent_id\": 3, \"n\": 1 }\n]\n",
        "[\n  { \"parent_id\": 3, \"n\": 2 }\n]\n",
        &["@@ parent_id 3 › n", "parent_id 3 › n: 1 → 2"],
    );
}

#[test]
fn many_different_changes_are_counted() {
    let state = |factor: usize| {
        let jobs: Vec<String> = (1..=9)
            .map(|id| {
                let status = if factor == 1 { "running" } else { "cancelled" };
                format!(
                    "{{\"id\": {id}, \"status\": \"{status}\", \"at\": {}}}",
                    id * factor
                )
            })
            .collect();
        format!("[\n{}\n]\n", jobs.join(",\n"))
    };
    check(
        "jobs.json",
        &state(1),
        &state(2),
        &[
            "@@ 1 › status",
            "1, 2, 3 and 6 more › status: running → cancelled",
            "1, 2, 3 and 6 more › at changed",
        ],
    );
    let settings = |value: u32| {
        let lines: Vec<String> = (0..8)
            .map(|n| format!("\"k{n}\": {{\"v{n}\": {}}}", value + n))
            .collect();
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    };
    check(
        "settings.json",
        &settings(1),
        &settings(20),
        &[
            "@@ k0 › v0",
            "k0 › v0: 1 → 20",
            "k1 › v1: 2 → 21",
            "k2 › v2: 3 → 22",
            "and 5 more",
        ],
    );
}

#[test]
fn lines_of_json_are_told_apart() {
    check(
        "events.jsonl",
        "{\"id\":1,\"state\":\"a\"}\n{\"id\":2,\"state\":\"a\"}\n",
        "{\"id\":1,\"state\":\"a\"}\n{\"id\":2,\"state\":\"b\"}\n",
        &["@@ 2 › state", "2 › state: a → b"],
    );
}

#[test]
fn yaml_is_told_by_its_keys() {
    let before = "services:\n  web:\n    image: nginx\n    env:\n      - name: MODE\n        value: dev\n  db: &db\n    image: postgres\n  copy: *db\n";
    check(
        "compose.yaml",
        before,
        &before.replace("dev", "production"),
        &[
            "@@ services › web › env › “MODE” › value",
            "services › web › env › “MODE” › value: dev → production",
        ],
    );
    let manifests = "kind: Service\nmetadata:\n  name: web\nport: 80\n---\nkind: Service\nmetadata:\n  name: db\nport: 5432\n";
    check(
        "k8s.yaml",
        manifests,
        &manifests.replace("5432", "5433"),
        &["@@ “db” › port", "“db” › port: 5432 → 5433"],
    );
    check(
        "a.yml",
        "run: |\n  one\n  two\nnext: 1\n",
        "run: |\n  one\n  three\nnext: 1\n",
        &["@@ run", "run: one two  → one three "],
    );
}

#[test]
fn toml_and_lock_files_are_told_by_their_tables() {
    let before = "[package]\nname = \"app\"\n\n[dependencies]\nserde = { version = \"1.0\", features = [\"derive\"] }\n\n[profile.release]\nlto = true\n";
    check(
        "Cargo.toml",
        before,
        &before.replace("1.0", "1.1").replace("true", "false"),
        &[
            "@@ dependencies › serde › version",
            "dependencies › serde › version: 1.0 → 1.1",
            "profile › release › lto: true → false",
        ],
    );
    let lock = "version = 4\n\n[[package]]\nname = \"itoa\"\nversion = \"1.0.1\"\n\n[[package]]\nname = \"rand\"\nversion = \"0.8.0\"\n\n[[package]]\nname = \"rand\"\nversion = \"0.9.0\"\n";
    check(
        "Cargo.lock",
        lock,
        &lock.replace("0.9.0", "0.9.1"),
        &[
            "@@ package › “rand” #2 › version",
            "package › “rand” #2 › version: 0.9.0 → 0.9.1",
        ],
    );
    let lock = "{\n  \"packages\": {\n    \"node_modules/tar\": {\n      \"version\": \"6.1.0\"\n    }\n  }\n}\n";
    check(
        "package-lock.json",
        lock,
        &lock.replace("6.1.0", "6.2.0"),
        &[
            "@@ packages › node_modules/tar › version",
            "packages › node_modules/tar › version: 6.1.0 → 6.2.0",
        ],
    );
}

#[test]
fn xml_is_told_by_its_elements() {
    let before = "<?xml version=\"1.0\"?>\n<project>\n  <dependency>\n    <artifactId>junit</artifactId>\n    <version>4.12</version>\n  </dependency>\n  <dependency>\n    <artifactId>guava</artifactId>\n    <version>31</version>\n  </dependency>\n  <user id=\"7\" role=\"reader\"/>\n</project>\n";
    check(
        "pom.xml",
        before,
        &before.replace("4.12", "4.13").replace("reader", "admin"),
        &[
            "@@ project › dependency “junit” › version",
            "project › dependency “junit” › version: 4.12 → 4.13",
            "project › user › role: reader → admin",
        ],
    );
}

#[test]
fn a_table_is_told_by_row_and_column() {
    let before = "sku,name,price\nA-1,\"Lamp, red\",20\nA-2,Desk,300\nA-3,Chair,80\n";
    check(
        "prices.csv",
        before,
        &before.replace("300", "30"),
        &["@@ A-2 › price", "A-2 › price: 300 → 30"],
    );
    check(
        "prices.tsv",
        "sku\tprice\nA\t1\n",
        "sku\tprice\nA\t1\nB\t2\n",
        &["@@ B", "B added"],
    );
}

#[test]
fn a_notebook_is_told_by_its_cells() {
    let before = "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"outputs\": [],\n   \"source\": [\"import os\\n\"]\n  },\n  {\n   \"cell_type\": \"code\",\n   \"outputs\": [],\n   \"source\": [\n    \"x = 1\\n\",\n    \"y = 2\"\n   ]\n  }\n ],\n \"nbformat\": 4\n}\n";
    check(
        "train.ipynb",
        before,
        &before.replace("y = 2", "y = 3"),
        &["@@ cell 2", "cell 2 changed"],
    );
}

#[test]
fn markdown_is_told_by_its_headings() {
    let before = "# Guide\n\nIntro.\n\n## Install\n\n```sh\n# not a heading\nrun me\n```\n\n## Use\n\nPress it.\n";
    check(
        "README.md",
        before,
        &before.replace("run me", "run it"),
        &["@@ Guide › Install", "Guide › Install changed"],
    );
}

#[test]
fn settings_are_told_by_their_section() {
    check(
        "app.ini",
        "[server]\nport = 80\n[client]\nport = 90\n",
        "[server]\nport = 80\n[client]\nport = 91\n",
        &["@@ client › port", "client › port: 90 → 91"],
    );
}

#[test]
fn code_is_told_by_its_definitions() {
    for (path, before, section) in [
        (
            "a.rs",
            "mod inner {\n    impl<T> Parser<T> for X {\n        /// Parses.\n        pub(crate) async fn parse(&self) -> T {\n            old\n        }\n    }\n}\n",
            "mod inner › impl<T> Parser<T> for X › fn parse",
        ),
        (
            "a.py",
            "import os\n\nclass Store(Base):\n    \"\"\"Doc.\"\"\"\n\n    @cached\n    def load(self, path):\n        old\n\n    def save(self):\n        pass\n",
            "class Store › def load",
        ),
        (
            "a.ts",
            "export class Store {\n  private load(path: string): void {\n    if (path) {\n      old\n    }\n  }\n}\n",
            "class Store › load",
        ),
        (
            "a.js",
            "export const parse = (text) => {\n  return old\n}\n",
            "const parse",
        ),
        (
            "a.go",
            "func (p *Parser) Parse(text string) error {\n\told\n}\n",
            "func (p *Parser) Parse",
        ),
        (
            "A.java",
            "public final class A {\n    @Override\n    public int size(int a) {\n        old;\n    }\n}\n",
            "class A › size",
        ),
        (
            "a.c",
            "#include <x.h>\n\nstatic int\nmain(int argc, char **argv)\n{\n\tif (argc) {\n\t\told;\n\t}\nout:\n\treturn 0;\n}\n",
            "main",
        ),
        (
            "a.rb",
            "module M\n  def go(x)\n    old\n  end\nend\n",
            "module M › def go",
        ),
        ("a.sh", "deploy() {\n  old\n}\n", "deploy"),
        (
            "a.css",
            "@media print {\n  #main > a {\n    old\n  }\n}\n",
            "@media print › #main > a",
        ),
        (
            "a.svelte",
            "<script lang=\"ts\">\n  function go(): void {\n    old\n  }\n</script>\n",
            "<script lang=\"ts\"> › function go",
        ),
    ] {
        check(
            path,
            before,
            &before.replace("old", "new"),
            &[&format!("@@ {section}"), &format!("{section} changed")],
        );
    }
}

#[test]
fn an_added_function_is_told_and_what_stands_outside_of_all() {
    let before = "use a;\n\nfn one() {\n    a();\n}\n";
    check(
        "a.rs",
        before,
        "use b;\n\nfn one() {\n    a();\n}\n\n/// Twice.\nfn two() {\n    b();\n}\n\nconst C: u8 = 1;\n",
        &[
            "@@ fn two",
            "top level changed",
            "fn two, const C: u8 added",
        ],
    );
}

#[test]
fn a_whole_new_file_has_no_summary() {
    check("jobs.json", "", JOBS, &["@@ "]);
    check("jobs.json", JOBS, "", &["@@ "]);
}

#[test]
fn secrets_are_masked_in_heads_and_summaries() {
    check(
        "a.json",
        "{ \"db\": { \"password\": \"correct-horse-1\", \"n\": 1 } }\n",
        "{ \"db\": { \"password\": \"correct-horse-2\", \"n\": 1 } }\n",
        &["@@ db › password", "db › password: *** → ***"],
    );
    let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let text = drawn(&diff(
        "a.json",
        &format!("[\n{{ \"key\": \"{token}\", \"n\": 1, \"at\": \"x\" }}\n]\n"),
        &format!("[\n{{ \"key\": \"{token}\", \"n\": 2, \"at\": \"{token}\" }}\n]\n"),
    ));
    assert!(!text.contains("16C7e42F"), "{text}");
    assert!(text.contains("*** › at: x → ***"), "{text}");
}

#[test]
fn hidden_characters_are_named() {
    check(
        "a.json",
        "{\n  \"a\u{202e}b\": \"x\"\n}\n",
        "{\n  \"a\u{202e}b\": \"y\u{200b}\\n\"\n}\n",
        &["@@ aU+202Eb", "aU+202Eb: x → yU+200B "],
    );
}

/// Texts that no structure is read of still have their difference.
#[test]
fn what_cannot_be_read_has_no_head() {
    let deep = |depth: usize| format!("{}{}\n", "[".repeat(depth), "]".repeat(depth));
    let many = format!("[\n{}1]\n", "1,\n".repeat(STRUCTURE_NODES_MAX));
    let large = format!("{{\n\"a\": \"{}\"\n}}\n", "x".repeat(STRUCTURE_BYTES_MAX));
    for (path, before) in [
        ("a.json", "{ \"a\": \n".to_owned()),
        ("a.json", deep(STRUCTURE_DEPTH_MAX + 1)),
        ("a.json", deep(100_000)),
        ("a.json", many),
        ("a.json", large),
        ("a.yaml", "a: [1\nb: }\n".to_owned()),
        ("a.yaml", deep(100_000)),
        ("a.yaml", format!("{}x\n", "- ".repeat(100_000))),
        ("a.toml", "[a\nb = \n".to_owned()),
        ("a.toml", format!("a = {}", deep(100_000))),
        ("a.xml", "<a><b></a>\n".to_owned()),
        ("a.xml", "<a>".repeat(100_000)),
        ("a.ipynb", "[]\n".to_owned()),
        ("a.md", "no heading\n".to_owned()),
        ("a.rs", "let x = 1;\n".to_owned()),
        ("a.txt", "fn not_code() {\n}\n".to_owned()),
    ] {
        let file = diff(path, &before, &format!("{before}old\n"));
        assert_eq!((file.summary, file.summary_more), (vec![], 0), "{path}");
        assert_eq!(file.hunks.len(), 1, "{path}");
        assert_eq!(file.hunks[0].section, "", "{path}");
    }
}

/// A change that leaves the new text unreadable is told by the old one.
#[test]
fn a_broken_document_is_told_by_how_it_was() {
    let after = JOBS.replacen("\"running\"", "\"cancelled", 1);
    check(
        "jobs.json",
        JOBS,
        &after,
        &["@@ jobs › 4711 “nightly-train” › status"],
    );
}
