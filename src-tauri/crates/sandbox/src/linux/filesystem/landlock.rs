//! Landlock: the second wall around files. Where a mount were left open by mistake, this one still stands; and where
//! there are no mounts, it stands alone.

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, Scope,
};

use crate::SandboxSpec;

/// The highest version that a kernel may know.
const HIGHEST_ABI: ABI = ABI::V6;
/// The lowest version that suffices where Landlock stands alone: without it a file could be emptied anywhere.
const LOWEST_ABI: ABI = ABI::V3;
/// Places beside the workspace that may be written: each is the sandbox's own.
const WRITABLE_FOLDERS: [&str; 2] = ["/tmp", "/dev"];
/// Devices that keep nothing and belong to nobody.
const WRITABLE_DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// The rules of every sandbox: reading everywhere, and no signals to processes outside. They hold as far as this kernel
/// supports them: the mounts are the first wall, and hold without them.
pub(in crate::linux) struct LandlockRules(RulesetCreated);

impl LandlockRules {
    /// Builds the rules without enforcing them yet.
    pub(in crate::linux) fn build_rules() -> io::Result<Self> {
        allow_reading(Ruleset::default())
            .map(Self)
            .map_err(io::Error::other)
    }

    /// Enforces the rules from here on, with writing in the workspace, in private folders and in the sandbox's own
    /// places.
    pub(in crate::linux) fn enforce_for(self, spec: &SandboxSpec) -> io::Result<()> {
        let writable = WRITABLE_FOLDERS.iter().map(Path::new);
        let private = spec.private.iter().map(|folder| folder.path.as_path());
        let writable = writable.chain(private).chain([spec.workspace.as_path()]);
        enforce_rules(self.0, writable).map_err(io::Error::other)
    }
}

/// Whether this kernel can confine the signals of a process under such rules to the sandbox.
pub fn can_scope_signals() -> bool {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .scope(Scope::Signal);
    rules.and_then(Ruleset::create).is_ok()
}

/// Enforces Landlock as the only wall: with writing in the workspace, in `tmp` and to devices that keep nothing.
pub(in crate::linux) fn enforce_landlock_only(spec: &SandboxSpec, tmp: &Path) -> io::Result<()> {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LOWEST_ABI))
        .map_err(io::Error::other)?;
    let devices = WRITABLE_DEVICES.iter().map(Path::new);
    let writable = devices.chain([spec.workspace.as_path(), tmp]);
    let rules = allow_reading(rules).map_err(io::Error::other)?;
    enforce_rules(rules, writable).map_err(io::Error::other)
}

type LandlockError = Box<dyn std::error::Error + Send + Sync>;

fn allow_reading(rules: Ruleset) -> Result<RulesetCreated, LandlockError> {
    let rules = rules
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(HIGHEST_ABI))?
        .scope(Scope::from_all(HIGHEST_ABI))?
        .create()?;
    allow_beneath(rules, Path::new("/"), AccessFs::from_read(HIGHEST_ABI))
}

fn enforce_rules<'a>(
    mut rules: RulesetCreated,
    writable: impl Iterator<Item = &'a Path>,
) -> Result<(), LandlockError> {
    for place in writable {
        let all = match place.is_dir() {
            true => AccessFs::from_all(HIGHEST_ABI),
            false => AccessFs::from_file(HIGHEST_ABI),
        };
        rules = allow_beneath(rules, place, all)?;
    }
    rules.restrict_self()?;
    Ok(())
}

fn allow_beneath(
    rules: RulesetCreated,
    place: &Path,
    access: landlock::BitFlags<AccessFs>,
) -> Result<RulesetCreated, LandlockError> {
    let held = PathFd::new(place)?;
    Ok(rules.add_rule(PathBeneath::new(held, access))?)
}
