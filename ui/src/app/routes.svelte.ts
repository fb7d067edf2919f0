// The table of screens and panels: each is a chunk of its own, loaded once the first screen is drawn.

import type { View } from '../state/view';

/** Modules of the parts, loaded on demand. The start is not among them: it is loaded from the beginning. */
const sources = {
  // The screens, by the names that they have in a view.
  session: () => import('./screens/Session.svelte'),
  desk: () => import('./screens/Desk.svelte'),
  search: () => import('../features/search/Search.svelte'),
  history: () => import('./screens/History.svelte'),
  tools: () => import('./screens/Tools.svelte'),
  servers: () => import('./screens/Servers.svelte'),
  connections: () => import('./screens/Connections.svelte'),
  rules: () => import('./screens/Rules.svelte'),
  settings: () => import('./screens/Settings.svelte'),
  // Panels that open beside a screen or over it.
  inspector: () => import('../features/inspector/Inspector.svelte'),
  sessionFacts: () => import('../features/session/SessionFacts.svelte'),
  briefing: () => import('../features/briefing/Briefing.svelte'),
  rulePanel: () => import('../features/rules/Panel.svelte'),
  palette: () => import('../features/palette/Palette.svelte'),
  keys: () => import('../features/palette/Keys.svelte'),
  deletion: () => import('../features/deletion/DeleteSession.svelte'),
  // Modules that acts of the window need of a screen.
  book: () => import('../features/rules/book.svelte'),
  sources: () => import('../features/servers/sources.svelte'),
  commands: () => import('./commands'),
} satisfies Record<Exclude<View['screen'], 'start'>, unknown> & Record<string, () => Promise<unknown>>;

type Sources = typeof sources;
type Name = keyof Sources;
type Loaded = { [N in Name]?: Awaited<ReturnType<Sources[N]>> };

/** Names of the screens. A session has a title of its own. */
export const screenNames: Record<View['screen'], string> = {
  start: 'New session',
  desk: 'Desk',
  search: 'Search',
  history: 'History',
  tools: 'Tools',
  servers: 'Servers',
  connections: 'Connections',
  rules: 'Rules',
  settings: 'Settings',
  session: '',
};

let loaded: Loaded = $state.raw({});

/** The code of a part; none until it was loaded. */
export function part<N extends Name>(name: N): Loaded[N] {
  return loaded[name];
}

/** Loads parts that are not there yet. */
export async function load(...names: Name[]): Promise<void> {
  const missing = names.filter((name) => !loaded[name]);
  const modules = await Promise.all(missing.map(async (name) => [name, await sources[name]()] as const));
  loaded = { ...loaded, ...(Object.fromEntries(modules) as Loaded) };
}

/** Loads all that is not there yet, the screens that sessions are worked with first. */
export async function loadAll(): Promise<void> {
  await load('session', 'desk', 'inspector', 'sessionFacts');
  await load(...(Object.keys(sources) as Name[]));
}
