//! The reference of the command line is the one that the program writes.

use super::assert_page_is;
use crate::support::CliFixture;

#[test]
fn the_reference_of_the_command_line_is_what_the_program_writes() {
    let place = CliFixture::new();
    place.run_ok(&["man", "--markdown", "reference"]);
    let written = place.read_file("reference/command-line.md").unwrap();
    assert_page_is("docs/reference/command-line.md", &written);
}
