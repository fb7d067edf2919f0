// The code of the screens and panels that are gone to now and then. Loaded beside the first screen.

export { commandsOf } from './commands';
export { default as Briefing } from './features/briefing/Briefing.svelte';
export { default as History } from './features/history/History.svelte';
export { default as Keys } from './features/palette/Keys.svelte';
export { default as Palette } from './features/palette/Palette.svelte';
export { default as RuleActs } from './features/rules/Acts.svelte';
export { bookOf } from './features/rules/book.svelte';
export { default as RulePanel } from './features/rules/Panel.svelte';
export { default as Rules } from './features/rules/Rules.svelte';
export { default as Search } from './features/search/Search.svelte';
export { default as ServerActs } from './features/servers/Acts.svelte';
export { default as Servers } from './features/servers/Servers.svelte';
export { shelvesOf } from './features/servers/shelf.svelte';
export { default as Settings } from './features/settings/Settings.svelte';
export { default as Tools } from './features/tools/Tools.svelte';
