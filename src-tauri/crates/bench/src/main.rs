//! Measures Countersign beside its peers, each pair in alternation on one machine: `cargo run --release -p bench [gate|contract|decide|backtest|search|reach|services|servers|history|cards|sandbox|commands|builds|hooks|start|window|soak|field]`.
//!
//! **It is no test**: the figures depend on the machine, so no figure makes it fail. A ratio that misses its target is
//! printed as it is.
//!
//! Start reading at [`paired_timing`] (how two sides are compared), then `agent_loop.rs`.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program that sets up folders, starts peers and prints what it saw"
)]

#[cfg(target_os = "linux")]
mod agent_hooks;
mod agent_loop;
#[cfg(target_os = "linux")]
mod app_start;
mod backtest;
#[cfg(target_os = "linux")]
mod command_desk;
#[cfg(target_os = "linux")]
mod command_gate;
#[cfg(target_os = "linux")]
mod dry_run;
mod engine_loop;
#[cfg(target_os = "linux")]
mod field;
mod file_search;
mod mcp_calls;
mod openapi_tools;
mod paired_timing;
mod phi_loop;
mod policy_evaluation;
#[cfg(target_os = "linux")]
mod process_tree;
mod results_table;
mod search_tree;
mod tool_contract;
mod tool_search;
mod undo_history;
#[cfg(target_os = "linux")]
mod virtual_screen;
mod waiting_cards;
#[cfg(target_os = "linux")]
mod window_scale;

use std::error::Error;
use std::process::ExitCode;

/// Result of a benchmark; any error ends the program with its message.
type BenchResult<T> = Result<T, Box<dyn Error + Send + Sync>>;

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

fn run(words: &[String]) -> BenchResult<()> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => agent_loop::run()
            .and_then(|()| tool_contract::run())
            .and_then(|()| policy_evaluation::run())
            .and_then(|()| backtest::run())
            .and_then(|()| file_search::run())
            .and_then(|()| tool_search::run())
            .and_then(|()| openapi_tools::run())
            .and_then(|()| mcp_calls::run())
            .and_then(|()| undo_history::run())
            .and_then(|()| waiting_cards::run()),
        ["contract"] => tool_contract::run(),
        ["decide"] => policy_evaluation::run(),
        ["backtest"] => backtest::run(),
        ["search"] => file_search::run(),
        ["reach"] => tool_search::run(),
        ["services"] => openapi_tools::run(),
        ["servers"] => mcp_calls::run(),
        [mcp_calls::SERVER_ARGUMENT] => mcp_calls::run_server(),
        ["history"] => undo_history::run(),
        ["cards"] => waiting_cards::run(),
        #[cfg(target_os = "linux")]
        ["sandbox"] => dry_run::run(),
        #[cfg(target_os = "linux")]
        ["commands"] => command_gate::run_readers(),
        #[cfg(target_os = "linux")]
        ["commands", command, files, rounds] => {
            command_gate::run_repeatedly(command, files, rounds)
        }
        #[cfg(target_os = "linux")]
        ["builds"] => command_gate::run_builds(),
        #[cfg(target_os = "linux")]
        ["hooks"] => agent_hooks::run(),
        #[cfg(target_os = "linux")]
        ["start"] => app_start::run(),
        #[cfg(target_os = "linux")]
        ["window"] => window_scale::run(),
        #[cfg(target_os = "linux")]
        ["window", "--home", folder] => window_scale::run_in(folder.as_ref()),
        #[cfg(target_os = "linux")]
        ["soak"] => window_scale::soak::run(),
        #[cfg(target_os = "linux")]
        ["field"] => field::run(),
        ["gate"] => agent_loop::run(),
        ["gate", side, turns, calls, rounds] => agent_loop::run_repeatedly(side, turns, calls, rounds),
        _ => Err(
            "say `gate`, `contract`, `decide`, `backtest`, `search`, `reach`, `services`, `servers`, `history`, `cards`, `sandbox`, `commands`, `builds`, `hooks`, `start`, `window`, `soak` or `field` (the last eight on Linux), or nothing for the first ten"
                .into(),
        ),
    }
}
