//! `countersign`: the headless host and every inspection subcommand.
//!
//! Runs the same engine as the window, for terminals, scripts, continuous integration and servers. On a terminal, `run`
//! asks there; where nobody can be asked, calls that ask are denied, unless the caller approved them beforehand.
//!
//! **It decides nothing and opens no database: it hands a request to the engine and prints the result.**
//!
//! The exit code tells the outcome:
//!
//! | code | meaning |
//! | --- | --- |
//! | 0 | done |
//! | 1 | the run or the call failed, or what was asked could not be done |
//! | 2 | usage: the command line, or something that it names, is wrong |
//! | 3 | denied: the call, or at least one call of the run |
//! | 4 | the record, the settings or the rules cannot be used |
//! | 5 | the run came to one of its limits |
//! | 6 | an undo or redo would overwrite what changed since |
//! | 130 | interrupted by the keyboard |
//!
//! Start reading at [`args`] (the command line) and `commands/run.rs` (the longest path).

mod args;
mod commands;
mod effects_json;
mod event_printer;
mod exit;
mod json_lines;
mod limits;
mod output;
mod previews;
mod short_ids;
mod table;
mod terminal;
mod transcript;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::FromArgMatches;

use crate::args::{CliArgs, CliCommand};
use crate::exit::CliError;
use crate::output::{OutputOptions, OutputWriter};

fn main() -> ExitCode {
    // Usage errors, --help and --version are answered by the parser: code 2 for the first, 0 for the others.
    let matches = args::build_command().get_matches();
    let args = CliArgs::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    init_logging(&args);
    let denies = matches!(args.command, CliCommand::Hook(_));
    if denies {
        deny_on_panic();
    }
    let mut out = OutputWriter::new(OutputOptions {
        json: args.json,
        quiet: args.quiet,
        color: args.color,
    });
    if let Some(folder) = &args.chdir
        && let Err(error) = std::env::set_current_dir(folder)
    {
        let message = format!("The folder {} cannot be entered.", folder.display());
        let fault = CliError::usage(message, "Check the path after -C.").with_cause(&error);
        return ExitCode::from(out.report_error(&fault) as u8);
    }
    // Whose standard input may be read when the work is done.
    let serves = matches!(args.command, CliCommand::Acp(_) | CliCommand::Gateway(_));
    let ended = match tokio::runtime::Runtime::new() {
        Ok(runtime) => {
            let ended = runtime.block_on(commands::run_command(args, &mut out));
            if serves {
                // A read of standard input goes on until something comes, and nothing may come any more.
                runtime.shutdown_background();
            }
            ended
        }
        Err(error) => Err(CliError::failure("The program could not start.").with_cause(&error)),
    };
    match ended {
        Ok(code) => ExitCode::from(code as u8),
        Err(ending) => {
            let reason = out.report_error(&ending);
            ExitCode::from(if denies { HOOK_DENIES } else { reason as u8 })
        }
    }
}

/// Exit code by which every agent takes a call as denied by its hook.
const HOOK_DENIES: u8 = 2;

/// Makes a panic deny the call that an agent asks about: a hook that fails in another way lets it pass.
#[expect(
    clippy::exit,
    clippy::print_stderr,
    reason = "the exit code and standard error are the answer"
)]
fn deny_on_panic() {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("Countersign broke off by a fault of its own, so it denies the call. {panic}");
        std::process::exit(HOOK_DENIES.into());
    }));
}

/// Sets up logging, on request only: errors are reported once, as an error message.
fn init_logging(args: &CliArgs) {
    // Whose standard output is a client's tells in the log what the client did wrong.
    let level = match (args.verbose, &args.command) {
        (0, CliCommand::Acp(_) | CliCommand::Gateway(_)) => "warn",
        (0, _) => "off",
        (1, _) => "info",
        (_, _) => "debug",
    };
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_default_env()
                .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(level)),
        )
        .with_writer(std::io::stderr)
        .with_ansi(output::is_color_enabled(
            args.color,
            std::io::stderr().is_terminal(),
        ))
        .init();
}
