//! `attention`: shows what the person's attention was spent on.

use agent::Engine;
use protocol::query::{Answer, Query};
use protocol::rule::backtest::{RecordedDecision, RuleSuggestion};
use protocol::text::display_text::format_count;
use protocol::view::attention::{
    AttentionReport, QuestionCause, QuestionReport, QuickAnswer, QuickAnswers, ToolQuestions,
    UnaskedReport,
};

use crate::exit::{CliError, CliResult};
use crate::output::{OutputWriter, TextStyle, escape_hidden};
use crate::short_ids;
use crate::table::{self, TableCell, format_duration, new_cell};
use crate::transcript::format_time;

/// Maximum number of tools that are listed.
const TOOLS_MAX: usize = 10;
/// Length of the ids in a list, in characters.
const ID_LENGTH: usize = 8;

/// Shows the report since a time; since the beginning of today if none is given.
pub(crate) async fn show_report(
    desk: &Engine,
    since: Option<String>,
    out: &mut OutputWriter,
) -> CliResult {
    let query = Query::Attention { since };
    let answer = desk.query(query).await.map_err(CliError::usage_error)?;
    let Answer::Attention(report) = answer else {
        return Err(CliError::unexpected_answer());
    };
    out.write_answer(&report, |out| print_report(&report, out))
}

fn print_report(report: &AttentionReport, out: &mut OutputWriter) -> Result<(), CliError> {
    let since = format!("Since {}", format_time(report.since));
    out.write_styled(TextStyle::Faint, &since)?;
    print_questions(report, out)?;
    print_quick_answers(&report.quick, out)?;
    if let Some(rule) = &report.rule {
        print_rule(rule, out)?;
    }
    print_unasked(&report.unasked, out)
}

fn print_head(out: &mut OutputWriter, text: &str) -> Result<(), CliError> {
    out.write_line("")?;
    out.write_styled(TextStyle::Strong, text)
}

fn print_questions(report: &AttentionReport, out: &mut OutputWriter) -> Result<(), CliError> {
    let questions = &report.questions;
    let head = format!(
        "{} about {}",
        format_count(questions.total, "question"),
        format_count(report.calls, "call")
    );
    print_head(out, &head)?;
    if questions.total == 0 {
        return Ok(());
    }
    let lines = [
        format!(
            "{:.1} an hour, in {} with calls",
            questions.per_hour,
            format_count(report.hours, "hour")
        ),
        format!(
            "{} answered by you, {} still waiting",
            questions.answered, questions.waiting
        ),
        format!(
            "agents waited {}: half of the times {} or less, {} at most",
            format_duration(questions.waited_ms),
            format_duration(questions.median_ms),
            format_duration(questions.longest_ms)
        ),
    ];
    for line in lines {
        out.write_line(&format!("  {line}"))?;
    }
    if questions.unknown_waits > 0 {
        let unknown = format!(
            "  how long is not known of {}: the end is not on record",
            format_count(questions.unknown_waits, "question")
        );
        out.write_styled(TextStyle::Warn, &unknown)?;
    }
    print_groups(questions, out)
}

fn print_groups(questions: &QuestionReport, out: &mut OutputWriter) -> Result<(), CliError> {
    print_head(out, "What asked")?;
    let causes = questions.by_cause.iter();
    let rows: Vec<_> = causes
        .map(|group| {
            count_row(
                group.questions,
                group.waited_ms,
                describe_cause(group.cause),
            )
        })
        .collect();
    table::write_rows(out, &rows, table::terminal_width())?;
    print_head(out, "About what")?;
    let tools = questions.by_tool.iter().take(TOOLS_MAX);
    let rows: Vec<_> = tools
        .map(|group| count_row(group.questions, group.waited_ms, &tool_name(group)))
        .collect();
    table::write_rows(out, &rows, table::terminal_width())?;
    let more = questions.by_tool.len().saturating_sub(TOOLS_MAX);
    if more > 0 {
        let more = format!("  and {more} more: --json has them all");
        out.write_styled(TextStyle::Faint, &more)?;
    }
    Ok(())
}

fn count_row(questions: u64, waited_ms: u64, text: &str) -> Vec<TableCell> {
    vec![
        new_cell(TextStyle::Plain, &format!("  {questions:>5}")),
        new_cell(TextStyle::Plain, text),
        new_cell(TextStyle::Faint, &format_duration(waited_ms)),
    ]
}

fn describe_cause(cause: QuestionCause) -> &'static str {
    match cause {
        QuestionCause::Mode => "no rule decided, and the mode asks",
        QuestionCause::Rule => "a rule",
        QuestionCause::Capability => "a place that is not open, or not certain",
        QuestionCause::Watchdog => "a watchdog",
        QuestionCause::Effects => "effects of a dry run",
        QuestionCause::RunsLater => "what some program runs later on",
        QuestionCause::Undo => "no undo",
        QuestionCause::Interaction => "the agent wanted an answer",
        QuestionCause::Server => "a server wanted an answer",
        QuestionCause::Unknown => "not on record",
    }
}

fn tool_name(group: &ToolQuestions) -> String {
    let tool = group.tool.as_deref().unwrap_or("not on record");
    match &group.program {
        Some(program) => format!("{tool}: {program}"),
        None => tool.to_owned(),
    }
}

fn print_quick_answers(quick: &QuickAnswers, out: &mut OutputWriter) -> Result<(), CliError> {
    let head = format!(
        "{} in less than a second after the card was shown",
        format_count(quick.total, "answer")
    );
    print_head(out, &head)?;
    let rows: Vec<_> = quick.latest.iter().map(quick_row).collect();
    table::write_rows(out, &rows, table::terminal_width())?;
    if quick.total > 0 {
        let hint = "  Look at one: countersign show SESSION --call CALL";
        out.write_styled(TextStyle::Faint, hint)?;
    }
    Ok(())
}

fn quick_row(answer: &QuickAnswer) -> Vec<TableCell> {
    let decision = match answer.person {
        Some(RecordedDecision::Allowed) => "allowed",
        Some(RecordedDecision::Rejected) => "rejected",
        None => "answered",
    };
    let session = short_ids::id_suffix(answer.session.as_str(), ID_LENGTH);
    let call = short_ids::id_suffix(answer.call.as_str(), ID_LENGTH);
    let tool = answer.tool.as_deref().unwrap_or_default();
    vec![
        new_cell(TextStyle::Strong, &format!("  {session}")),
        new_cell(TextStyle::Strong, call),
        new_cell(TextStyle::Faint, &format_time(answer.at)),
        new_cell(
            TextStyle::Plain,
            &format!("{decision} after {}", format_duration(answer.after_ms)),
        ),
        new_cell(TextStyle::Plain, &format!("{tool} {}", answer.target)),
    ]
}

fn print_rule(suggestion: &RuleSuggestion, out: &mut OutputWriter) -> Result<(), CliError> {
    let head = format!(
        "One rule would have given {} for you",
        format_count(suggestion.allowed, "answer")
    );
    print_head(out, &head)?;
    let rule = &suggestion.rule;
    let pattern = rule.pattern.as_deref().unwrap_or_default();
    let line = format!("allow {} {pattern}", rule.permission);
    out.write_line(&format!("  {}", escape_hidden(line.trim_end())))?;
    if suggestion.rejected > 0 {
        let against = format!(
            "  It also covers {} that you rejected.",
            suggestion.rejected
        );
        out.write_styled(TextStyle::Warn, &against)?;
    }
    let hint = "  Try it: countersign policy backtest --everywhere --rule RULE";
    out.write_styled(TextStyle::Faint, hint)
}

fn print_unasked(unasked: &UnaskedReport, out: &mut OutputWriter) -> Result<(), CliError> {
    let head = format!(
        "{} ran without a question",
        format_count(unasked.total, "call")
    );
    print_head(out, &head)?;
    let groups = [
        (unasked.not_needed, "changed nothing"),
        (unasked.secured, "a copy for undo was taken"),
        (unasked.captured, "changes captured by a dry run"),
        (unasked.snapshot, "a snapshot was taken"),
        (unasked.unsecured, "cannot be undone"),
        (unasked.unknown, "undo not on record"),
    ];
    for (calls, text) in groups.into_iter().filter(|(calls, _)| *calls > 0) {
        out.write_line(&format!("  {calls:>5}  {text}"))?;
    }
    if unasked.undoable == 0 {
        return Ok(());
    }
    let undoable = format!(
        "{} can still be undone",
        format_count(unasked.undoable, "change")
    );
    print_head(out, &undoable)?;
    let entries = unasked.latest.iter();
    let rows: Vec<_> = entries
        .map(|entry| {
            let id = short_ids::id_suffix(entry.id.as_str(), ID_LENGTH);
            vec![
                new_cell(TextStyle::Strong, &format!("  {id}")),
                new_cell(TextStyle::Faint, &format_time(entry.at)),
                new_cell(TextStyle::Plain, &entry.title),
            ]
        })
        .collect();
    table::write_rows(out, &rows, table::terminal_width())?;
    out.write_styled(
        TextStyle::Faint,
        "  Undo one: countersign undo ENTRY. All: countersign history",
    )
}
