//! The printed table of results: measurement, ours, theirs, ratio, target.

use std::time::Duration;

/// One line of the table.
pub struct TableRow {
    /// The measurement.
    pub what: String,
    /// Our result.
    pub ours: String,
    /// The peer's result; empty where there is no peer.
    pub theirs: String,
    /// Our result divided by the peer's, or the value that the target is about.
    pub ratio: String,
    /// The target.
    pub aim: &'static str,
}

/// Prints lines below a heading, as Markdown.
pub fn print_table(heading: &str, lines: &[TableRow]) {
    println!("\n## {heading}\n");
    println!("| what | ours | theirs | ratio | aim |");
    println!("|---|---:|---:|---:|---|");
    for line in lines {
        println!(
            "| {} | {} | {} | {} | {} |",
            line.what, line.ours, line.theirs, line.ratio, line.aim
        );
    }
}

/// Formats a time in the most readable unit.
pub fn format_time(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    match micros {
        ..1_000.0 => format!("{micros:.1} µs"),
        ..1_000_000.0 => format!("{:.1} ms", micros / 1e3),
        _ => format!("{:.2} s", micros / 1e6),
    }
}

/// Formats the ratio of two times.
pub fn format_ratio(one: Duration, other: Duration) -> String {
    format!("{:.2}×", one.as_secs_f64() / other.as_secs_f64())
}

/// Formats what one time has over another, in milliseconds.
pub fn format_difference(one: Duration, other: Duration) -> String {
    let more = one.as_secs_f64() - other.as_secs_f64();
    format!("{:+.2} ms", more * 1e3)
}
