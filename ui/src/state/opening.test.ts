// The first screen, for every way a window can find the engine.

import { describe, expect, test } from 'vitest';
import sample from '../../../tests/golden/sample.jsonl?raw';
import type { EngineView } from '../ipc/bindings';
import { FakeHost } from '../ipc/fake';
import { parseStream } from '../ipc/fake_streams';
import { keepView, keptView, type View } from './view';
import { openedOutside, openingView } from './opening';

const whole = await new FakeHost(parseStream(sample)).snapshot();
const waiting = (session: string) => whole.desk.filter((entry) => entry.session === session);
const quiet = whole.sessions.map((session) => ({ ...session, state: 'done' as const }));
const running = (...ids: string[]) =>
  quiet.map((one) => (ids.includes(one.id) ? { ...one, state: 'running' as const } : one));

test.each<[string, Pick<EngineView, 'sessions' | 'desk'>, View]>([
  ['nothing was ever done', { sessions: [], desk: [] }, { screen: 'start' }],
  ['everything is over', { sessions: quiet, desk: [] }, { screen: 'start' }],
  [
    'one session waits',
    { sessions: whole.sessions, desk: waiting('ses_0005') },
    { screen: 'session', session: 'ses_0005' },
  ],
  [
    'one waits while another runs',
    { sessions: running('ses_0006'), desk: waiting('ses_0004') },
    { screen: 'session', session: 'ses_0004' },
  ],
  ['several wait', whole, { screen: 'desk' }],
  [
    'two run: the one that changed last',
    { sessions: running('ses_0001', 'ses_0003').reverse(), desk: [] },
    { screen: 'session', session: 'ses_0003' },
  ],
])('%s', (_, snapshot, view) => expect(openingView(snapshot)).toEqual(view));

describe('after the page was loaded anew', () => {
  test.each<View>([
    { screen: 'start' },
    { screen: 'rules' },
    { screen: 'settings', section: 'undo' },
    { screen: 'session', session: 'ses_0002' },
  ])('%o is looked at again, whatever waits', (view) => {
    keepView(sessionStorage, view);
    expect(openingView(whole, keptView(sessionStorage))).toEqual(view);
  });

  test('a session that is over is looked at again, although nothing waits and nothing runs', () => {
    const view: View = { screen: 'session', session: 'ses_0001' };
    expect(openingView({ sessions: quiet, desk: [] }, view)).toEqual(view);
  });

  test('a session that is no more gives way to what waits', () => {
    expect(openingView(whole, { screen: 'session', session: 'ses_9999' })).toEqual({ screen: 'desk' });
  });

  test.each([null, 'null', '{}', '{"screen":"nowhere"}', '{"screen":"session"}'])('%s tells of no view', (kept) => {
    if (kept !== null) sessionStorage.setItem('view', kept);
    expect(keptView(sessionStorage)).toBeNull();
  });
});

test('a session that begins elsewhere is shown on the start screen alone', () => {
  const opened = parseStream(sample).filter(({ body }) => body.type === 'session_opened');
  expect(openedOutside({ screen: 'start' }, opened)).toBe(opened.at(-1)?.session);
  expect(openedOutside({ screen: 'history' }, opened)).toBeNull();
  expect(openedOutside({ screen: 'start' }, [])).toBeNull();
});
