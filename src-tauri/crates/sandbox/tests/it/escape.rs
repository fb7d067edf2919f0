//! The escape suite: each attempt to reach out of a sandbox is made once without it, where it succeeds, and once
//! inside, where it must not.

use crate::host_fixture::{Outside, Person, Way};
use crate::runner::{Programs, has_sandbox};
use crate::{escape_attempts, system_calls};

/// Attempts by system calls: this program runs itself with them, as a test that does nothing unless it gets a name.
#[test]
fn attempt() {
    if let Ok(name) = std::env::var("ATTEMPT") {
        std::process::exit(i32::from(!system_calls::succeeds(&name)));
    }
}

#[test]
fn nothing_reaches_out_of_a_sandbox() {
    reaches_out(Person::Me);
}

/// The same once more for somebody who is not root: other ways are open then, and others closed.
#[test]
fn nothing_of_an_ordinary_person_reaches_out_of_a_sandbox() {
    match is_root() {
        true => reaches_out(Person::Nobody),
        false => println!("the other test has it: nobody is root here"),
    }
}

fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

fn reaches_out(person: Person) {
    if !has_sandbox() {
        return;
    }
    let as_root = is_root() && person == Person::Me;
    let programs = Programs::new();
    let mut failed = Vec::new();
    let (mut tried, mut left_out) = (0, Vec::new());
    for attempt in escape_attempts::ATTEMPTS {
        if attempt.for_root && !as_root {
            left_out.push(attempt.name);
            continue;
        }
        if !Outside::new(person).try_it(&programs, attempt, Way::Plain) {
            failed.push(format!(
                "{}: does not succeed without a sandbox either",
                attempt.name
            ));
            continue;
        }
        tried += 1;
        if Outside::new(person).try_it(&programs, attempt, Way::Sandbox) {
            failed.push(format!("{}: succeeded in the sandbox", attempt.name));
        }
    }
    println!("{tried} attempts; left out, because only root could: {left_out:?}");
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(tried >= 60, "{tried}");
}
