//! The facts of a call, with every command in it read once, however many gates look at it.

use std::collections::HashSet;
use std::path::Path;

use protocol::rule::evidence::{ArgumentValue, Confinement, Evidence, RemoteUse};
use protocol::{Capability, Digest, ResolvedAccess};

use crate::Surface;
use crate::shell::{self, ShellFacts};

/// The doubt about a word of a command that the shell completes. The command itself is then not certain, which is said
/// once, of the whole.
pub const OPEN_WORD_DOUBT: &str = "What it names is only known when it runs.";

/// Why a command is denied that names more files than are looked at.
const TOO_MANY_FILES: &str = "It names more files than can be looked at.";

/// The facts of one call.
#[derive(Debug, Clone, Default)]
pub struct CallFacts {
    all: Vec<ResolvedAccess>,
    /// Accesses that words of the commands may stand for, beside `all`: they can only make the verdict stricter.
    uses: Vec<ResolvedAccess>,
    commands: Vec<(String, ShellFacts)>,
    remotes: Vec<RemoteUse>,
    denial_reason: Option<String>,
    /// Roots that a person would have to open first: the resolved path of a fact, and the root for it.
    roots_to_open: Vec<(String, String)>,
    /// Indices into `all` of the folders that are read with everything below them.
    recursive_facts: Vec<usize>,
    /// Digest of exactly this call and the questions of its watchdogs, which a grant for exactly this call names
    /// (`S002-90`).
    exact_digest: Option<Digest>,
    /// The confinement that keeps the tool of the call to these facts.
    confinement: Confinement,
    /// Whether the call runs in the sandbox before anything real changes.
    is_sandboxed: bool,
    /// Whether the hosts that the call names are the loopback of its sandbox alone.
    is_own_loopback: bool,
    /// Paths outside the workspace that the call reads and that its sandbox has layers over.
    home_state: Vec<String>,
    /// The accesses that commands have only if a text that is not known is empty.
    guesses: Vec<ResolvedAccess>,
    /// The arguments of a call of somebody else's tool, value by value.
    arguments: Option<Vec<ArgumentValue>>,
    /// The server that others read, if the call sends something there.
    sent_to_others: Option<String>,
}

impl CallFacts {
    /// Adds a fact; a command is read.
    pub fn add(&mut self, fact: ResolvedAccess) {
        if fact.capability == Capability::ShellRun && self.find_command(&fact.target).is_none() {
            let read = shell::parse_command(&fact.target);
            self.deny_for(
                read.has_too_many_accesses()
                    .then(|| TOO_MANY_FILES.to_owned()),
            );
            self.commands.push((fact.target.clone(), read));
        }
        self.all.push(fact);
    }

    /// Adds a file that a word of a command may use, though no table says that its program does.
    pub fn add_use(&mut self, fact: ResolvedAccess) {
        if !self.uses.contains(&fact) && !self.all.contains(&fact) {
            self.uses.push(fact);
        }
    }

    /// The files that words of the commands may use, beside [`Self::all`].
    pub fn uses(&self) -> &[ResolvedAccess] {
        &self.uses
    }

    /// Restricts the facts to a surface: an access beyond it is denied, and one that the surface names outside the
    /// granted folders is asked about.
    pub fn restrict_to(&mut self, surface: &Surface) {
        let opens = |fact: &ResolvedAccess| {
            Some((fact.real.clone(), surface.folder_to_open(fact)?.to_owned()))
        };
        self.roots_to_open = self.all.iter().filter_map(opens).collect();
        self.restrict_further(surface);
    }

    /// Restricts the facts to one more surface, which opens nothing: an access beyond it is denied.
    pub fn restrict_further(&mut self, surface: &Surface) {
        let beyond = |fact: &ResolvedAccess| {
            surface.find_denial_reason(fact, self.find_command(&fact.target))
        };
        let beyond = self.all.iter().find_map(beyond);
        self.deny_for(beyond);
    }

    /// Denies the call for a reason.
    pub fn deny_for(&mut self, why: Option<String>) {
        self.denial_reason = self.denial_reason.take().or(why);
    }

    /// Places that a person would have to open for the call first.
    pub fn roots_to_open(&self) -> impl Iterator<Item = &str> {
        self.roots_to_open.iter().map(|(_, place)| place.as_str())
    }

    /// The place that a person would have to open for a fact.
    pub(crate) fn root_to_open_for(&self, fact: &ResolvedAccess) -> Option<&str> {
        let mut opens = self.roots_to_open.iter();
        let (_, place) = opens.find(|(real, _)| *real == fact.real)?;
        Some(place)
    }

    /// Reason why some of the accesses are denied whatever the rules say, if any are.
    pub fn denial_reason(&self) -> Option<&str> {
        self.denial_reason.as_deref()
    }

    /// Returns the facts with the digest that a grant for exactly this call would name.
    #[must_use]
    pub fn with_exact_digest(mut self, exactly: Option<Digest>) -> Self {
        self.exact_digest = exactly;
        self
    }

    /// Digest that a grant for exactly this call names; none where no such grant is possible.
    pub fn exact_digest(&self) -> Option<&Digest> {
        self.exact_digest.as_ref()
    }

    /// Sets the confinement that keeps the tool of the call to these facts.
    pub fn set_confinement(&mut self, confinement: Confinement) {
        self.confinement = confinement;
    }

    /// Sets whether the call runs in the sandbox before anything real changes.
    pub fn set_sandboxed(&mut self, is_sandboxed: bool) {
        self.is_sandboxed = is_sandboxed;
    }

    /// Whether the call runs in the sandbox before anything real changes.
    pub fn is_sandboxed(&self) -> bool {
        self.is_sandboxed
    }

    /// Sets whether the hosts that the call names are the loopback of its sandbox alone: nothing that is sent there leaves.
    pub fn set_own_loopback(&mut self, is_own: bool) {
        self.is_own_loopback = is_own;
    }

    /// Whether the hosts that the call names are the loopback of its sandbox alone.
    pub(crate) fn is_own_loopback(&self) -> bool {
        self.is_own_loopback
    }

    /// Opens caches and state in the home folder that commands name to read them, where `is_layered` says of a path that
    /// the sandbox has a layer over it.
    pub fn open_home_state(&mut self, is_layered: impl Fn(&str) -> bool) {
        let named =
            self.all.iter().chain(&self.uses).filter(|fact| {
                fact.derived && !fact.inside && fact.capability == Capability::FsRead
            });
        let layered = named.filter(|fact| is_layered(&fact.real));
        self.home_state = layered.map(|fact| fact.real.clone()).collect();
    }

    /// Whether a command of the call reads caches or state in the home folder by this fact, in its sandbox.
    pub(crate) fn is_home_state(&self, fact: &ResolvedAccess) -> bool {
        self.is_sandboxed
            && fact.derived
            && fact.capability == Capability::FsRead
            && self.home_state.contains(&fact.real)
    }

    /// Sets the accesses that commands have only if a text that is not known is empty: `ls $d/x` reads `/x` where `d` is.
    pub fn set_guesses(&mut self, guesses: Vec<ResolvedAccess>) {
        self.guesses = guesses;
    }

    /// Whether a command of the call reads this only if a text that is not known is empty, in its sandbox: what it does
    /// read is seen when it runs there.
    pub(crate) fn is_guess(&self, fact: &ResolvedAccess) -> bool {
        self.is_sandboxed && self.guesses.contains(fact)
    }

    /// Whether the call says that it removes this path of the workspace, or a folder that it lies in.
    pub(crate) fn removes(&self, path: &str) -> bool {
        self.all.iter().any(|fact| {
            fact.capability == Capability::FsDelete
                && fact.inside
                && Path::new(path).starts_with(&fact.real)
        })
    }

    /// Sets the arguments of the call, which rules for somebody else's tool may name.
    pub fn set_arguments(&mut self, arguments: Vec<ArgumentValue>) {
        self.arguments = Some(arguments);
    }

    /// The arguments of the call, value by value; none where they are not known.
    pub fn arguments(&self) -> Option<&[ArgumentValue]> {
        self.arguments.as_deref()
    }

    /// Adds a use of a remote by one of the commands, none of which does anything else.
    pub fn add_remote(&mut self, remote: RemoteUse) {
        self.remotes.push(remote);
    }

    /// Uses of remotes by the commands, if the commands do nothing else.
    pub fn remotes(&self) -> &[RemoteUse] {
        &self.remotes
    }

    /// Returns the use of a remote by the command of these words.
    pub(crate) fn find_remote(&self, words: &[String]) -> Option<&RemoteUse> {
        self.remotes.iter().find(|remote| remote.words == words)
    }

    /// Sets the server that others read and that the call sends something to.
    pub fn set_sent_to_others(&mut self, server: String) {
        self.sent_to_others = Some(server);
    }

    /// The server that others read, if the call sends something there.
    pub fn sent_to_others(&self) -> Option<&str> {
        self.sent_to_others.as_deref()
    }

    /// The confinement that keeps the tool of the call to these facts.
    pub fn confinement(&self) -> Confinement {
        self.confinement
    }

    /// Whether only the accesses that the arguments of somebody else's tool name are known: the tool may touch those,
    /// and more.
    pub fn has_only_mentions(&self) -> bool {
        !self.confinement.is_default() && self.all.iter().all(|fact| fact.derived)
    }

    /// Adds a folder that is read with all that lies below it.
    pub fn add_recursive(&mut self, fact: ResolvedAccess) {
        let at = match self.all.iter().position(|known| *known == fact) {
            Some(at) => at,
            None => {
                self.add(fact);
                self.all.len() - 1
            }
        };
        self.recursive_facts.push(at);
    }

    /// Whether everything below the fact of this number is read.
    pub(crate) fn is_read_recursively(&self, at: usize) -> bool {
        self.recursive_facts.contains(&at)
    }

    /// The folders that are read with everything below them.
    pub(crate) fn recursive_reads(&self) -> impl Iterator<Item = &ResolvedAccess> {
        self.recursive_facts
            .iter()
            .filter_map(|at| self.all.get(*at))
    }

    /// All facts, in order.
    pub fn all(&self) -> &[ResolvedAccess] {
        &self.all
    }

    /// Capabilities that the call itself declares, without those that were read out of a command.
    pub fn declared_capabilities(&self) -> impl Iterator<Item = Capability> {
        let declared = self.all.iter().filter(|fact| !fact.derived);
        declared.map(|fact| fact.capability)
    }

    /// Returns the shell facts of a command, if the command is among these facts.
    pub fn find_command(&self, text: &str) -> Option<&ShellFacts> {
        self.commands
            .iter()
            .find(|(known, _)| known == text)
            .map(|(_, read)| read)
    }

    /// Every command with its shell facts.
    pub fn commands(&self) -> impl Iterator<Item = (&str, &ShellFacts)> {
        self.commands
            .iter()
            .map(|(text, read)| (text.as_str(), read))
    }
}

impl CallFacts {
    /// Returns the evidence of the facts, for judging again. Uses that [`Self::from_evidence`] finds in the words of a
    /// command are left out.
    pub fn to_evidence(&self) -> Evidence {
        let bare: HashSet<ResolvedAccess> = self
            .commands
            .iter()
            .flat_map(|(_, read)| find_bare_uses(read))
            .collect();
        let uses = self.uses.iter().filter(|fact| !bare.contains(*fact));
        Evidence {
            facts: self.all.clone(),
            uses: uses.cloned().collect(),
            commands: self
                .commands
                .iter()
                .map(|(_, read)| read.to_evidence())
                .collect(),
            remotes: self.remotes.clone(),
            below: self.recursive_facts.clone(),
            beyond: self.denial_reason.clone(),
            opens: self.roots_to_open.clone(),
            confinement: self.confinement,
            is_sandboxed: self.is_sandboxed,
            home_state: self.home_state.clone(),
            guesses: self.guesses.clone(),
            arguments: self
                .arguments
                .as_ref()
                .map(|arguments| arguments.iter().map(ArgumentValue::to_masked).collect()),
            sent_to_others: self.sent_to_others.clone(),
            ..Evidence::default()
        }
    }

    /// Restores the facts from the evidence of a verdict: no command is read again. Whichever words of its commands
    /// were the paths of files then, each word counts as a use of the file of its name.
    pub fn from_evidence(evidence: Evidence) -> Self {
        let mut commands = evidence.commands.into_iter();
        let mut facts = Self {
            all: Vec::with_capacity(evidence.facts.len()),
            uses: evidence.uses,
            commands: Vec::new(),
            remotes: evidence.remotes,
            denial_reason: evidence.beyond,
            roots_to_open: evidence.opens,
            recursive_facts: evidence.below,
            exact_digest: None,
            confinement: evidence.confinement,
            is_sandboxed: evidence.is_sandboxed,
            is_own_loopback: false,
            home_state: evidence.home_state,
            guesses: evidence.guesses,
            arguments: evidence.arguments,
            sent_to_others: evidence.sent_to_others,
        };
        for fact in evidence.facts {
            if fact.capability == Capability::ShellRun && facts.find_command(&fact.target).is_none()
            {
                let read = ShellFacts::from_evidence(commands.next().unwrap_or_default());
                facts.commands.push((fact.target.clone(), read));
            }
            facts.all.push(fact);
        }
        let commands = std::mem::take(&mut facts.commands);
        for (_, read) in &commands {
            find_bare_uses(read).for_each(|fact| facts.add_use(fact));
        }
        facts.commands = commands;
        facts
    }
}

/// The files that bare words of a command may use, each by its name as it stands in the workspace.
fn find_bare_uses(read: &ShellFacts) -> impl Iterator<Item = ResolvedAccess> + use<> {
    let uses = read.find_bare_uses().into_iter();
    uses.map(|(capability, name)| ResolvedAccess {
        derived: true,
        ..ResolvedAccess::new_inside(capability, name)
    })
}

impl FromIterator<ResolvedAccess> for CallFacts {
    fn from_iter<I: IntoIterator<Item = ResolvedAccess>>(facts: I) -> Self {
        let mut all = Self::default();
        facts.into_iter().for_each(|fact| all.add(fact));
        all
    }
}
