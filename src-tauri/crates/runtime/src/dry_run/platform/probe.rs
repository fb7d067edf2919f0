//! The guarantees that this machine can give, found out by entering a sandbox once, and never guessed from versions.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::view::effects::Assurance;
use tokio_util::sync::CancellationToken;

use crate::dry_run::change_limits::{GrowthLimit, layer_bytes_max};
use crate::dry_run::home_state::HomeState;
use crate::dry_run::mount_plan::MountPlan;
use crate::dry_run::overlay::layer::LayerPlace;
use crate::dry_run::platform::linux::{
    NOT_INSTALLED_REASON, ProbedCapabilities, SystemSandbox, create_layer,
};
use crate::dry_run::platform::probe_common::{
    check_noop_result, noop_command, not_copied_reason, snapshot_only_reason,
};
use crate::dry_run::{Isolation, LayerKind, SandboxProbe, SandboxRequest};
use crate::fs::dir::Dir;
use crate::limits::{COPY_BYTES_MAX, COPY_PATHS_MAX};
use crate::{FileError, NetworkClient, Workspace};

/// The folder for files in memory, where the system has one.
const MEMORY_FOLDER: &str = "/dev/shm";

impl SystemSandbox {
    /// Enters a sandbox once with a layer on the disk of the data folder; where that does not work, with one in memory;
    /// where no layer can lie over the workspace, with a copy in its place. Then enters one with the workspace itself.
    pub(in crate::dry_run) async fn probe_sandbox(
        &self,
        workspace: &Workspace,
    ) -> ProbedCapabilities {
        let mut reasons = Vec::new();
        if self.program.is_none() {
            reasons.push(NOT_INSTALLED_REASON.to_owned());
            return gate_only_capabilities(reasons);
        }
        let layered = self.probe_layers(workspace, &mut reasons).await;
        let mut why_not = Vec::new();
        let walls = self.probe_isolation(workspace, &mut why_not).await;
        match (layered, walls) {
            (Some((place, kind)), walls) => {
                let why_no_better = reasons.clone();
                reasons.push(layer_reasons(kind));
                reasons.push(memory_limit_reason().to_owned());
                ProbedCapabilities {
                    probe: SandboxProbe {
                        assurance: Assurance::Speculative,
                        layer: kind,
                        in_place: walls.is_some(),
                        ..isolated_probe(reasons)
                    },
                    place: Some(place),
                    isolation: walls,
                    reasons: why_no_better,
                }
            }
            (None, Some(walls)) => {
                reasons.append(&mut why_not);
                let why_no_better = reasons.clone();
                reasons.extend(in_place_reasons(walls).map(str::to_owned));
                reasons.push(snapshot_only_reason());
                ProbedCapabilities {
                    probe: SandboxProbe {
                        assurance: Assurance::Snapshot,
                        layer: LayerKind::None,
                        in_place: true,
                        kill_tree: walls == Isolation::Namespaces || sandbox::can_scope_signals(),
                        ..isolated_probe(reasons)
                    },
                    place: None,
                    isolation: Some(walls),
                    reasons: why_no_better,
                }
            }
            (None, None) => {
                reasons.append(&mut why_not);
                gate_only_capabilities(reasons)
            }
        }
    }

    /// Finds the best working place for changes. Adds to `reasons` why no better one works.
    async fn probe_layers(
        &self,
        workspace: &Workspace,
        reasons: &mut Vec<String>,
    ) -> Option<(Arc<LayerPlace>, LayerKind)> {
        for kind in &self.kinds {
            for (name, place) in self.layer_places(*kind) {
                let tried = match place {
                    Ok(place) => self
                        .probe_layer_place(&place, *kind, workspace)
                        .await
                        .map(|()| place),
                    Err(error) => Err(error.to_string()),
                };
                match tried {
                    Ok(place) => return Some((place, *kind)),
                    Err(why) => reasons.push(format!("{name} does not work: {why}.")),
                }
            }
        }
        None
    }

    /// Finds the isolation of a sandbox in which the workspace itself can be changed. Adds to `reasons` why there is no
    /// better one.
    async fn probe_isolation(
        &self,
        workspace: &Workspace,
        reasons: &mut Vec<String>,
    ) -> Option<Isolation> {
        for walls in &self.isolations {
            match self.probe_in_place(*walls, workspace).await {
                Ok(()) => return Some(*walls),
                Err(why) => {
                    let name = match walls {
                        Isolation::Namespaces => "A sandbox around the workspace itself",
                        Isolation::Landlock => {
                            "A sandbox of Landlock and refused system calls alone"
                        }
                    };
                    reasons.push(format!("{name} does not work: {why}."));
                }
            }
        }
        None
    }

    /// Returns the places in which a layer of this kind could be kept, each with its name.
    fn layer_places(&self, kind: LayerKind) -> Vec<(String, io::Result<Arc<LayerPlace>>)> {
        let disk = |name: &str| vec![(name.to_owned(), Ok(Arc::clone(&self.disk)))];
        let memory = |parent: PathBuf| {
            let place = LayerPlace::open(&parent).map(Arc::new);
            (format!("A layer in memory (`{}`)", parent.display()), place)
        };
        match kind {
            LayerKind::Disk => disk("A layer on the disk of the data folder"),
            LayerKind::Memory => list_memory_folders().into_iter().map(memory).collect(),
            LayerKind::Copy => disk("A copy of the workspace"),
            LayerKind::None => Vec::new(),
        }
    }

    async fn probe_layer_place(
        &self,
        place: &LayerPlace,
        kind: LayerKind,
        workspace: &Workspace,
    ) -> Result<(), String> {
        let layer = create_layer(place, workspace).map_err(|error| error.to_string())?;
        let marks = Dir::open(&layer.upper_path()).map_err(|error| error.to_string())?;
        if kind == LayerKind::Copy {
            if place.is_in(workspace.root()) {
                return Err("the data folder lies in the workspace".to_owned());
            }
        } else if !marks.supports_xattrs() {
            return Err("its file system cannot say that a folder was replaced".to_owned());
        }
        self.probe_at(
            &MountPlan::over_layer(kind, &layer, &HomeState::default()),
            workspace,
        )
        .await
    }

    async fn probe_in_place(
        &self,
        isolation: Isolation,
        workspace: &Workspace,
    ) -> Result<(), String> {
        if self.disk.is_in(workspace.root()) {
            return Err("the data folder lies in the workspace".to_owned());
        }
        let folder = create_layer(&self.disk, workspace).map_err(|error| error.to_string())?;
        let command = noop_command(workspace);
        let site = MountPlan::in_place(
            &folder,
            (isolation == Isolation::Landlock).then(|| folder.tmp_path()),
            &command,
            GrowthLimit::for_probe(),
        );
        self.probe_at(&site, workspace).await
    }

    /// Runs a no-op command in the sandbox of `site`.
    async fn probe_at(&self, site: &MountPlan<'_>, workspace: &Workspace) -> Result<(), String> {
        let (command, net) = (noop_command(workspace), NetworkClient::offline());
        let never = CancellationToken::new();
        let request = SandboxRequest {
            command: &command,
            net: &net,
            cancel: &never,
        };
        let ran = self.run_within_limits(request, site, Vec::new(), |_: &str| {});
        check_noop_result(ran.await.map(|(ran, _)| ran))
    }
}

/// Describes a layer kind that works.
fn layer_reasons(kind: LayerKind) -> String {
    let max = layer_bytes_max(kind) >> 20;
    let copy_max = COPY_BYTES_MAX >> 20;
    let layer = match kind {
        LayerKind::Disk => {
            "what it changes is kept on the disk of the data folder until you agree".to_owned()
        }
        LayerKind::Memory => {
            format!("what it changes is kept in memory until you agree, at most {max} MiB")
        }
        LayerKind::Copy => format!(
            "until you agree it changes a copy of the workspace, of at most {copy_max} MiB and {COPY_PATHS_MAX} paths"
        ),
        LayerKind::None => "what it changes is kept nowhere".to_owned(),
    };
    format!("A command runs in a sandbox; {layer}.")
}

/// Returns the guarantees for a workspace that cannot be copied, where only a copy would do.
pub(in crate::dry_run) fn without_copy_layer(
    capabilities: ProbedCapabilities,
    error: &FileError,
) -> ProbedCapabilities {
    let mut reasons = capabilities.reasons;
    reasons.push(not_copied_reason(error));
    gate_only_capabilities(reasons)
}

/// Describes how the memory limit of a sandbox is enforced.
fn memory_limit_reason() -> &'static str {
    match sandbox::can_limit_memory() {
        true => {
            "The kernel keeps all that it starts to the memory that a sandbox may take, by a control group."
        }
        false => {
            "The memory that all it starts takes is added up a few times a second, and too much ends it: no control group can be limited here."
        }
    }
}

/// Describes the protection and the gaps of a sandbox with this isolation.
fn in_place_reasons(isolation: Isolation) -> impl Iterator<Item = &'static str> {
    let reasons = match isolation {
        Isolation::Namespaces => vec![
            "A command runs for real, in a sandbox.",
            memory_limit_reason(),
        ],
        Isolation::Landlock => vec![
            "A command runs for real, confined by Landlock and refused system calls alone, because nobody may make namespaces here.",
            "It can read your files, secrets among them, but change nothing outside of the workspace; git hooks and start-up files in the workspace it can change.",
            "The memory of each of its processes is limited, and not that of all together.",
        ],
    };
    reasons.into_iter()
}

/// Returns a probe with the guarantees that every sandbox gives.
fn isolated_probe(reasons: Vec<String>) -> SandboxProbe {
    SandboxProbe {
        net_off: true,
        unix_sockets_off: true,
        kill_tree: true,
        ..SandboxProbe::gate_only(reasons)
    }
}

fn gate_only_capabilities(reasons: Vec<String>) -> ProbedCapabilities {
    ProbedCapabilities {
        probe: SandboxProbe::gate_only(reasons.clone()),
        place: None,
        isolation: None,
        reasons,
    }
}

/// Lists folders in memory in which layers could lie.
fn list_memory_folders() -> Vec<PathBuf> {
    let ours = std::env::var_os("XDG_RUNTIME_DIR")
        .map(|folder| PathBuf::from(folder).join("countersign-sandboxes"));
    let user = rustix::process::getuid().as_raw();
    let shared = Path::new(MEMORY_FOLDER).is_dir();
    let shared =
        shared.then(|| Path::new(MEMORY_FOLDER).join(format!("countersign-sandboxes-{user}")));
    ours.into_iter().chain(shared).collect()
}
