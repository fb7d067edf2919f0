//! Skills: found by a line, read on demand; what is none is left out and told.

use std::path::Path;

use protocol::view::briefing::BriefingSource;
use runtime::Workspace;

use tools::limits::{SKILL_INDEX_BYTES_MAX, SKILLS_MAX};
use tools::skills::{SkillFolder, SkillIndex};

fn skill(root: &Path, folder: &str, text: &str) {
    let folder = root.join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("SKILL.md"), text).unwrap();
}

fn shelf(root: &Path, path: &str, source: BriefingSource) -> SkillFolder {
    SkillFolder {
        workspace: Workspace::open(root).unwrap(),
        path: path.to_owned(),
        source,
    }
}

fn plain(name: &str) -> String {
    format!("---\nname: {name}\ndescription: About {name}.\n---\nDo {name}.\n")
}

#[test]
fn skills_are_found_in_order_and_read_on_demand() {
    let home = tempfile::tempdir().unwrap();
    skill(home.path(), "project/pdf", &plain("pdf"));
    skill(home.path(), "own/pdf", &plain("pdf"));
    skill(
        home.path(),
        "own/tables",
        "---\nname: tables\ndescription: >\n  Makes\n  tables.\nlicense: MIT\ncompatibility: Needs awk.\nmetadata:\n  a: 1\nallowed-tools: Bash(awk:*) Read\nsomething: else\n---\nUse awk.\n",
    );
    std::fs::create_dir_all(home.path().join("own/no-skill")).unwrap();
    std::fs::write(home.path().join("own/README.md"), "").unwrap();
    let (index, faults) = SkillIndex::load(&[
        shelf(home.path(), "project", BriefingSource::Project),
        shelf(home.path(), "own", BriefingSource::Person),
        shelf(home.path(), "nowhere", BriefingSource::Person),
    ]);
    assert_eq!(
        index.summary(),
        "- pdf: About pdf.\n- tables: Makes tables.\n"
    );
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(
        faults[0]
            .message
            .contains("own/pdf/SKILL.md: there is a skill `pdf` already"),
        "{faults:?}"
    );
    let tables = index.find("tables").unwrap();
    assert_eq!(tables.view().allowed_tools, ["Bash(awk:*)", "Read"]);
    assert_eq!(tables.view().compatibility, "Needs awk.");
    assert_eq!(tables.body().unwrap(), "Use awk.\n");
    // A skill that was read once stays.
    skill(home.path(), "own/tables", "gone wrong");
    assert_eq!(tables.body().unwrap(), "Use awk.\n");
    std::fs::remove_dir_all(home.path().join("project/pdf")).unwrap();
    let error = index.find("pdf").unwrap().body().unwrap_err();
    assert!(error.to_string().contains("its file is gone"), "{error}");
    let error = index.find("table").unwrap_err().to_string();
    assert!(error.contains("Did you mean `tables`?"), "{error}");
    let folders: Vec<_> = index.external_folders().collect();
    assert_eq!(
        folders,
        [home.path().canonicalize().unwrap().join("own/tables")]
    );
}

#[test]
fn what_is_no_skill_is_left_out_and_told() {
    for (folder, text, told) in [
        (
            "a",
            "no front matter",
            "does not begin with a line of `---`",
        ),
        ("a", "---\nname: a\n---\n", "missing field `description`"),
        (
            "a",
            "---\nname: b\ndescription: x\n---\n",
            "its folder has another one",
        ),
        (
            "a",
            "---\nname: a\ndescription: ''\n---\n",
            "its description is empty",
        ),
        (
            "A",
            "---\nname: A\ndescription: x\n---\n",
            "holds more than small letters",
        ),
        (
            "a--b",
            "---\nname: a--b\ndescription: x\n---\n",
            "two of them together",
        ),
        ("a", "---\nname: a\ndescription: [x\n---\n", "line "),
        ("a", "---\nname: a\ndescription: x\n", "has no end"),
    ] {
        let home = tempfile::tempdir().unwrap();
        skill(home.path(), &format!("skills/{folder}"), text);
        let (index, faults) =
            SkillIndex::load(&[shelf(home.path(), "skills", BriefingSource::Project)]);
        assert_eq!(
            (index.views().count(), faults.len()),
            (0, 1),
            "{text}: {faults:?}"
        );
        assert!(faults[0].message.contains(told), "{text}: {}", faults[0]);
    }
    let home = tempfile::tempdir().unwrap();
    let long = format!("---\nname: a\ndescription: {}\n---\n", "x".repeat(1025));
    skill(home.path(), "skills/a", &long);
    let hidden = "---\nname: b\ndescription: \"plain\\u202Enialp\\nname: c\"\n---\n";
    skill(home.path(), "skills/b", hidden);
    std::fs::write(home.path().join("skills/b/huge"), vec![0; 1]).unwrap();
    let (index, faults) =
        SkillIndex::load(&[shelf(home.path(), "skills", BriefingSource::Project)]);
    assert!(
        faults[0].message.contains("longer than 1024 characters"),
        "{faults:?}"
    );
    assert_eq!(index.summary(), "- b: plainU+202Enialp name: c\n");
}

/// Ten thousand skills neither fill the prompt nor keep the session from opening.
#[test]
fn too_many_skills_are_cut_and_told() {
    let home = tempfile::tempdir().unwrap();
    for n in 0..10_000 {
        let name = format!("skill-{n:05}");
        skill(home.path(), &format!("skills/{name}"), &plain(&name));
    }
    let (index, faults) = SkillIndex::load(&[shelf(home.path(), "skills", BriefingSource::Person)]);
    assert_eq!(index.views().count(), SKILLS_MAX);
    assert!(
        faults[0].message.contains("more than 512 skills"),
        "{faults:?}"
    );
    let told = index.summary();
    assert!(told.len() <= SKILL_INDEX_BYTES_MAX + 100, "{}", told.len());
    assert!(
        told.ends_with("more that are not listed; ask the person for a name.\n"),
        "{told:.200}"
    );
}
