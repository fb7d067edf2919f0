// The settings and providers of the recorded engine.

import type {
  AssuranceReport as Promised,
  EditorView,
  EngineView,
  LanguageServer,
  LanguageServerView,
  ProviderView,
  SearchProviderView,
  Settings,
} from './bindings';

/** Settings as a new installation has them, once a posture was chosen. */
const firstSettings: Settings = {
  ask_for_everything: false,
  posture: 'ask_first',
  theme: 'system',
  diff: 'unified',
  notify: true,
  expire_after_min: 0,
  undo_keep_days: 30,
  undo_bytes_max: 2_000_000_000,
  outputs_keep_days: 30,
  outputs_bytes_max: 1_000_000_000,
  model: { provider: 'anthropic', model: 'claude-sonnet-5' },
  strategy: 'parallel',
  limits: { turns: 250, calls: 2000, tokens: 50_000_000, cost_usd: 25, minutes: 240, repeats: 3 },
  variables: { withheld: [], passed: [] },
  skills: { folders: [] },
  web_search: { calls_max: 25, timeout_ms: 15_000, providers: [] },
  language_servers: [],
  watchdogs: [],
  providers: [],
  tools: {},
};

/** Assurances that the machine of the recorded engine can give. */
export const promised: Promised = {
  assurance: 'speculative',
  net_off: true,
  unix_sockets_off: true,
  kill_tree: true,
  in_place: true,
  reasons: [
    'A command sees the folder through an overlay that lies on the same disk.',
    'Landlock and seccomp hold in the sandbox.',
  ],
};

/** Language servers as a machine has them on which only Pyright is installed. */
export function languageViews(own: readonly LanguageServer[]): LanguageServerView[] {
  const offered = [
    {
      id: 'rust-analyzer',
      title: 'rust-analyzer',
      language: 'Rust',
      command: 'rust-analyzer',
      ending: 'rs',
      of: 'rust',
      runs: 'Runs cargo, and with it the build scripts and macros of the folder.',
      found: null,
    },
    {
      id: 'pyright',
      title: 'Pyright',
      language: 'Python',
      command: 'pyright-langserver',
      ending: 'py',
      of: 'python',
      runs: 'Runs the Python that it finds, also one in the folder.',
      found: '/usr/bin/pyright-langserver',
    },
  ];
  const known = offered.map(({ id, title, language, command, ending, of, runs, found }) => {
    const settings = own.find((one) => one.id === id) ?? {
      id,
      enabled: false,
      command,
      args: ['--stdio'],
      files: { [ending]: of },
    };
    return { settings, title, language, runs, own: false, found };
  });
  const others = own.filter((one) => offered.every(({ id }) => id !== one.id));
  const theirs = others.map((settings) => ({
    settings,
    title: settings.id,
    language: [...new Set(Object.values(settings.files))].join(', '),
    runs: 'May run whatever it finds in the folder.',
    own: true,
    found: null,
  }));
  return [...known, ...theirs];
}

/** A snapshot without sessions. */
export function emptySnapshot(): EngineView {
  return {
    seq: 0,
    sessions: [],
    desk: [],
    settings: firstSettings,
    providers: [
      {
        id: 'anthropic',
        title: 'Anthropic',
        base_url: 'https://api.anthropic.com/',
        ready: true,
        note: 'key from ANTHROPIC_API_KEY',
        models: ['claude-opus-5', 'claude-sonnet-5'],
        key: { state: 'found', variable: 'ANTHROPIC_API_KEY', can_be_kept: true },
      },
      {
        id: 'openai',
        title: 'OpenAI',
        base_url: 'https://api.openai.com/',
        ready: false,
        note: 'No key. Set OPENAI_API_KEY, or enter one in Settings.',
        models: [],
        key: { state: 'missing', variable: 'OPENAI_API_KEY', can_be_kept: true },
      },
      {
        id: 'ollama',
        title: 'Ollama',
        base_url: 'http://127.0.0.1:11434/',
        ready: true,
        note: 'needs no key',
        models: ['qwen3-coder:30b'],
        key: { state: 'not_needed', variable: null, can_be_kept: true },
      },
      {
        id: 'demo',
        title: 'Demo',
        base_url: '',
        ready: true,
        note: 'needs no model and no network',
        models: [],
        key: { state: 'not_needed', variable: null, can_be_kept: true },
      },
    ],
    faults: [],
    settings_file: '/home/mira/.config/countersign/settings.toml',
    version: '0.1.0',
    home: '/home/mira',
  };
}

/** Providers on a machine whose keychain cannot be used, where no key was found either. */
export function withoutKeychain(): ProviderView[] {
  return emptySnapshot().providers.map((provider) => {
    const { variable } = provider.key;
    if (variable === null) return provider;
    const note = `No key. Set the environment variable ${variable} (The system keychain cannot be used here).`;
    return { ...provider, ready: false, note, models: [], key: { state: 'missing', variable, can_be_kept: false } };
  });
}

/** Providers where no key was entered and nothing local runs: only the demo can start. */
export function firstStart(): ProviderView[] {
  return emptySnapshot().providers.map((provider) => {
    if (provider.id === 'demo') return provider;
    if (provider.key.state === 'not_needed') {
      return {
        ...provider,
        ready: false,
        note: 'Not running at http://127.0.0.1:11434. Start it with `ollama serve`.',
      };
    }
    const key = { ...provider.key, state: 'missing' as const };
    return { ...provider, ready: false, note: 'No key. Enter one in Settings.', models: [], key };
  });
}

/** The configured search providers; `kept` names what has a key. */
export function searchProviderViews({ web_search }: Settings, kept: ReadonlySet<string>): SearchProviderView[] {
  return web_search.providers.map(({ id, wire }) => {
    if (wire === 'searxng') return { id, ready: true, note: 'Needs no key.' };
    const ready = kept.has(`web_search/${id}`);
    return { id, ready, note: ready ? 'Key from the system keychain.' : 'No key yet. It is not answered without one.' };
  });
}

/** The editors that are found on the machine. */
export const editorViews: EditorView[] = [
  { title: 'Visual Studio Code', program: 'code' },
  { title: 'Zed', program: 'zed' },
];
