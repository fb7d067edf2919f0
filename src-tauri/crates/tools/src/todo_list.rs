//! A session's list of things to do (`S002-18`).

use std::sync::{Mutex, PoisonError};

use protocol::view::preview::TodoItem;

/// The list, replaced as a whole. Shared by all calls of one session.
#[derive(Debug, Default)]
pub struct TodoList {
    items: Mutex<Vec<TodoItem>>,
}

impl TodoList {
    /// Returns the current items of the list.
    pub fn items(&self) -> Vec<TodoItem> {
        self.lock_items().clone()
    }

    /// Replaces all items and returns the previous ones.
    pub fn replace(&self, items: Vec<TodoItem>) -> Vec<TodoItem> {
        std::mem::replace(&mut *self.lock_items(), items)
    }

    /// Locks the list. It is complete after every write, so a list that was poisoned by a panic elsewhere is still
    /// valid.
    fn lock_items(&self) -> std::sync::MutexGuard<'_, Vec<TodoItem>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
