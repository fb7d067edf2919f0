//! `attention`: what the person's attention was spent on, as text and as JSON.

use crate::support::CliFixture;

#[test]
fn a_report_of_the_demo_names_questions_and_what_passed() {
    let place = CliFixture::new();
    let empty = place.run_ok(&["attention"]);
    assert!(empty.contains("\n0 questions about 0 calls\n"), "{empty}");

    let data = place.data().display().to_string();
    place.run_ok(&["demo", "--data-dir", &data]);
    let report = place.run_json(&["attention", "--since", "1d"]);
    let asked = report["questions"]["total"].as_u64().unwrap();
    let answered = report["questions"]["answered"].as_u64().unwrap();
    assert!(asked > 0, "{report}");
    assert_eq!(answered, asked, "{report}");
    let sum = |groups: &str| -> u64 {
        let groups = report["questions"][groups].as_array().unwrap();
        let counts = groups.iter().map(|group| group["questions"].as_u64());
        counts.map(Option::unwrap).sum()
    };
    assert_eq!((sum("by_cause"), sum("by_tool")), (asked, asked));

    let text = place.run_ok(&["attention"]);
    let (calls, unasked) = (&report["calls"], &report["unasked"]["total"]);
    for expected in [
        format!("\n{asked} questions about {calls} calls\n"),
        "\nWhat asked\n".to_owned(),
        "  a rule  ".to_owned(),
        "\nAbout what\n".to_owned(),
        " in less than a second after the card was shown\n".to_owned(),
        format!("\n{unasked} calls ran without a question\n"),
    ] {
        assert!(text.contains(&expected), "{expected:?} is not in\n{text}");
    }
}

#[test]
fn a_time_that_makes_no_sense_is_a_usage_error() {
    let place = CliFixture::new();
    let ran = place.run(&["attention", "--since", "yesterday"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("`yesterday` is no point in time."),
        "{}",
        ran.err
    );
}
