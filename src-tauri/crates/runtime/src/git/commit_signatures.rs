//! Whose names a commit bears: who wrote it, who made it, and who is said to have approved it.

use gix_object::Data;

/// Beginnings of lines in a message that name somebody who approved the commit.
const APPROVALS: &[&str] = &[
    "reviewed-by:",
    "acked-by:",
    "approved-by:",
    "tested-by:",
    "verified-by:",
    "signed-off-by:",
];

/// Who wrote a commit, who made it of that, and who approved it: each with name and address, and times in seconds since 1970.
pub(super) struct CommitSignatures {
    pub author: String,
    pub committer: String,
    /// The first who is said to have approved it, other than the committer.
    pub approver: Option<String>,
    pub written_s: i64,
    pub made_s: i64,
}

impl CommitSignatures {
    /// Reads the names of a commit; none if the object is no commit.
    pub fn from_object(object: &Data<'_>) -> Option<Self> {
        let author = object.try_into_commit_iter()?.author().ok()?;
        let made = object.try_into_commit_iter()?.committer().ok()?;
        let message = object.try_into_commit_iter()?.message().ok()?;
        let committer = format!("{} <{}>", made.name, made.email);
        let approver = String::from_utf8_lossy(message)
            .lines()
            .filter_map(read_approval)
            .find(|name| *name != committer)
            .map(str::to_owned);
        Some(Self {
            author: format!("{} <{}>", author.name, author.email),
            committer,
            approver,
            written_s: author.seconds(),
            made_s: made.seconds(),
        })
    }
}

/// Returns who approved a commit by a line of its message.
fn read_approval(line: &str) -> Option<&str> {
    let (key, name) = line.split_at_checked(line.find(':')? + 1)?;
    let is_approval = APPROVALS.contains(&key.to_ascii_lowercase().as_str());
    is_approval.then_some(name.trim())
}
