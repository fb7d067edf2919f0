//! What a call touches, with every command in it read once, however many gates look at it.

use std::collections::HashSet;

use protocol::grounds::{Argument, Confinement, Grounds};
use protocol::{Capability, Digest, Fact};

use crate::Surface;
use crate::shell::{self, ShellFacts};

/// The doubt about a word of a command that the shell completes. The command itself is then not certain, which is said
/// once, of the whole.
pub const OPEN: &str = "What it names is only known when it runs.";

/// Why a command is denied that names more files than are looked at.
const CROWDED: &str = "It names more files than can be looked at.";

/// The facts of one call.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    all: Vec<Fact>,
    /// What words of its commands may use beside that: it can only make the verdict stricter.
    uses: Vec<Fact>,
    commands: Vec<(String, ShellFacts)>,
    beyond: Option<String>,
    /// What a person would have to open first: where a fact leads, and the place.
    opens: Vec<(String, String)>,
    /// Which of them are folders that are read with everything below.
    below: Vec<usize>,
    /// What this call alone has, with what its watchdogs ask: what a grant for exactly it names (`S002-90`).
    exactly: Option<Digest>,
    /// What keeps the tool of the call to them.
    confinement: Confinement,
    /// The arguments of a call of somebody else's tool, value by value.
    arguments: Option<Vec<Argument>>,
}

impl Facts {
    /// Adds a fact; a command is read.
    pub fn add(&mut self, fact: Fact) {
        if fact.capability == Capability::ShellRun && self.command(&fact.target).is_none() {
            let read = shell::read(&fact.target);
            self.close(read.is_crowded().then(|| CROWDED.to_owned()));
            self.commands.push((fact.target.clone(), read));
        }
        self.all.push(fact);
    }

    /// Adds a file that a word of a command may use, though no table says that its program does.
    pub fn add_use(&mut self, fact: Fact) {
        if !self.uses.contains(&fact) && !self.all.contains(&fact) {
            self.uses.push(fact);
        }
    }

    /// The files that words of its commands may use beside [`Self::all`].
    pub fn uses(&self) -> &[Fact] {
        &self.uses
    }

    /// Holds them to a surface: what lies beyond it is denied, and what it names outside of the granted folders is asked
    /// about.
    pub fn hold_to(&mut self, surface: &Surface) {
        let opens = |fact: &Fact| Some((fact.real.clone(), surface.opens(fact)?.to_owned()));
        self.opens = self.all.iter().filter_map(opens).collect();
        self.hold_below(surface);
    }

    /// Holds them to one more surface, which opens nothing: what lies beyond it is denied.
    pub fn hold_below(&mut self, surface: &Surface) {
        let beyond = |fact: &Fact| surface.beyond(fact, self.command(&fact.target));
        let beyond = self.all.iter().find_map(beyond);
        self.close(beyond);
    }

    /// Denies the call for a reason.
    pub fn close(&mut self, why: Option<String>) {
        self.beyond = self.beyond.take().or(why);
    }

    /// The places that a person would have to open for it first.
    pub fn opens(&self) -> impl Iterator<Item = &str> {
        self.opens.iter().map(|(_, place)| place.as_str())
    }

    /// The place that a person would have to open for a fact.
    pub(crate) fn opened_for(&self, fact: &Fact) -> Option<&str> {
        let mut opens = self.opens.iter();
        let (_, place) = opens.find(|(real, _)| *real == fact.real)?;
        Some(place)
    }

    /// Why some of it may not be touched at all, if that is so.
    pub fn beyond(&self) -> Option<&str> {
        self.beyond.as_deref()
    }

    /// The same, with what a grant for exactly this call would name.
    #[must_use]
    pub fn known_as(mut self, exactly: Option<Digest>) -> Self {
        self.exactly = exactly;
        self
    }

    /// What a grant for exactly this call names; none where no such grant can be.
    pub fn exactly(&self) -> Option<&Digest> {
        self.exactly.as_ref()
    }

    /// Says what keeps the tool of the call to these facts.
    pub fn confine(&mut self, confinement: Confinement) {
        self.confinement = confinement;
    }

    /// Says what the arguments of the call are, which rules for somebody else's tool may name.
    pub fn argued(&mut self, arguments: Vec<Argument>) {
        self.arguments = Some(arguments);
    }

    /// The arguments of the call, value by value; none where they are not known.
    pub fn arguments(&self) -> Option<&[Argument]> {
        self.arguments.as_deref()
    }

    /// What keeps the tool of the call to these facts.
    pub fn confinement(&self) -> Confinement {
        self.confinement
    }

    /// Whether all that is known is what the arguments of somebody else's tool name: it may touch that, and more.
    pub fn are_mentions(&self) -> bool {
        !self.confinement.is_held() && self.all.iter().all(|fact| fact.derived)
    }

    /// Adds a folder that is read with all that lies below it.
    pub fn add_below(&mut self, fact: Fact) {
        let at = match self.all.iter().position(|known| *known == fact) {
            Some(at) => at,
            None => {
                self.add(fact);
                self.all.len() - 1
            }
        };
        self.below.push(at);
    }

    /// Whether everything below the fact of this number is read.
    pub(crate) fn is_read_below(&self, at: usize) -> bool {
        self.below.contains(&at)
    }

    /// All of them, in order.
    pub fn all(&self) -> &[Fact] {
        &self.all
    }

    /// What the call itself says that it touches, without what was read out of a command.
    pub fn declared(&self) -> impl Iterator<Item = Capability> {
        let declared = self.all.iter().filter(|fact| !fact.derived);
        declared.map(|fact| fact.capability)
    }

    /// What was read of a command that is among them.
    pub fn command(&self, text: &str) -> Option<&ShellFacts> {
        self.commands
            .iter()
            .find(|(known, _)| known == text)
            .map(|(_, read)| read)
    }

    /// Every command with what was read of it.
    pub fn commands(&self) -> impl Iterator<Item = (&str, &ShellFacts)> {
        self.commands
            .iter()
            .map(|(text, read)| (text.as_str(), read))
    }
}

impl Facts {
    /// As a verdict keeps them, for judging again. What [`Self::of_kept`] finds in the words of a command is left out.
    pub fn kept(&self) -> Grounds {
        let bare: HashSet<Fact> = self
            .commands
            .iter()
            .flat_map(|(_, read)| bare_uses(read))
            .collect();
        let uses = self.uses.iter().filter(|fact| !bare.contains(*fact));
        Grounds {
            facts: self.all.clone(),
            uses: uses.cloned().collect(),
            commands: self.commands.iter().map(|(_, read)| read.kept()).collect(),
            below: self.below.clone(),
            beyond: self.beyond.clone(),
            opens: self.opens.clone(),
            confinement: self.confinement,
            arguments: self
                .arguments
                .as_ref()
                .map(|arguments| arguments.iter().map(Argument::kept).collect()),
            ..Grounds::default()
        }
    }

    /// From what a verdict kept: no command is read again. Whatever words of its commands were the paths of then, each
    /// counts as a use of the file of its name.
    pub fn of_kept(grounds: Grounds) -> Self {
        let mut commands = grounds.commands.into_iter();
        let mut kept = Self {
            all: Vec::with_capacity(grounds.facts.len()),
            uses: grounds.uses,
            commands: Vec::new(),
            beyond: grounds.beyond,
            opens: grounds.opens,
            below: grounds.below,
            exactly: None,
            confinement: grounds.confinement,
            arguments: grounds.arguments,
        };
        for fact in grounds.facts {
            if fact.capability == Capability::ShellRun && kept.command(&fact.target).is_none() {
                let read = ShellFacts::of_kept(commands.next().unwrap_or_default());
                kept.commands.push((fact.target.clone(), read));
            }
            kept.all.push(fact);
        }
        let commands = std::mem::take(&mut kept.commands);
        for (_, read) in &commands {
            bare_uses(read).for_each(|fact| kept.add_use(fact));
        }
        kept.commands = commands;
        kept
    }
}

/// The files that bare words of a command may use, each by its name as it stands in the workspace.
fn bare_uses(read: &ShellFacts) -> impl Iterator<Item = Fact> + use<> {
    let uses = read.bare_uses().into_iter();
    uses.map(|(capability, name)| Fact {
        derived: true,
        ..Fact::inside(capability, name)
    })
}

impl FromIterator<Fact> for Facts {
    fn from_iter<I: IntoIterator<Item = Fact>>(facts: I) -> Self {
        let mut all = Self::default();
        facts.into_iter().for_each(|fact| all.add(fact));
        all
    }
}
