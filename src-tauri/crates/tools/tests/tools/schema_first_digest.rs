//! The digest by which unchanged tool files are recognised.

use runtime::Workspace;
use tools::custom;

use crate::support::Bench;

/// Unchanged files need not be parsed again: everything that a load depends on counts, and nothing else.
#[test]
fn the_digest_changes_with_all_that_a_load_goes_by() {
    let bench = Bench::new();
    let person = Workspace::open(&bench.outside("data")).unwrap();
    let digest = || custom::digest_sources(&bench.hands.workspace, &person);
    let mut known = vec![digest()];
    bench.put("src/main.rs", b"fn main() {}");
    assert_eq!(digest(), known[0]);
    for (path, text) in [
        (".countersign/tools/one.json", "{}"),
        (".countersign/tools/one.json", "[]"),
        (".countersign/tools/two.json", "[]"),
        (".countersign/activities/one.sh", "#!/bin/sh\n"),
        (".countersign/delegates/one.json", "{}"),
        (".countersign/delegates/one.json", "{ }"),
    ] {
        bench.put(path, text.as_bytes());
        let now = digest();
        assert!(!known.contains(&now), "{path}");
        assert_eq!(now, digest());
        known.push(now);
    }
    std::fs::remove_file(bench.at(".countersign/tools/two.json")).unwrap();
    assert!(!known.contains(&digest()));
}
