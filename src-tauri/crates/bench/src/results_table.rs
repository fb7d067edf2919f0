//! The table that is printed: what, ours, theirs, ratio, aim.

use std::time::Duration;

/// One line of it.
pub struct TableRow {
    /// What was measured.
    pub what: String,
    /// Ours.
    pub ours: String,
    /// The peer's; empty where there is none.
    pub theirs: String,
    /// Ours by theirs, or what the aim is about.
    pub ratio: String,
    /// What was aimed at.
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

/// A time in the unit that it is read best in.
pub fn format_time(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    match micros {
        ..1_000.0 => format!("{micros:.1} µs"),
        ..1_000_000.0 => format!("{:.1} ms", micros / 1e3),
        _ => format!("{:.2} s", micros / 1e6),
    }
}

/// How many times one time is another.
pub fn format_ratio(one: Duration, other: Duration) -> String {
    format!("{:.2}×", one.as_secs_f64() / other.as_secs_f64())
}
