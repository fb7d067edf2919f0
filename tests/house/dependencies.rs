//! The crates that the app is built on keep the rules of `deny.toml`: licences, and one version of each large crate.
//!
//! `cargo xtask audit` checks the same for every system with cargo-deny, and known vulnerabilities. This test looks at what is
//! built for this system; cargo downloads the manifests of the benches, which no test builds.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use cargo_metadata::{CargoOpt, Metadata, MetadataCommand, Package, PackageId};
use spdx::Expression;
use toml::{Table, Value};

fn deny_rules() -> Table {
    let text =
        std::fs::read_to_string(crate::house::source_rules::repo_root().join("deny.toml")).unwrap();
    text.parse().unwrap()
}

/// The crates that a list of `deny.toml` names, `name` or `name@version`.
fn crate_names(list: &Value) -> BTreeSet<&str> {
    let entries = list.as_array().unwrap().iter();
    entries
        .map(|entry| entry["crate"].as_str().unwrap())
        .collect()
}

/// The packages that are built for this system from the workspace, its benches left out.
fn built_packages() -> Vec<Package> {
    let rustc = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(rustc.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let metadata = MetadataCommand::new()
        .current_dir(crate::house::source_rules::repo_root())
        .features(CargoOpt::AllFeatures)
        .other_options([
            "--locked".to_owned(),
            format!("--filter-platform={}", host.unwrap()),
        ])
        .exec()
        .unwrap();
    let reachable = reachable_packages(&metadata);
    let packages = metadata.packages.into_iter();
    packages
        .filter(|package| reachable.contains(&package.id))
        .collect()
}

/// The ids of the workspace's packages but for `bench`, and of everything that they depend on.
fn reachable_packages(metadata: &Metadata) -> BTreeSet<PackageId> {
    let graph = metadata.resolve.as_ref().unwrap();
    let dependencies: BTreeMap<&PackageId, &[PackageId]> = graph
        .nodes
        .iter()
        .map(|node| (&node.id, node.dependencies.as_slice()))
        .collect();
    let members = metadata.workspace_packages().into_iter();
    let mut open: Vec<&PackageId> = members
        .filter(|package| package.name.as_str() != "bench")
        .map(|package| &package.id)
        .collect();
    let mut reachable = BTreeSet::new();
    while let Some(id) = open.pop() {
        if reachable.insert(id.clone()) {
            open.extend(dependencies[id]);
        }
    }
    reachable
}

#[test]
fn licences_are_allowed() {
    let rules = deny_rules();
    let licenses = &rules["licenses"];
    let allowed = licenses["allow"].as_array().unwrap();
    let allowed: BTreeSet<&str> = allowed.iter().map(|name| name.as_str().unwrap()).collect();
    let exceptions = crate_names(&licenses["exceptions"]);
    let packages = built_packages();
    assert!(packages.len() > 300, "the graph was not read");
    let refused: Vec<String> = packages
        .iter()
        .filter(|package| !exceptions.contains(package.name.as_str()))
        .filter_map(|package| {
            let written = package.license.clone().unwrap_or_default();
            let fits =
                Expression::parse_mode(&written, spdx::ParseMode::LAX).is_ok_and(|license| {
                    license.evaluate(|one| allowed.contains(one.to_string().as_str()))
                });
            (!fits).then(|| format!("{} {}: `{written}`", package.name, package.version))
        })
        .collect();
    assert_eq!(refused, Vec::<String>::new(), "not allowed by deny.toml");
}

#[test]
fn large_crates_stand_once() {
    let rules = deny_rules();
    let once = crate_names(&rules["bans"]["deny"]);
    let skipped = crate_names(&rules["bans"]["skip"]);
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in built_packages() {
        let (name, version) = (package.name.to_string(), package.version.to_string());
        if once.contains(name.as_str()) && !skipped.contains(format!("{name}@{version}").as_str()) {
            versions.entry(name).or_default().insert(version);
        }
    }
    assert!(versions.contains_key("reqwest"), "{versions:?}");
    versions.retain(|_, versions| versions.len() > 1);
    assert_eq!(versions, BTreeMap::new(), "more than one version");
}

/// `S001-56`: what reads OpenAPI documents is a feature of the engine's program that can be left out, and is in by default. That
/// it is built without it is a lint of its own (`cargo xtask test --only lint`). The app's window has no engine.
#[test]
fn openapi_is_an_optional_feature() {
    let holds_openapi = |package: &str, features: &[&str]| {
        let told = Command::new(env!("CARGO"))
            .current_dir(crate::house::source_rules::repo_root())
            .args(["tree", "--locked", "--prefix=none", "--edges=normal,build"])
            .args(["--format={p}", "--package", package])
            .args(features)
            .output()
            .unwrap();
        let tree = String::from_utf8(told.stdout).unwrap();
        assert!(tree.starts_with(package), "{tree}");
        tree.lines().any(|line| line.starts_with("openapi v"))
    };
    assert!(holds_openapi("cli", &[]), "it is in by default");
    let without = holds_openapi("cli", &["--no-default-features"]);
    assert!(!without, "it cannot be left out");
    assert!(
        !holds_openapi("countersign-desktop", &[]),
        "the window has it"
    );
}
