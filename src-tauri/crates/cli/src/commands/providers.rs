//! `providers` and `models`: the providers that can answer, and their models.

use agent::Engine;
use protocol::ModelChoice;
use protocol::model::ProviderView;
use protocol::query::{Answer, Query};
use serde_json::json;

use crate::exit::{CliError, CliResult};
use crate::output::{OutputWriter, TextStyle};
use crate::table::{self, TableCell, new_cell};

/// Lists the providers, with the source of each key.
pub(crate) async fn list_providers(desk: &Engine, out: &mut OutputWriter) -> CliResult {
    let snapshot = desk.snapshot().await?;
    let (providers, chosen) = (snapshot.providers, snapshot.settings.model);
    out.write_answer(&json!({ "providers": providers, "model": chosen }), |out| {
        let with_address = |view: &ProviderView| {
            let mut row = provider_row(view);
            row.push(new_cell(TextStyle::Faint, &view.base_url));
            row
        };
        let rows: Vec<_> = providers.iter().map(with_address).collect();
        table::write_rows(out, &rows, None)?;
        let line = match &chosen {
            Some(ModelChoice { provider, model }) => {
                format!("New sessions begin with {provider} {model}.")
            }
            None => "No model is set for new sessions. Set one: countersign config set model '{ provider = \"ID\", model = \"MODEL\" }'"
                .to_owned(),
        };
        out.write_styled(TextStyle::Faint, line.trim_end())
    })
}

/// Returns the cells that every list of providers begins with: whether it can be used, its id, and a note.
pub(crate) fn provider_row(view: &ProviderView) -> Vec<TableCell> {
    let (mark, ink) = provider_mark(view);
    vec![
        new_cell(ink, mark),
        new_cell(TextStyle::Strong, &view.id),
        new_cell(TextStyle::Plain, &view.note),
    ]
}

/// Returns the mark that shows whether a provider can be used.
pub(crate) fn provider_mark(view: &ProviderView) -> (&'static str, TextStyle) {
    match view.ready {
        true => ("✓", TextStyle::Good),
        false => ("✗", TextStyle::Bad),
    }
}

/// Lists the models of a provider: that of the settings if none is named.
pub(crate) async fn list_models(
    desk: &Engine,
    provider: Option<String>,
    out: &mut OutputWriter,
) -> CliResult {
    let snapshot = desk.snapshot().await?;
    let set = snapshot.settings.model.map(|model| model.provider);
    let provider = provider.or(set).ok_or_else(|| {
        CliError::usage(
            "No provider is named, and the settings have none.",
            "Name one: countersign models PROVIDER. The list: countersign providers.",
        )
    })?;
    if !snapshot.providers.iter().any(|view| view.id == provider) {
        return Err(unknown_provider(&provider, &snapshot.providers));
    }
    let query = Query::Models {
        provider: provider.clone(),
    };
    let Answer::Models { models } = desk.query(query).await? else {
        return Err(CliError::unexpected_answer());
    };
    out.write_answer(&json!({ "provider": provider, "models": models }), |out| {
        let mut lines = models.iter();
        lines.try_for_each(|model| out.write_styled(TextStyle::Plain, model))
    })
}

/// Returns the error for an unknown provider, with the known ones.
pub(crate) fn unknown_provider(id: &str, providers: &[ProviderView]) -> CliError {
    let known: Vec<&str> = providers.iter().map(|view| view.id.as_str()).collect();
    CliError::usage(
        format!("There is no provider `{id}`."),
        format!("Choose one of: {}.", known.join(", ")),
    )
}
