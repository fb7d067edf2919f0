//! Which model answers a request.

use protocol::ModelChoice;
use tools::custom::RequestConfig;

/// Who answers a request: whom its configuration names, and what it leaves out as `otherwise` has it.
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
