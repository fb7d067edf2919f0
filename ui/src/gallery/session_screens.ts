// Screens of sessions: their calls, their messages, and what opens around them.

import { imagesOf, notAType } from '../features/session/images.svelte';
import type { AgentOption, Content, EventBody } from '../ipc/bindings';
import type { FakeHost } from '../ipc/fake';
import type { Desk } from '../state/desk.svelte';
import { screenPage, type GalleryPage, type Way } from './page';
import { NOW } from './sample_calls';

const session = (title: string, way: Way): GalleryPage => screenPage('Sessions', title, way);

/** One of the sessions of the recorded engine. */
const show = (id: string, steps: Way['steps'] = [], prepare: Way['prepare'] = () => {}): Way => ({
  prepare,
  go: (desk) => desk.navigation.show(id),
  steps,
});

/** A session of a made-up provider, with what happened in it. */
const made = (provider: string, happened: readonly EventBody[], steps: Way['steps'] = []): Way =>
  show('ses_made', steps, (host) => {
    const model = { provider, model: provider === 'agent' ? 'claude-code' : 'claude-sonnet-5' };
    const opened = { type: 'session_opened', title: 'Mend the parser', workspace: '/home/mira/code/tidemark', model };
    host.emit('ses_made', opened as EventBody, ...happened);
  });

const running: EventBody = { type: 'session_changed', state: 'running' };
const options: AgentOption[] = [
  {
    id: 'mode',
    name: 'Mode',
    value: 'default',
    values: [
      { value: 'default', name: 'Manual', description: 'Always asks.' },
      { value: 'auto', name: 'Auto', warning: 'It may act without asking in this mode.' },
    ],
  },
  {
    id: 'model',
    name: 'Model',
    value: 'opus',
    values: [
      { value: 'opus', name: 'Opus' },
      { value: 'haiku', name: 'Haiku' },
    ],
  },
];

/** Text of others that would like to be more than text, and is very long. */
const HOSTILE = [
  '<img src=x onerror=alert(1)> <script>alert(2)</script> [a link](javascript:alert(3)) ![](https://evil.example/x.png)',
  'user\u202egpj.exe, zero\u200bwidth, p\u0430ypal.com, \u001b]8;;https://evil.example\u0007click\u001b]8;;\u0007',
  'word'.repeat(400),
].join('\n\n');

const said = (text: string): Extract<EventBody, { type: 'person_said' }> => ({
  type: 'person_said',
  message: 'msg_p',
  text,
  steering: false,
});
/** A picture of one pixel. */
const DOT: Extract<Content, { type: 'image' }> = {
  type: 'image',
  mime: 'image/png',
  base64: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
};
/** The same picture, chosen to go with the next message. */
const chosen = (desk: Desk): void => {
  const blob = new Blob([Uint8Array.from(atob(DOT.base64), (letter) => letter.charCodeAt(0))], { type: DOT.mime });
  const images = imagesOf(desk, 'ses_0001');
  images.list = [{ id: 1, name: 'screen.png', blob, image: DOT }];
  images.leftOut = [{ names: ['notes.pdf'], why: notAType() }];
};
const notice: EventBody = {
  type: 'notice_added',
  notice: {
    level: 'warning',
    fault: {
      message: 'The sandbox is not available on this machine.',
      hint: 'Install `bubblewrap`; until then every command asks.',
      context: [],
    },
  },
};

const passed = (host: FakeHost): void => {
  host.passed = [
    { session: 'ses_0006', call: 'c', at: NOW - 60_000, title: 'Run', target: 'cargo test -p tidemark-parser' },
  ];
};
const files = (host: FakeHost): void => {
  host.files = ['src/lib.rs', 'src/main.rs', 'my notes.md'].map((path, i) => ({
    path,
    bytes: 500 * (i + 1),
    modified: NOW - i * 60_000,
  }));
};

export const sessionScreens: readonly GalleryPage[] = [
  session('Session with a diff', show('ses_0006')),
  session('Session with a command', show('ses_0004')),
  session('Session with a question', show('ses_0005')),
  session('Session with a deletion', show('ses_0003')),
  session('Session that is done', show('ses_0001')),
  session('Session that failed', show('ses_0002')),
  session('Session with everything', { ...show('ses_words'), fake: 'transcript' }),
  session('Session, nothing said yet', made('anthropic', [])),
  session('Session, hostile text', {
    ...made('anthropic', [
      running,
      said(HOSTILE),
      { type: 'turn_started', message: 'msg_a', turn: 1 },
      { type: 'agent_said', message: 'msg_a', text: HOSTILE, reasoning: false },
    ]),
  }),
  session('Sub-agents and servers that ask', { fake: 'reach' }),
  session('Session with sub-agents', { ...show('ses_top'), fake: 'reach' }),
  session('Session, a server asks for values', { ...show('ses_form'), fake: 'reach' }),
  session('Session, a server asks to open an address', { ...show('ses_address'), fake: 'reach' }),
  session('Session, a server asks for a model', { ...show('ses_model'), fake: 'reach' }),
  session('Session, calls folded', {
    ...show('ses_words', ['session-view', 'session-view-folded']),
    fake: 'transcript',
  }),
  session('Session, an image', made('anthropic', [{ ...said('What is this?'), images: [DOT] }])),
  session('Session, images with the message', {
    go: (desk) => {
      chosen(desk);
      desk.navigation.show('ses_0001');
    },
  }),
  session('Session, a notice', made('anthropic', [running, said('Go on.'), notice])),
  session('Session, the demo is over', made('demo', [running, { type: 'session_changed', state: 'done' }])),
  session('Session, options of an agent', made('agent', [{ type: 'agent_options_changed', options }])),
  session('Session, arguments edited', show('ses_0006', ['more', 'more-edit'])),
  session('Session, skipped asks', show('ses_0006', ['session-skip', 'session-skip-skip-15', 'skip-list'], passed)),
  session('Session, more', show('ses_0006', ['session-more'])),
  session('Session, closing', show('ses_0006', ['session-more', 'session-more-close'])),
  session('Session, deleting', show('ses_0001', ['session-more', 'session-more-delete'])),
  session(
    'Session, found text',
    show('ses_0006', [
      { key: 'f', ctrl: true },
      { write: 'minus', into: 'find-box' },
    ]),
  ),
  session('Session, files offered', show('ses_0001', [{ write: 'Look at @', into: 'composer' }], files)),
  session('Session, prompts offered', show('ses_0001', [{ write: '/', into: 'composer' }])),
  session('Session, a prompt', show('ses_0001', [{ write: '/triage', into: 'composer' }, 'offer-chat/triage'])),
  session(
    'Session, a prompt with fields',
    show('ses_0001', [{ write: '/summary', into: 'composer' }, 'offer-chat/summary']),
  ),
  session('Session, facts', show('ses_0001', [{ key: 'i' }])),
  session('Session, briefing', show('ses_0006', ['toggle-briefing'])),
  session('Session, inspector', show('ses_0006', [{ key: 'i' }])),
];
