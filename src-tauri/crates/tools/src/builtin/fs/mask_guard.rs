//! Guards changes of files whose secrets the agent was shown as `***`: the mask must never be written to the file.

use protocol::text::redact;
use protocol::text::redact::MASK;
use protocol::{Plan, ToolError};

use crate::diff::content_before;
use crate::tool::PreviewedPlan;

/// Rejects a change that would write the mask in place of a secret: the secret would be lost.
pub(in crate::builtin) fn reject_mask_writes(
    prepared: PreviewedPlan,
) -> Result<PreviewedPlan, ToolError> {
    let Plan::Write(changes) = &prepared.plan else {
        return Ok(prepared);
    };
    let masks = |bytes: &[u8]| String::from_utf8_lossy(bytes).matches(MASK).count();
    for change in changes {
        // A file that moves has its secrets where it was.
        let (Some(before), Some(after)) = (content_before(change, changes), &change.after) else {
            continue;
        };
        let more_masks = masks(after) > masks(before);
        if more_masks && redact::mask_bytes(after).1 < redact::mask_bytes(before).1 {
            return Err(ToolError::Failed(format!(
                "`{}` holds a secret that was shown to you as ***, and the new text has *** in its place: the secret would be \
                 lost, so nothing was changed. Use edit on the lines around it, and leave the secret's own line out.",
                change.path
            )));
        }
    }
    Ok(prepared)
}
