//! Traces of the rules over all subjects of one call.

use protocol::rule::verdict::RuleTrace;

/// Adds the traces of one subject: a rule that decided for one subject counts as deciding, whatever it did for another.
pub(crate) fn merge_traces(traces: &mut Vec<RuleTrace>, more: Vec<RuleTrace>) {
    for trace in more {
        match traces.iter_mut().find(|known| known.rule == trace.rule) {
            Some(known) if trace.won && !known.won => *known = trace,
            Some(_) => {}
            None => traces.push(trace),
        }
    }
}
