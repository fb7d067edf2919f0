// Ten approvals in a row are ten presses; a press that does not count says so, and none becomes a message to the agent.

import { fireEvent, screen } from '@testing-library/svelte';
import { beforeEach, expect, test, vi } from 'vitest';
import { openApp } from '../../app/app_page';
import type { Op, OpReceipt } from '../../ipc/bindings';
import { FakeHost } from '../../ipc/fake';
import { showEverything } from './deciding/in_view';
import { pass, passUntil } from '../../testing/clock';

const CALLS = 10;
/** How long a person looks at the card that has the focus before they press: longer than arming takes. */
const LOOK_MS = 500;
const digest = 'd';

beforeEach(() => {
  vi.useFakeTimers();
  showEverything();
});

/** Agents that ask for the next call a moment after each answer. */
class AskingHost extends FakeHost {
  #asked = 0;
  ask(session: string, call = `call_${this.#asked + 1}`): void {
    this.#asked += 1;
    this.emit(
      session,
      {
        type: 'call_proposed',
        call: { id: call, name: 'bash', arguments: { command: `echo ${call}` } },
        message: `m_${call}`,
        reasoning: null,
      },
      { type: 'call_waiting', call, digest, grants: [], refreshed: null, expires_at: null },
    );
  }
  /** How many calls each session still asks for. */
  rest = 0;
  override async submit(op: Op): Promise<OpReceipt> {
    const receipt = await super.submit(op);
    if (op.type === 'decide' && this.rest > 0) {
      this.rest -= 1;
      setTimeout(() => this.ask(op.session), 40);
    }
    return receipt;
  }
  get decided(): number {
    return this.ops.filter((op) => op.type === 'decide').length;
  }
}

function begin(host: FakeHost, session: string): void {
  host.emit(
    session,
    { type: 'session_opened', title: session, workspace: '/w', model: { provider: 'demo', model: '' } },
    { type: 'session_changed', state: 'running' },
  );
}
const hasFocus = (element: Element | undefined) => document.activeElement === element;
/** Waits until a waiting card has the focus, and looks at it. */
async function look(): Promise<void> {
  await passUntil(() => document.activeElement?.matches('article[data-state=waiting]') === true);
  await pass(LOOK_MS);
}
const box = () => screen.getByTestId<HTMLTextAreaElement>('composer');

/** Presses a letter wherever the focus is, as a browser does: a key that is not handled is typed where text can be. */
async function press(key: string): Promise<void> {
  const at = document.activeElement ?? document.body;
  const went = await fireEvent.keyDown(at, { key, code: `Key${key.toUpperCase()}` });
  if (went && at instanceof HTMLTextAreaElement && key.length === 1)
    await fireEvent.input(at, { target: { value: at.value + key } });
  await fireEvent.keyUp(at, { key });
}

test('in a session: ten calls, ten presses', async () => {
  const host = new AskingHost();
  begin(host, 'ses_a');
  host.rest = CALLS - 1;
  await openApp(host);
  await passUntil(() => hasFocus(box()));
  host.ask('ses_a');
  let presses = 0;
  while (host.decided < CALLS) {
    await look();
    presses += 1;
    await press('y');
    await passUntil(() => host.decided === presses);
  }
  expect(presses).toBe(CALLS);
  expect(host.ops.every((op) => op.type === 'decide')).toBe(true);
});

test('on the Desk: ten sessions, ten presses', async () => {
  const host = new AskingHost();
  for (let i = 0; i < CALLS; i += 1) {
    begin(host, `ses_${i}`);
    host.ask(`ses_${i}`);
  }
  await openApp(host);
  for (let presses = 1; presses <= CALLS; presses += 1) {
    await look();
    await press('y');
    await passUntil(() => host.decided === presses);
    await passUntil(() => screen.queryAllByTestId(/^card-/).length === CALLS - presses);
  }
});

test('on the Desk: two sessions whose calls have the same ids, each answered by its own card', async () => {
  const host = new AskingHost();
  for (const session of ['ses_a', 'ses_b']) begin(host, session);
  for (const call of ['call_0', 'call_1']) {
    host.ask('ses_a', call);
    host.ask('ses_b', call);
  }
  const desk = await openApp(host);
  const cards = () => screen.queryAllByTestId(/^card-/);
  await look();
  expect(document.activeElement === cards()[0]).toBe(true);
  for (const at of [1, 2, 3]) {
    await press('j');
    expect(document.activeElement === cards()[at]).toBe(true);
  }
  cards()[1]!.focus();
  expect(desk.focus.owner?.session).toBe('ses_b');
  for (const [at, key] of ['n', 'y', 'n', 'y'].entries()) {
    await look();
    await press(key);
    await passUntil(() => host.decided === at + 1);
  }
  const said = host.ops.map((op) => op.type === 'decide' && [op.session, op.call, op.decision.type]);
  expect(said).toEqual([
    ['ses_b', 'call_0', 'reject'],
    ['ses_a', 'call_1', 'allow'],
    ['ses_b', 'call_1', 'reject'],
    ['ses_a', 'call_0', 'allow'],
  ]);
});

test('who presses too fast is told of each press that does not count, and sends no message', async () => {
  const host = new AskingHost();
  begin(host, 'ses_a');
  host.rest = 3;
  const desk = await openApp(host);
  host.ask('ses_a');
  const told: boolean[] = [];
  while (host.decided < 4) {
    const before = host.decided;
    const card = document.activeElement?.closest('article');
    await press('y');
    if (card && host.decided === before) told.push(screen.queryAllByTestId('early').length > 0);
    await pass(70);
    // A person who sees a letter in the box sends it by reflex; while no call waits it would be an intended message.
    if (box().value !== '' && desk.waiting.length > 0) await press('Enter');
  }
  expect(told.length).toBeGreaterThan(3);
  expect(told.every(Boolean)).toBe(true);
  expect(host.ops.every((op) => op.type === 'decide')).toBe(true);
});

test('a box that the person chose keeps the focus; a lone y in it is not sent while a call waits', async () => {
  const host = new AskingHost();
  begin(host, 'ses_a');
  const desk = await openApp(host);
  await passUntil(() => hasFocus(box()));
  await fireEvent.pointerDown(box());
  host.ask('ses_a');
  await passUntil(() => desk.waiting.length === 1);
  await pass(700);
  expect(document.activeElement === box()).toBe(true);
  await press('y');
  expect(box().value).toBe('y');
  await press('Enter');
  expect(host.ops).toEqual([]);
  await passUntil(() => document.activeElement?.getAttribute('data-testid') === 'card-call_1');
  expect(box().value).toBe('');
  expect(desk.toasts.lines[0]?.title).toBe('“y” was not sent to the agent');
});

test('what is being written is not interrupted by a card that lands', async () => {
  const host = new AskingHost();
  begin(host, 'ses_a');
  const desk = await openApp(host);
  await passUntil(() => hasFocus(box()));
  for (const letter of 'yes') await press(letter);
  host.ask('ses_a');
  await passUntil(() => desk.waiting.length === 1);
  await pass(700);
  expect([document.activeElement === box(), box().value]).toEqual([true, 'yes']);
});

test('from the box Tab leads to Send; the switch and Stop are no neighbours of it', async () => {
  const host = new AskingHost();
  begin(host, 'ses_a');
  await openApp(host);
  const order = [...document.querySelectorAll('.composer textarea, .composer button')].map((element) =>
    element.getAttribute('data-testid'),
  );
  expect(order).toEqual(['plan-first', 'add-image', 'composer', 'send', 'stop']);
});
