//! May it? Pure functions: classify, scope, rules, decide.
