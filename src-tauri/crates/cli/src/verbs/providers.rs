//! `providers` and `models`: who can answer, and with what.

use agent::Desk;
use protocol::model::ProviderView;
use protocol::query::{Answer, Query};
use protocol::{Fault, ModelChoice};
use serde_json::json;

use super::ask;
use crate::columns::{self, cell};
use crate::ending::{Code, Ended, Ending};
use crate::out::{Ink, Out};

/// Lists the providers, with where each key comes from.
pub(crate) async fn list(desk: &Desk, out: &mut Out) -> Ended {
    let snapshot = desk.snapshot().await?;
    let (providers, chosen) = (snapshot.providers, snapshot.settings.model);
    if out.is_json() {
        out.json(&json!({ "providers": providers, "model": chosen }))?;
        return Ok(Code::Done);
    }
    let rows: Vec<_> = providers
        .iter()
        .map(|view| {
            let (mark, ink) = mark(view);
            vec![
                cell(ink, mark),
                cell(Ink::Strong, &view.id),
                cell(Ink::Plain, &view.note),
                cell(Ink::Faint, &view.base_url),
            ]
        })
        .collect();
    for line in columns::lines(out, &rows, None) {
        out.line(&line)?;
    }
    let line = match chosen {
        Some(ModelChoice { provider, model }) => {
            format!("New sessions begin with {provider} {model}.")
        }
        None => "No model is set for new sessions. Set one: countersign config set model '{ provider = \"ID\", model = \"MODEL\" }'"
            .to_owned(),
    };
    let line = out.ink(Ink::Faint, line.trim_end());
    out.line(&line)?;
    Ok(Code::Done)
}

/// The mark of a provider that can be used, or cannot.
pub(crate) fn mark(view: &ProviderView) -> (&'static str, Ink) {
    match view.ready {
        true => ("✓", Ink::Good),
        false => ("✗", Ink::Bad),
    }
}

/// Lists the models of a provider: that of the settings if none is named.
pub(crate) async fn models(desk: &Desk, provider: Option<String>, out: &mut Out) -> Ended {
    let snapshot = desk.snapshot().await?;
    let set = snapshot.settings.model.map(|model| model.provider);
    let provider = provider.or(set).ok_or_else(|| {
        Ending::usage(Fault::new(
            "No provider is named, and the settings have none.",
            "Name one: countersign models PROVIDER. The list: countersign providers.",
        ))
    })?;
    if !snapshot.providers.iter().any(|view| view.id == provider) {
        return Err(no_provider(&provider, &snapshot.providers));
    }
    let query = Query::Models {
        provider: provider.clone(),
    };
    let models = ask(desk, query, |answer| match answer {
        Answer::Models { models } => Some(models),
        _ => None,
    })
    .await?;
    if out.is_json() {
        out.json(&json!({ "provider": provider, "models": models }))?;
        return Ok(Code::Done);
    }
    for model in &models {
        let line = out.ink(Ink::Plain, model);
        out.line(&line)?;
    }
    Ok(Code::Done)
}

/// That a provider is not there, with those that are.
pub(crate) fn no_provider(id: &str, providers: &[ProviderView]) -> Ending {
    let known: Vec<&str> = providers.iter().map(|view| view.id.as_str()).collect();
    Ending::usage(Fault::new(
        format!("There is no provider `{id}`."),
        format!("Choose one of: {}.", known.join(", ")),
    ))
}
