//! The memory: SQLite, search, export.
