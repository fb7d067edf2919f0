// What the person's attention was spent on today, on the Desk: whole where it is clear, one line where cards wait.

import { screen, waitFor } from '@testing-library/svelte';
import { describe, expect, test } from 'vitest';
import { at, click, openApp, text } from '../../app/app_page';
import { FakeHost } from '../../ipc/fake';
import { busyDay } from '../../ipc/fake_attention';
import { parseStream } from '../../ipc/fake_streams';
import { findSeriousFaults } from '../../testing/accessibility';
import sample from '../../../../tests/golden/sample.jsonl?raw';

const events = parseStream(sample);
const call = events.flatMap(({ session, at, body }) =>
  body.type === 'call_decided' ? [{ session, at, ...body }] : [],
)[0]!;

/** A host with a day of questions, where these cards still wait. */
function busyHost(waiting: boolean): FakeHost {
  const ended = events.flatMap(({ body }) => (body.type === 'call_ended' ? [body.call] : []));
  const isShown = ({ body }: (typeof events)[number]) => waiting || !('call' in body) || ended.includes(`${body.call}`);
  const host = new FakeHost(events.filter(isShown));
  host.attention = busyDay(call.session, call.call, call.at);
  return host;
}

describe('what attention was spent on', () => {
  test('a clear desk tells the questions, the quick answers with their calls, and what passed', async () => {
    const desk = await openApp(busyHost(false), (desk) => desk.navigation.go('desk'));
    await screen.findByTestId('today');
    const told = text('today');
    for (const words of [
      '5 questions about 31 calls, 2.5 an hour.',
      'Agents waited 12 min 0 s: half of the times 14 s or less, 9 min 0 s at most.',
      'How long is not on record for 1 of them.',
      'no rule decided, and the mode asks 4, waited 11 min 0 s',
      'bash: npm 4, waited 11 min 0 s',
      '1 answer in less than a second after the card was shown',
      'One rule would have given 3 answers for you',
      'Allow bash npm test*',
      '26 calls ran without a question',
      '20 changed nothing · 5 with a copy for undo · 1 cannot be undone · 1 change can still be undone',
    ])
      expect(told).toContain(words);
    expect(await findSeriousFaults()).toEqual([]);
    await click('today-quick');
    await waitFor(() => expect(desk.navigation.view).toEqual({ screen: 'session', session: call.session }));
    expect(desk.navigation.jump?.id).toBe(call.call);
  });

  test('a change that passed is shown in the history', async () => {
    const desk = await openApp(busyHost(false), (desk) => desk.navigation.go('desk'));
    await screen.findByTestId('today');
    await click('today-change');
    expect([desk.navigation.view.screen, desk.navigation.historyEntry]).toEqual(['history', 'und_1']);
  });

  test('below waiting cards one line is enough', async () => {
    await openApp(busyHost(true), (desk) => desk.navigation.go('desk'));
    await screen.findByTestId('today');
    expect(at('desk-cards')).toBeTruthy();
    expect(text('today')).toBe('Today: 5 questions, agents waited 12 min 0 s · 1 answer in less than a second');
  });

  test('a day without a call says nothing', async () => {
    const host = new FakeHost(events);
    await openApp(host, (desk) => desk.navigation.go('desk'));
    await waitFor(() => expect(host.queries('attention')).toHaveLength(1));
    expect(screen.queryByTestId('today')).toBeNull();
  });
});
