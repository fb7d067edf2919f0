// Text of agents, servers and files on every screen: nothing of it runs, loads, leads away or hides.

import { fireEvent, screen } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import sample from '../../../tests/golden/sample.jsonl?raw';
import type { Query } from '../ipc/bindings';
import type { AnswerTo } from '../ipc/desk';
import { FakeHost } from '../ipc/fake';
import { parseStream } from '../ipc/fake_streams';
import { playTranscript } from '../ipc/fake_transcript';
import { findInterpreted, spoil } from '../testing/hostile';
import { HOSTILE } from '../testing/hostile_texts';
import { at, click, openApp, type } from './app_page';

const events = parseStream(sample);
const NOW = (events.at(-1)?.at ?? 0) + 1_000;

const attack = vi.fn();
beforeEach(() => {
  vi.spyOn(Date, 'now').mockReturnValue(NOW);
  vi.stubGlobal('attack', attack);
  attack.mockClear();
});
afterEach(() => expect(attack).not.toHaveBeenCalled());

/** An engine whose every answer and event is full of hostile text. */
class HostileHost extends FakeHost {
  override query<Q extends Query>(query: Q): Promise<AnswerTo<Q>> {
    return super.query(query).then((answer) => (query.type.startsWith('transcript') ? answer : spoil(answer, HOSTILE)));
  }
  override listConnections(): ReturnType<FakeHost['listConnections']> {
    return super.listConnections().then((all) => spoil(all, HOSTILE));
  }
}

async function open(): Promise<HostileHost> {
  const clean = new FakeHost(events);
  playTranscript(clean);
  const host = new HostileHost(spoil(clean.events, HOSTILE), {
    faults: spoil([{ message: 'The file', hint: 'Correct it.', context: [] }], HOSTILE),
  });
  host.now = () => NOW;
  await openApp(host);
  return host;
}
const press = (key: string, more: object = {}) =>
  fireEvent.keyDown(document.activeElement ?? document.body, { key, ...more });

test.each<[string, () => Promise<unknown>]>([
  ['the Desk', async () => {}],
  ['a session with a waiting card', () => click('rail-session-ses_0006')],
  ['a session with settled calls', () => click('rail-session-ses_0001')],
  ['a failed session', () => click('rail-session-ses_0002')],
  ['a question', () => click('rail-session-ses_0005')],
  ['a session with prose, code and sub-agents', () => click('rail-session-ses_words')],
  ['the start', () => click('rail-new')],
  ['the history', () => click('rail-history')],
  ['the rules', () => click('rail-rules')],
  ['the tools', () => click('rail-tools')],
  ['the servers', () => click('rail-servers')],
  ['the connections', () => click('rail-connections')],
  ['the settings', () => click('rail-settings')],
  [
    'the search with results',
    async () => {
      await click('rail-search');
      await type('search-box', 'cargo');
      await screen.findByTestId('hits');
    },
  ],
  ['the commands', () => press('k', { ctrlKey: true })],
])('nothing is interpreted on %s', async (_, go) => {
  await open();
  await go();
  await new Promise((drawn) => setTimeout(drawn, 50));
  expect(at('rail-desk')).toBeTruthy();
  expect(findInterpreted()).toEqual([]);
});
