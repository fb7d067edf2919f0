// A session that was imported from the transcript of another agent: its mark, and what is not offered in it.

import { screen, waitFor } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { at, click, openApp, text } from '../../app/app_page';
import type { Event, EventBody } from '../../ipc/bindings';
import { FakeHost } from '../../ipc/fake';
import { findSeriousFaults } from '../../testing/accessibility';

const outcome = { state: 'done', text: 'hello', message: 'Done by the agent', duration_ms: 3 } as const;

/** The events of an imported session with one call. */
const events: Event[] = (
  [
    {
      type: 'session_opened',
      title: 'Write a file.',
      workspace: '/home/mira/code/site',
      model: { provider: 'imported', model: 'Claude Code 2.1.332' },
    },
    { type: 'person_said', text: 'Write a file.', steering: false, message: 'msg_1' },
    {
      type: 'call_proposed',
      call: { id: 'call_1', name: 'bash', arguments: { command: 'ls' } },
      message: 'msg_1',
      reasoning: null,
    },
    {
      type: 'call_imported',
      tool: 'bash',
      title: 'Bash',
      target: 'ls',
      mode: 'local',
      kind: 'execute',
      undo: { type: 'unsecured', reason: 'that is not known.' },
      call: 'call_1',
    },
    { type: 'call_ended', outcome, call: 'call_1' },
  ] as EventBody[]
).map((body, index) => ({ seq: index + 1, session: 'ses_1', at: 1_000 * index, body }));

test('an imported session has a mark, and nothing in it is continued or judged', async () => {
  await openApp(new FakeHost(events));
  expect(text('imported-ses_1')).toBe('imported');
  await click('rail-session-ses_1');
  await waitFor(() => expect(text('imported')).toBe('Imported'));
  expect(at('imported').title).toContain('Claude Code 2.1.332');
  expect(screen.queryByTestId('composer'), 'no message can be written').toBeNull();
  await click('session-more');
  expect(screen.queryByTestId('session-more-plan')).toBeNull();
  expect(screen.queryByTestId('session-more-rename')).not.toBeNull();
  expect(await findSeriousFaults()).toEqual([]);
});
