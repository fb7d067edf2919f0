//! Sessions on record: found, listed, and repeated to an editor.

use std::cmp::Reverse;
use std::path::Path;

use agent::is_manual_provider;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    self, ListSessionsRequest, ListSessionsResponse, SessionInfo,
};
use agent_client_protocol::{Client, Error};
use protocol::query::{Answer, Query};
use protocol::text::timestamp::format_timestamp;
use protocol::view::entry::SessionView;

use super::errors::{failed_request, unknown_session};
use super::server::{AgentServer, send_update};
use super::updates::updates_from_entry;
use crate::limits::{HISTORY_PAGE_ENTRIES, LIST_PAGE_SESSIONS};

impl AgentServer {
    /// Returns a session in which our agent works for a person.
    pub async fn find_session(&self, id: &schema::SessionId) -> Result<SessionView, Error> {
        let all = self.list_own_sessions().await?;
        let found = all.into_iter().find(|view| *view.id.as_str() == *id.0);
        found.ok_or_else(|| unknown_session(id))
    }

    /// Lists the sessions in which our agent works for a person, the newest first.
    async fn list_own_sessions(&self) -> Result<Vec<SessionView>, Error> {
        let state = self.desk.snapshot().await;
        let mut sessions = state.map_err(|fault| failed_request(&fault))?.sessions;
        sessions.retain(|view| view.parent.is_none() && !is_manual_provider(&view.model.provider));
        sessions.sort_by_key(|view| Reverse(view.changed_at));
        Ok(sessions)
    }

    /// Lists the sessions of a folder, or of all, a page at a time.
    pub async fn list_sessions(
        &self,
        request: &ListSessionsRequest,
    ) -> Result<ListSessionsResponse, Error> {
        let mut sessions = self.list_own_sessions().await?;
        if let Some(folder) = &request.cwd {
            sessions.retain(|view| Path::new(&view.workspace) == folder);
        }
        let first = match &request.cursor {
            None => 0,
            Some(cursor) => {
                let last = sessions.iter().position(|view| view.id.as_str() == cursor);
                last.ok_or_else(Error::invalid_params)? + 1
            }
        };
        let rest = sessions.get(first..).unwrap_or_default();
        let page = &rest[..rest.len().min(LIST_PAGE_SESSIONS)];
        let has_more = page.len() < rest.len();
        let cursor = page.last().filter(|_| has_more);
        let cursor = cursor.map(|view| view.id.to_string());
        let infos = page.iter().map(|view| {
            SessionInfo::new(view.id.as_str().to_owned(), &view.workspace)
                .title(view.title.clone())
                .updated_at(format_timestamp(view.changed_at))
        });
        Ok(ListSessionsResponse::new(infos.collect()).next_cursor(cursor))
    }

    /// Sends the history of a session.
    pub async fn repeat_history(
        &self,
        id: &schema::SessionId,
        client: &ConnectionTo<Client>,
    ) -> Result<(), Error> {
        let view = self.find_session(id).await?;
        let mut from = 0;
        loop {
            let query = Query::TranscriptFrom {
                session: view.id.clone(),
                from,
                limit: HISTORY_PAGE_ENTRIES,
            };
            let answer = self.desk.query(query).await;
            let answer = answer.map_err(|fault| failed_request(&fault))?;
            let Answer::Transcript { entries, more, .. } = answer else {
                return Err(Error::internal_error());
            };
            for entry in &entries {
                for update in updates_from_entry(entry, Path::new(&view.workspace)) {
                    send_update(client, &view.id, update)?;
                }
            }
            match entries.last() {
                Some(last) if more => from = last.seq + 1,
                _ => return Ok(()),
            }
        }
    }
}
