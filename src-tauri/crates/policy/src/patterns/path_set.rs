//! Many path patterns at once: one look tells whether any of them could cover a path.

use std::collections::HashSet;

use globset::{GlobSet, GlobSetBuilder};

use super::path::{PathForms, PathPattern, join_root};
use crate::path::{CaseFolded, Os};

/// Patterns of one system, all of which are looked for at once.
#[derive(Debug, Clone)]
pub(crate) struct PathPatternSet {
    os: Os,
    set: GlobSet,
    /// Whether one of the patterns begins at a root.
    any_absolute: bool,
    /// The names with which the patterns begin.
    leading_names: HashSet<String>,
}

impl PathPatternSet {
    /// Builds the set of one system's patterns; none where one of them covers everything.
    pub(crate) fn from_patterns(os: Os, all: &[&PathPattern]) -> Option<Self> {
        let mut set = GlobSetBuilder::new();
        let mut any_absolute = false;
        let mut leading_names = HashSet::new();
        for pattern in all.iter().filter(|pattern| pattern.os() == os) {
            // A pattern that covers a path covers the paths below it as well.
            let [_, below] = pattern.broad_globs()?;
            set.add(below);
            any_absolute |= pattern.is_absolute();
            leading_names.extend(pattern.leading_names());
        }
        let set = set.build().ok()?;
        Some(Self {
            os,
            set,
            any_absolute,
            leading_names,
        })
    }

    /// Whether one of the patterns could cover a path: perhaps where none does, and always where one does.
    pub(crate) fn may_cover(&self, forms: &PathForms<'_>) -> bool {
        let matches = |path: &str| {
            let folded = CaseFolded::new(self.os, path);
            let path = folded.as_str().trim_start_matches('/');
            self.set.is_match(format!("{path}/."))
        };
        let root = forms.root.filter(|_| forms.inside && self.any_absolute);
        !self.set.is_empty()
            && (matches(forms.real)
                || root.is_some_and(|root| matches(&join_root(root, forms.real))))
    }
    /// Whether a path that one of the patterns covers could lie below a folder that is to be removed: perhaps where none
    /// does, and always where one does.
    pub(crate) fn may_cover_in_removed(&self, forms: &PathForms<'_>) -> bool {
        let folded = CaseFolded::new(self.os, forms.real);
        let last = folded.as_str().rsplit('/').next().unwrap_or_default();
        forms.real.is_empty() || self.leading_names.contains(last)
    }
}
