// The file that holds the settings. Pure.

import type { RulesView } from '../../ipc/bindings';

/** Returns the path of the settings: they stand beside the person's own rules, in the data folder. Empty if that is not told. */
export function settingsFile(rules: RulesView): string {
  const file = rules.sources.find(({ scope }) => scope === 'user')?.file ?? '';
  return /[/\\]rules\.toml$/.test(file) ? file.replace(/rules\.toml$/, 'settings.toml') : '';
}
