//! The fake model endpoint that other people wrote (npm `@copilotkit/aimock`), as a process of a test. Each test that
//! needs it takes this file in.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The running endpoint; it ends with the test.
pub struct FakeEndpoint {
    child: Child,
    /// Address of the endpoint, with a slash at its end.
    pub base_url: String,
}

impl FakeEndpoint {
    /// Starts the endpoint with the answers in a file or a folder. `root` is the root of the repository.
    pub fn start(root: &Path, answers: &Path) -> Self {
        let program = root.join("tests/aimock/node_modules/@copilotkit/aimock/dist/cli.js");
        assert!(
            program.is_file(),
            "The fake endpoint is not installed. Run `npm ci` in tests/aimock, or set COUNTERSIGN_NO_AIMOCK=1 to go without."
        );
        let mut child = Command::new("node")
            .arg(&program)
            .args(["-p", "0", "-f"])
            .arg(answers)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| {
                panic!("node cannot be started ({error}). Install Node, or set COUNTERSIGN_NO_AIMOCK=1.")
            });
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines
            .find_map(|line| {
                let line = line.unwrap();
                let (_, address) = line.split_once("listening on ")?;
                Some(address.trim().to_owned())
            })
            .unwrap_or_else(|| panic!("the fake endpoint ended before it listened"));
        // Later output is drained, so that it never waits for us.
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            child,
            base_url: format!("{address}/"),
        }
    }
}

impl Drop for FakeEndpoint {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
