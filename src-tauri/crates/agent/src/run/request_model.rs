//! The choice of the model that answers a request.

use protocol::ModelChoice;
use tools::custom::RequestConfig;

/// Returns the model of a request: the one that its configuration names, with gaps filled in from `otherwise`.
pub(crate) fn model_from_request(config: &RequestConfig, otherwise: &ModelChoice) -> ModelChoice {
    let provider = config.provider.as_ref().unwrap_or(&otherwise.provider);
    let own = match *provider == otherwise.provider {
        true => otherwise.model.clone(),
        false => String::new(),
    };
    let mut model = config.model.clone().unwrap_or(own);
    if let Some(thinking) = config.thinking.filter(|_| !model.is_empty()) {
        model = format!("{model}-{}", thinking.as_str());
    }
    ModelChoice {
        provider: provider.clone(),
        model,
    }
}
