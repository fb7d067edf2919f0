// Screens of the app but sessions, in the states that they can have.

import { bookOf, type Book } from '../features/rules/book.svelte';
import { keyOf } from '../features/rules/words';
import type { AgentView, EngineView, HookSettings, UpdateState, UpdateView } from '../ipc/bindings';
import type { FakeHost } from '../ipc/fake';
import { busyDay } from '../ipc/fake_attention';
import { newerRelease } from '../ipc/fake_updates';
import type { Desk } from '../state/desk.svelte';
import { SETTINGS_SECTIONS, type SettingsSection } from '../state/view';
import { screenPage, type GalleryPage, type Way } from './page';
import { NOW } from './sample_calls';

type Screen = 'start' | 'desk' | 'search' | 'history' | 'tools' | 'servers' | 'connections' | 'rules';
const FOLDER = '/home/mira/code/tidemark';

/** A screen, with what is pressed there. */
const at = (screen: Screen, steps: Way['steps'] = [], prepare: Way['prepare'] = () => {}): Way => ({
  prepare,
  go: (desk) => desk.navigation.go(screen),
  steps,
});

/** The Rules, once they are loaded. */
const rules = (title: string, act: (book: Book) => void, prepare: Way['prepare'] = () => {}): GalleryPage =>
  screenPage('Rules', `Rules, ${title}`, {
    prepare,
    go: async (desk) => {
      desk.folders.chosen = FOLDER;
      desk.navigation.go('rules');
      const book = bookOf(desk);
      await book.load();
      act(book);
    },
  });

/** Opens the rule with this pattern. */
function openRule(book: Book, pattern: string): void {
  const all = book.view?.sources.flatMap((source) =>
    source.rules.map((view, i) => ({ view, key: keyOf(source, view, i) })),
  );
  book.open({ of: 'rule', key: all?.find(({ view }) => view.rule.pattern === pattern)?.key ?? '' });
}

function search(desk: Desk, text: string): void {
  desk.navigation.searchText = text;
  desk.navigation.go('search');
}

const settings = (
  title: string,
  section: SettingsSection,
  steps: Way['steps'] = [],
  prepare: Way['prepare'] = () => {},
): GalleryPage =>
  screenPage('Settings', `Settings, ${title}`, {
    prepare,
    go: (desk) => desk.navigation.openSettings(section),
    steps,
  });

const clash = (host: FakeHost): void => {
  host.history.conflicts = { und_0002: ['crates/core/src/lib.rs', 'docs/logo.png'] };
};
const lost = (host: FakeHost): void => {
  host.history.lost = [{ entry: 'und_0005', what: 'git push', reason: 'It went to `git.tidemark.dev`.' }];
};
const home = (host: FakeHost): void => {
  host.history.warnings = [
    'This is your home folder: copies of what changes here can become large, and other programs change it all the time.',
  ];
};
const history = (title: string, steps: Way['steps'], prepare?: Way['prepare']): GalleryPage =>
  screenPage('History', `History, ${title}`, at('history', steps, prepare));

const busy = (host: FakeHost): void => {
  host.attention = busyDay('ses_0001', 'call_0001', NOW - 3_600_000);
};

/** Changes what the engine tells at first. */
function tell(host: FakeHost, change: (view: EngineView) => EngineView): void {
  const snapshot = host.snapshot.bind(host);
  host.snapshot = async () => change(await snapshot());
}
const hooked = (host: FakeHost): void =>
  tell(host, (view) => {
    const hooks: HookSettings[] = [
      { name: 'guard', program: '/home/mira/bin/guard', on: ['before', 'after'], timeout_ms: 5_000 },
      { name: 'log', program: '/home/mira/bin/log', on: ['after'], timeout_ms: 5_000 },
    ];
    return { ...view, settings: { ...view.settings, hooks } };
  });
/** Keys that the person changed, and lines of the file that give none. */
const rebound = (host: FakeHost): void =>
  tell(host, (view) => {
    const keys = { search: 'Ctrl+Shift+F', allow: 'F8', next_error: '', fnid: 'Ctrl+H', undo: 'Enter' };
    return { ...view, settings: { ...view.settings, keys, desktop: { start_at_login: true, shortcut: 'Ctrl+Alt+O' } } };
  });
/** The person has chosen nothing yet. */
const first = (host: FakeHost): void =>
  tell(host, (view) => {
    const { posture: _, ...settings } = view.settings;
    return { ...view, settings };
  });
const agentOfFolder = (host: FakeHost): void => {
  const own: AgentView = {
    name: 'release',
    description: 'Cuts a release, and asks before it publishes.',
    source: 'project',
    file: `${FOLDER}/.countersign/agents/release.toml`,
    tools: ['read', 'bash'],
    model: '',
  };
  host.briefing = { ...host.briefing, agents: [...host.briefing.agents, own] };
};

/** Faults of the settings and of the rules of a folder. */
function faulty(host: FakeHost): void {
  const faults = [
    {
      message: 'The provider `local` has no model.',
      hint: 'Name one in the settings; until then it cannot be chosen.',
      context: [],
    },
    {
      message: `The rules file ${FOLDER}/.countersign/rules.toml cannot be read: line 21 is not TOML.`,
      hint: 'Correct the line. Until then every call asks.',
      context: [],
    },
  ];
  tell(host, (view) => ({ ...view, faults }));
}
const signIn = (host: FakeHost): void => {
  for (const server of host.servers.all)
    if (server.settings.id === 'chat') server.sign_in = { type: 'needed', why: null };
};
const deleted = (host: FakeHost): void => host.emit('ses_gone', { type: 'session_deleted', host: 'window', calls: 12 });

/** A newer version of the app, as far as it is known. */
const newer =
  (state: UpdateState, more: Partial<UpdateView> = {}) =>
  (host: FakeHost): void =>
    host.updates.set(state, more);
const release = newerRelease;
const unsigned = {
  message: 'The download is not signed with the key of this app, so it is not installed.',
  hint: 'Nothing was changed. Try again later; if it stays so, tell those who publish the app.',
  context: [],
};

export const screens: readonly GalleryPage[] = [
  screenPage('Start', 'Start, a key is there', at('start')),
  screenPage('Start', 'Start, no key', { fake: 'empty' }),
  screenPage('Start', 'Start, no keychain', {
    fake: 'keyless',
    steps: ['more-answerers', 'provider-anthropic', 'to-key'],
  }),
  screenPage('Start', 'Start, for the first time', { ...at('start'), fake: 'empty', prepare: first }),
  screenPage('Start', 'Start, another machine', at('start', ['more-answerers', 'answerer-ssh'])),
  screenPage(
    'Start',
    'Start, enclosed',
    at('start', [
      'more-answerers',
      'answerer-command',
      { write: 'helper --acp', into: 'agent-command' },
      'start-enclosed',
    ]),
  ),
  screenPage('Start', 'Start, an agent of the folder', at('start', [], agentOfFolder)),
  screenPage('Start', 'Start, advanced', at('start', ['start-advanced'])),
  screenPage('Desk', 'Desk', at('desk')),
  screenPage('Desk', 'Desk, nothing yet', { fake: 'empty', ...at('desk') }),
  screenPage('Desk', 'Desk, a busy day', at('desk', [], busy)),
  screenPage('Desk', 'Desk, inspector', at('desk', [{ key: 'i' }])),
  screenPage('Window', 'Faults of settings and rules', at('desk', [], faulty)),
  screenPage(
    'Window',
    'Palette',
    at('desk', [
      { key: 'k', ctrl: true },
      { write: 're', into: 'palette-input' },
    ]),
  ),
  screenPage('Window', 'Keys', at('desk', [{ key: '?' }])),
  screenPage('Window', 'Sessions, filtered', at('desk', ['rail-filter-toggle', { write: 'un', into: 'rail-filter' }])),
  screenPage('Window', 'Sessions, grouped', at('desk', ['rail-list', 'rail-list-byFolder'])),
  screenPage('Search', 'Search', { go: (desk) => search(desk, 'parse') }),
  screenPage('Search', 'Search, nothing found', { go: (desk) => search(desk, 'no such word') }),
  screenPage('Search', 'Search, nothing asked', at('search')),
  screenPage('History', 'History', at('history')),
  screenPage('History', 'History, nothing yet', { fake: 'empty', ...at('history') }),
  history('what cannot be undone', ['tick-und_0005', 'tick-und_0001'], lost),
  history('back to a point', ['history-und_0001', 'back-to']),
  history('changed since', ['history-und_0002'], clash),
  history('changed since, chosen', ['history-und_0002', 'choice-0-merge', 'choice-1-keep'], clash),
  history('receipt', ['tick-und_0005', 'tick-und_0001', 'undo']),
  history('home folder', [], home),
  screenPage('Rules', 'Rules', at('rules')),
  rules('one is changed', (book) => openRule(book, 'cargo update*')),
  rules('an example fails', (book) => {
    openRule(book, 'cargo update*');
    book.editing?.write({ not_matches: ['cargo upgrade', 'cargo update --manifest-path ../x/Cargo.toml'] });
  }),
  rules('a new one', (book) => book.begin()),
  rules('a grant', (book) => openRule(book, 'docs.rs')),
  rules('a built-in one', (book) => openRule(book, '.git/hooks/**')),
  rules('a call is tried', (book) => book.open({ of: 'try' })),
  rules(
    'a file changed',
    () => {},
    (host) => (host.rules.trust = 'changed'),
  ),
  rules(
    'a file with a fault',
    () => {},
    (host) => (host.rules.texts.project += 'oops\n'),
  ),
  rules(
    'none yet',
    () => {},
    (host) => (host.rules.texts = { user: '', project: '' }),
  ),
  rules('a whole file', (book) => book.go({ at: 'file', scope: 'project' })),
  rules(
    'trust',
    (book) => book.go({ at: 'trust' }),
    (host) => (host.rules.trust = 'changed'),
  ),
  rules('import', (book) => book.go({ at: 'import' })),
  rules(
    'nothing to import',
    (book) => book.go({ at: 'import' }),
    (host) => (host.rules.imports = []),
  ),
  rules('hooks', () => {}, hooked),
  rules('suggestions', (book) => book.go({ at: 'suggestions' })),
  rules('comparison', (book) => book.go({ at: 'compare' })),
  screenPage('Tools', 'Tools', at('tools')),
  screenPage('Tools', 'Tools, interface', at('tools', ['tool-edit', 'tool-tab-developers'])),
  screenPage('Tools', 'Tools, schema', at('tools', ['tool-edit', 'tool-tab-developers', 'tool-form-schema'])),
  screenPage('Tools', 'Tools, try', at('tools', ['tool-edit', 'tool-tab-try'])),
  screenPage('Tools', 'Tools, published', at('tools', ['tool-edit', 'tool-tab-developers', 'tool-form-raw'])),
  screenPage('Servers', 'Servers', at('servers')),
  screenPage('Servers', 'Servers, setup', at('servers', ['server-files', 'server-tab-setup'])),
  screenPage('Servers', 'Servers, setup edited', at('servers', ['server-files', 'server-tab-setup', 'setup-edit'])),
  screenPage('Servers', 'Servers, log', at('servers', ['server-metrics', 'server-tab-log'])),
  screenPage('Servers', 'Servers, off', at('servers', ['server-github'])),
  screenPage('Servers', 'Servers, sign-in', at('servers', ['server-chat'], signIn)),
  screenPage('Servers', 'Servers, a new address', at('servers', ['servers-add', 'server-as-http'])),
  screenPage('Servers', 'Servers, a new one', at('servers', ['servers-add'])),
  screenPage(
    'Servers',
    'Servers, a secret',
    at('servers', [
      'servers-add',
      'pair-add',
      { write: 'API_TOKEN', into: 'pair-name-0' },
      { write: 'not-a-real-one', into: 'pair-value-0' },
    ]),
  ),
  screenPage('Servers', 'Servers, import', at('servers', ['servers-import'])),
  screenPage('Servers', 'Web services', at('servers', ['servers-kind-apis'])),
  screenPage('Servers', 'Web services, setup', at('servers', ['servers-kind-apis', 'api-orders', 'api-tab-setup'])),
  screenPage('Servers', 'Web services, off', at('servers', ['servers-kind-apis', 'api-pets'])),
  screenPage('Servers', 'Web services, a new one', at('servers', ['servers-kind-apis', 'apis-add'])),
  screenPage('Connections', 'Connections', at('connections')),
  screenPage('Connections', 'Connections, a change', at('connections', ['connect-claude-code'])),
  ...SETTINGS_SECTIONS.map((section) => settings(section.replace('_', ' '), section)),
  settings('keys, changed', 'keys', [], rebound),
  settings('keys, of another command', 'keys', ['keys-change-allow', { key: 'n', into: 'new-keys' }]),
  settings('own provider', 'providers', ['add-provider']),
  settings('own language server', 'languages', ['language-add']),
  settings('own program', 'programs', ['watchdog-add']),
  settings('a search provider', 'web_search', ['search-add']),
  settings('deleted sessions', 'undo', [], deleted),
  settings('newer version', 'about', [], newer({ type: 'available', release })),
  settings(
    'newer version, downloading',
    'about',
    [],
    newer({ type: 'downloading', release, received_bytes: 31_000_000, total_bytes: 84_000_000 }),
  ),
  settings('newer version, downloaded', 'about', [], newer({ type: 'staged', release })),
  settings('newer version, refused', 'about', [], newer({ type: 'available', release }, { fault: unsigned })),
  settings('updated by a package manager', 'about', [], newer({ type: 'unknown' }, { way: 'package_manager' })),
  settings('found', 'providers', [{ write: 'undo', into: 'settings-search' }]),
];
