//! Classification of a tool by its name and declarations into mode and kind (`S000-21`): the one place for all, the
//! interface included, which is given the result. Its cases stand in `tests/cases/classify.json`.

use protocol::{Capability, ToolInterface, ToolKind, ToolMode};

use crate::reading_verbs::find_verb_permission;

/// A mode, its source, and the kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolClass {
    /// The mode; none if neither declaration nor name says which (M21): such a call asks.
    pub mode: Option<ToolMode>,
    /// Source of the mode, as a person reads it: "declared by the tool", "from the pattern `delete_`".
    pub from: String,
    /// The kind of action that a call is, in ACP's words (`S002-98`).
    pub kind: ToolKind,
    /// The permission `server__verb_*`, where only the name of somebody else's tool says what it does, and says that it
    /// reads (M26).
    pub verb_permission: Option<String>,
}

/// The declarations of a tool that bear on its mode and kind. A field that is left out was not declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToolDeclaration {
    /// The mode given at registration.
    pub mode: Option<ToolMode>,
    /// The kind.
    pub kind: Option<ToolKind>,
    /// Whether the tool declares that it removes something. Like every hint, it can only make the mode stricter (M16).
    pub is_destructive: bool,
    /// Whether the tool declares that it reaches beyond what can be listed before.
    pub is_open_world: bool,
    /// Whether the tool declares that it does not only read.
    pub is_changing: bool,
}

impl ToolDeclaration {
    /// Collects the declarations of an interface.
    pub fn from_interface(interface: &ToolInterface) -> Self {
        Self {
            mode: interface.mode(),
            kind: interface.is_stated("safety.kind").then(|| interface.kind()),
            is_destructive: interface.safety.is_destructive,
            is_open_world: interface.safety.is_open_world,
            is_changing: interface.is_stated("safety.is_read_only")
                && !interface.safety.is_read_only,
        }
    }
}

/// Name beginnings and the mode that they imply (`S000-27` to `S000-30`). No name begins like two of them.
pub const NAME_PATTERNS: [(&str, ToolMode); 15] = [
    ("get_", ToolMode::Read),
    ("list_", ToolMode::Read),
    ("read_", ToolMode::Read),
    ("search_", ToolMode::Read),
    ("create_", ToolMode::SafeWrite),
    ("update_", ToolMode::SafeWrite),
    ("add_", ToolMode::SafeWrite),
    ("set_", ToolMode::SafeWrite),
    ("delete_", ToolMode::Destructive),
    ("remove_", ToolMode::Destructive),
    ("archive_", ToolMode::Destructive),
    ("drop_", ToolMode::Destructive),
    ("local_", ToolMode::Local),
    ("shell_", ToolMode::Local),
    ("exec_", ToolMode::Local),
];

/// Returns the mode that a name alone implies (`S000-21`), and the pattern that implies it.
pub fn mode_from_name(name: &str) -> Option<(ToolMode, &'static str)> {
    let pattern = NAME_PATTERNS
        .iter()
        .find(|(start, _)| name.starts_with(start));
    pattern.map(|(start, mode)| (*mode, *start))
}

/// Classifies a tool. The mode declared at registration wins over the name (`S000-33`); hints only tighten.
pub fn classify_tool(name: &str, declared: ToolDeclaration) -> ToolClass {
    // The name of a tool of others begins with that of its server, which says nothing of what the tool does.
    let by_name = match name.contains("__") {
        true => None,
        false => mode_from_name(name),
    };
    let (mut mode, mut from) = match (declared.mode, by_name) {
        (Some(mode), _) => (Some(mode), "declared by the tool".to_owned()),
        (None, Some((mode, start))) => (Some(mode), format!("from the pattern `{start}`")),
        (None, None) => (
            None,
            "not declared, and its name fits no pattern".to_owned(),
        ),
    };
    let tightened = match mode {
        Some(ToolMode::Read | ToolMode::External | ToolMode::SafeWrite)
            if declared.is_destructive =>
        {
            Some((
                ToolMode::Destructive,
                "stricter, because the tool says that it removes something",
            ))
        }
        Some(ToolMode::Read) if declared.is_open_world && declared.mode.is_none() => Some((
            ToolMode::External,
            "stricter than its name, because the tool says that it reaches outside",
        )),
        Some(
            ToolMode::Read
            | ToolMode::External
            | ToolMode::SafeWrite
            | ToolMode::Destructive
            | ToolMode::Local,
        )
        | None => None,
    };
    if let Some((stricter, why)) = tightened {
        (mode, from) = (Some(stricter), why.to_owned());
    }
    let kind = declared.kind.unwrap_or_else(|| infer_kind(name, mode));
    let is_named_only = mode.is_none() && !declared.is_destructive && !declared.is_changing;
    ToolClass {
        mode,
        from,
        kind,
        verb_permission: is_named_only.then(|| find_verb_permission(name)).flatten(),
    }
}

impl ToolClass {
    /// Returns the class for a call with these accesses: a call that deletes something is at least destructive,
    /// whatever its tool is in general (M16).
    #[must_use]
    pub fn tighten_for_accesses(mut self, touches: impl IntoIterator<Item = Capability>) -> Self {
        if self.mode.is_some()
            && mode_strictness(self.mode) < mode_strictness(Some(ToolMode::Destructive))
            && touches.into_iter().any(|it| it == Capability::FsDelete)
        {
            self.mode = Some(ToolMode::Destructive);
            "stricter, because this call takes something away".clone_into(&mut self.from);
        }
        self
    }
}

/// The kind that a mode implies.
fn infer_kind(name: &str, mode: Option<ToolMode>) -> ToolKind {
    match mode {
        Some(ToolMode::Read) if name.starts_with("search_") => ToolKind::Search,
        Some(ToolMode::Read) => ToolKind::Read,
        Some(ToolMode::SafeWrite) => ToolKind::Edit,
        Some(ToolMode::Destructive) => ToolKind::Delete,
        Some(ToolMode::Local) => ToolKind::Execute,
        Some(ToolMode::External) => ToolKind::Fetch,
        None => ToolKind::Other,
    }
}

/// How strict a mode is; no mode asks, as a local one does.
pub fn mode_strictness(mode: Option<ToolMode>) -> u8 {
    match mode {
        Some(ToolMode::Read) => 0,
        Some(ToolMode::External) => 1,
        Some(ToolMode::SafeWrite) => 2,
        Some(ToolMode::Destructive) => 3,
        Some(ToolMode::Local) | None => 4,
    }
}

/// The modes that a person may set in place of a tool's own: every stricter one, the strictest last. No mode asks
/// already.
pub fn stricter_modes(tool_mode: Option<ToolMode>) -> Vec<ToolMode> {
    let stricter = |mode: &ToolMode| mode_strictness(Some(*mode)) > mode_strictness(tool_mode);
    let mut modes: Vec<ToolMode> = ToolMode::ALL.into_iter().filter(stricter).collect();
    modes.sort_by_key(|mode| mode_strictness(Some(*mode)));
    modes
}
