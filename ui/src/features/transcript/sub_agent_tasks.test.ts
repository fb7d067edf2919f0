// Sub-agent tasks on a recorded engine: nested below their call, folded to a line, with visible cards and path.

import { fireEvent, screen, waitFor, within } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { findSeriousFaults } from '../../testing/accessibility';
import { at, click, openApp, text } from '../../app/app_page';
import type { EventBody, ParentCall } from '../../ipc/bindings';
import { FakeHost } from '../../ipc/fake';
import type { Desk } from '../../state/desk.svelte';

const opened = (title: string, parent?: ParentCall): EventBody => ({
  type: 'session_opened',
  title,
  workspace: '/home/mira/code/tidemark',
  model: { provider: 'demo', model: '' },
  ...(parent && { parent }),
});
const trail = { verdict: 'ask' as const, lead: 'Needs approval by a rule.', otherwise: '', steps: [] };
const proposed = (
  id: string,
  tool: string,
  title: string,
  target: string,
  given: Record<string, unknown> = {},
): EventBody[] => [
  { type: 'call_proposed', call: { id, name: tool, arguments: given }, message: `msg_${id}`, reasoning: null },
  {
    type: 'call_judged',
    call: id,
    tool,
    title,
    target,
    mode: tool === 'task' ? 'external' : 'read',
    kind: tool === 'task' ? 'other' : 'read',
    trail,
    preview: { type: 'nothing' },
    undo: { type: 'not_needed' },
  },
];
const waits = (call: string): EventBody => ({
  type: 'call_waiting',
  call,
  digest: `d_${call}`,
  grants: [],
  refreshed: null,
  expires_at: null,
});
const ended = (call: string): EventBody => ({
  type: 'call_ended',
  call,
  outcome: {
    state: 'done',
    text: 'found',
    message: '',
    duration_ms: 4,
    needs_followup: false,
    terminal: false,
    digest: 'd',
  },
});

/** Opens a session whose call works in a session of its own, which gave work to a third one. */
async function open(): Promise<{ host: FakeHost; desk: Desk }> {
  const host = new FakeHost();
  host.emit('top', opened('Upgrade axum'), ...proposed('call_task', 'task', 'Task', 'reviewer Look at the change'), {
    type: 'call_started',
    call: 'call_task',
  });
  host.emit('mid', opened('Look at the change', { session: 'top', call: 'call_task' }), {
    type: 'session_changed',
    state: 'running',
  });
  const desk = await openApp(host);
  await click('rail-session-top');
  await screen.findByTestId('sub-agent-task-mid');
  host.emit('mid', ...proposed('call_read', 'read', 'Read', 'src/lib.rs'), { type: 'call_started', call: 'call_read' });
  await waitFor(() => expect(text('sub-agent-task-mid')).toContain('Read src/lib.rs'));
  return { host, desk };
}

test('work is one line in the place of its call that tells what it does; unfolded, its steps', async () => {
  const { host } = await open();
  expect(text('sub-agent-task-mid')).toMatch(/^reviewer Look at the change Read src\/lib\.rs .*running$/);
  expect(screen.queryByTestId('line-call_task')).toBeNull();
  await click('sub-agent-task-mid');
  await waitFor(() => expect(within(at('steps-mid')).getByTestId('line-call_read')).toBeTruthy());
  host.emit('mid', ended('call_read'), ...proposed('call_more', 'read', 'Read', 'src/other.rs'), {
    type: 'call_started',
    call: 'call_more',
  });
  await waitFor(() => expect(text('steps-mid')).toContain('src/other.rs'));
  await click('line-call_read');
  await waitFor(() => expect(within(at('steps-mid')).getByTestId('card-call_read').textContent).toContain('found'));
  expect(await findSeriousFaults()).toEqual([]);
  await click('stop-child-mid');
  expect(host.ops.at(-1)).toEqual({ type: 'interrupt', session: 'mid' });
  await click('open-child-mid');
  expect(document.title).toContain('Look at the change');
});

test('the call that the work is done for opens from its row, and folds back into it', async () => {
  const { host } = await open();
  await click('sub-agent-task-mid');
  await click('open-call-call_task');
  const card = await screen.findByTestId('card-call_task');
  expect([document.activeElement === card, screen.getAllByTestId('sub-agent-task-mid').length]).toEqual([true, 1]);
  host.emit('top', ended('call_task'));
  await fireEvent.click(await within(card).findByTestId('fold'));
  await waitFor(() => expect(screen.queryByTestId('card-call_task')).toBeNull());
  expect(document.activeElement === at('sub-agent-task-mid')).toBe(true);
});

test('a card of the work is seen and answered where its call stands, folded or not, at any depth, with its path', async () => {
  const { host, desk } = await open();
  host.emit(
    'low',
    opened('Count them', { session: 'mid', call: 'call_read' }),
    ...proposed('call_low', 'read', 'Read', '/etc/hosts'),
    waits('call_low'),
  );
  const card = await screen.findByTestId('card-call_low');
  expect(screen.getByTestId('sub-agent-task-card').contains(card)).toBe(true);
  expect(text('sub-agent-task-mid')).toContain('needs approval: Read /etc/hosts');
  expect(text('sub-agent-task-card')).toContain('Upgrade axum › Look at the change › Count them');
  expect(desk.focus.owner?.id).toBe('call_low');
  expect(await findSeriousFaults()).toEqual([]);
  await click('sub-agent-task-mid');
  await screen.findByTestId('sub-agent-task-low');
  expect(screen.getAllByTestId('card-call_low').length).toBe(1);
  await click('rail-desk');
  expect(text('from-call_low').replace(/Its sub-agent:/g, '')).toBe('Upgrade axum› Look at the change› Count them');
});

test('a card and one of the work below it whose calls have the same id are two', async () => {
  const { host, desk } = await open();
  host.emit('top', ...proposed('call_low', 'read', 'Read', '/etc/passwd'), waits('call_low'));
  host.emit(
    'low',
    opened('Count them', { session: 'mid', call: 'call_read' }),
    ...proposed('call_low', 'read', 'Read', '/etc/hosts'),
    waits('call_low'),
  );
  await waitFor(() => expect(screen.getAllByTestId('card-call_low').length).toBe(2));
  const below = within(at('sub-agent-task-card')).getByTestId('card-call_low');
  const own = screen.getAllByTestId('card-call_low').find((card) => card !== below)!;
  own.focus();
  expect(desk.focus.owner?.session).toBe('top');
  await fireEvent.keyDown(own, { key: 'l' });
  expect(document.activeElement === below).toBe(true);
  expect(desk.focus.owner?.session).toBe('low');
  await fireEvent.keyDown(below, { key: 'l' });
  expect(document.activeElement === own).toBe(true);
});

test('the rail shows work below whom it is for, as long as it is at work', async () => {
  const { host } = await open();
  const rail = () =>
    within(at('rail-sessions'))
      .getAllByRole('listitem')
      .map((item) => `${item.className.replace(/ ?svelte-\w+/, '')} ${item.querySelector('.label')?.textContent}`);
  expect(rail()).toEqual(['depth-0 Upgrade axum', 'depth-1 An agent:Look at the change']);
  host.emit('mid', ended('call_read'), { type: 'session_changed', state: 'done' });
  await waitFor(() => expect(rail()).toEqual(['depth-0 Upgrade axum']));
  expect(text('sub-agent-task-mid')).toMatch(/done$/);
});
