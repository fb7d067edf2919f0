//! What rules said of the pieces of one call, together.

use protocol::rule::verdict::RuleTrace;

/// Adds what rules said of one piece: a rule that spoke for one spoke, whatever it did for another.
pub(crate) fn merge_traces(traces: &mut Vec<RuleTrace>, more: Vec<RuleTrace>) {
    for trace in more {
        match traces.iter_mut().find(|known| known.rule == trace.rule) {
            Some(known) if trace.won && !known.won => *known = trace,
            Some(_) => {}
            None => traces.push(trace),
        }
    }
}
