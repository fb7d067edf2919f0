//! Measures Countersign beside its peers, each pair in alternation on one machine: `cargo run --release -p bench [gate|contract|decide|backtest|search|reach|services|servers|history|room|start]`.
//!
//! **It is no test**: figures depend on the machine, so nothing fails by them. A ratio that misses its aim is printed as
//! it is.
//!
//! Start reading at [`pairs`] (how two sides are compared), then `gate.rs`.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program that sets up folders, starts peers and prints what it saw"
)]

mod backtest;
mod contract;
mod decide;
mod gate;
mod history;
mod ours;
mod pairs;
mod phi;
mod reach;
#[cfg(target_os = "linux")]
mod room;
#[cfg(target_os = "linux")]
mod screen;
mod search;
mod servers;
mod services;
#[cfg(target_os = "linux")]
mod start;
mod table;
mod tree;

use std::error::Error;
use std::process::ExitCode;

/// Any failure ends the program with its words.
type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Outcome<()> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => gate::run()
            .and_then(|()| contract::run())
            .and_then(|()| decide::run())
            .and_then(|()| backtest::run())
            .and_then(|()| search::run())
            .and_then(|()| reach::run())
            .and_then(|()| services::run())
            .and_then(|()| servers::run())
            .and_then(|()| history::run()),
        ["contract"] => contract::run(),
        ["decide"] => decide::run(),
        ["backtest"] => backtest::run(),
        ["search"] => search::run(),
        ["reach"] => reach::run(),
        ["services"] => services::run(),
        ["servers"] => servers::run(),
        [servers::AS_SERVER] => servers::answer(),
        ["history"] => history::run(),
        #[cfg(target_os = "linux")]
        ["room"] => room::run(),
        #[cfg(target_os = "linux")]
        ["start"] => start::run(),
        ["gate"] => gate::run(),
        ["gate", side, turns, calls, rounds] => gate::repeat(side, turns, calls, rounds),
        _ => Err(
            "say `gate`, `contract`, `decide`, `backtest`, `search`, `reach`, `services`, `servers`, `history`, `room` or `start` (both on Linux), or nothing for the first nine"
                .into(),
        ),
    }
}
