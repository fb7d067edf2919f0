// Calls of one kind on one card: which belong together, what an answer to them sends, and what it leaves alone.

import { fireEvent, screen, within } from '@testing-library/svelte';
import { beforeEach, describe, expect, it, test, vi } from 'vitest';
import { openApp } from '../../../app/app_page';
import { asksTrail, waiting } from '../../../gallery/sample_calls';
import { file, hunk } from '../../../gallery/sample_diffs';
import { samples } from '../../../gallery/samples';
import type { Op, OpReceipt } from '../../../ipc/bindings';
import { FakeHost } from '../../../ipc/fake';
import type { CallEntry, Desk } from '../../../state/desk.svelte';
import { findFaults } from '../../../testing/accessibility';
import { pass, passUntil } from '../../../testing/clock';
import { REST_MS } from '../deciding/arming';
import { showEverything } from '../deciding/in_view';
import { groupsOf } from './kinds';

const write = (id: string, more: Partial<CallEntry['body']> = {}): CallEntry =>
  waiting(id, {
    target: `src/${id}.rs`,
    preview: { type: 'diff', files: [file(`src/${id}.rs`, 'rust', [])] },
    ...more,
  });
const ids = (entries: readonly CallEntry[], apart: readonly string[] = []) =>
  groupsOf(entries, new Set(apart)).map((group) => group.map(({ id }) => id));

describe('what belongs together', () => {
  const three = [write('a'), write('b'), write('c')];
  it('is the same tool on the same folder for the same reason, from three calls on, at the place of the first', () => {
    expect(ids([three[0]!, samples.command, three[1]!, three[2]!])).toEqual([['a', 'b', 'c'], ['c_command']]);
    expect(ids(three.slice(1))).toEqual([['b'], ['c']]);
  });
  it('is so in several sessions as well', () => {
    expect(ids([three[0]!, { ...three[1]!, session: 'ses_2' }, three[2]!])).toEqual([['a', 'b', 'c']]);
  });
  it('is not a call that was taken out', () => {
    expect(ids([...three, write('d')], ['ses_1 b'])).toEqual([['a', 'c', 'd'], ['b']]);
  });
  it.each<[string, CallEntry]>([
    ['another folder', write('d', { target: 'tests/d.rs' })],
    ['another tool', write('d', { tool: 'edit_lines' })],
    ['another mode', write('d', { mode: 'local' })],
    ['another reason', write('d', { trail: { ...asksTrail, lead: 'Needs approval: a watchdog says so.' } })],
    ['another grant', write('d', { pending: { ...three[0]!.body.pending!, grants: [] } })],
    ['less of an undo', write('d', { undo_availability: { type: 'unsecured', reason: 'No copy can be kept.' } })],
    ['what changed while it waited', write('d', { pending: { ...three[0]!.body.pending!, refreshed: 'Changed.' } })],
    ['what a person edited', write('d', { edited: {} })],
    ['what must be held', write('d', samples.external.body)],
    ['another kind of preview', write('d', { preview: { type: 'nothing' } })],
  ])('is not %s', (_, other) => {
    expect(ids([...three, other])).toEqual([['a', 'b', 'c'], ['d']]);
  });
  it('is the same program in the same folder', () => {
    const run = (id: string, text: string, folder = '/w'): CallEntry => {
      const command = { ...samples.command.body.preview, folder, facts: [{ what: 'program', text }] };
      return { ...samples.command, id, body: { ...samples.command.body, preview: command as never } };
    };
    const runs = [run('a', 'cargo test'), run('b', 'cargo check'), run('c', 'npm ci'), run('d', 'cargo doc', '/x')];
    expect(ids([...runs, run('e', 'cargo fmt')])).toEqual([['a', 'b', 'e'], ['c'], ['d']]);
  });
});

/** An agent that asks to write files, and takes the answers. */
class WritingHost extends FakeHost {
  refuses = '';
  write(name: string, digest = `d_${name}`): void {
    const path = `src/${name}.rs`;
    const lines = [`+pub fn ${name}() {}`];
    this.emit(
      'ses_a',
      {
        type: 'call_proposed',
        call: { id: name, name: 'write', arguments: {} },
        message: `m_${name}`,
        reasoning: null,
      },
      {
        type: 'call_judged',
        call: name,
        tool: 'write',
        title: 'Write',
        target: path,
        mode: 'safe_write',
        kind: 'edit',
        trail: asksTrail,
        preview: { type: 'diff', files: [file(path, 'rust', [hunk(0, 0, 1, '', lines)], { exists: false })] },
        undo: { type: 'secured' },
      },
      { type: 'call_waiting', call: name, digest, grants: [], refreshed: null, expires_at: null },
    );
  }
  override submit(op: Op): Promise<OpReceipt> {
    if (op.type !== 'decide_group') return super.submit(op);
    const { refuses } = this;
    this.refuses = '';
    const calls = op.calls.filter(({ call }) => call !== refuses);
    const receipt = super.submit({ ...op, calls });
    return calls.length === op.calls.length ? receipt : Promise.reject(new Error('Refused.'));
  }
  /** The answers that came, each with its call and digest. */
  get answers(): string[][] {
    return this.ops.flatMap((op) => {
      const calls = op.type === 'decide' ? [op] : op.type === 'decide_group' ? op.calls : [];
      return 'decision' in op ? calls.map(({ call, digest }) => [call, digest, op.decision.type]) : [];
    });
  }
}
const group = () => screen.getByTestId('group-one');
const key = (name: string) =>
  fireEvent.keyDown(document.activeElement ?? document.body, { key: name, code: `Key${name.toUpperCase()}` });
async function press(testid: string, during: () => Promise<void> = () => Promise.resolve()): Promise<void> {
  const button = within(group()).getByTestId(testid);
  await fireEvent.pointerDown(button, { button: 0 });
  await during();
  await fireEvent.click(button, { detail: 1 });
  await pass(0);
}

/** A screen with three calls to write a file, which have been looked at. */
async function openOn(show: (desk: Desk) => void): Promise<WritingHost> {
  const host = new WritingHost();
  host.emit(
    'ses_a',
    { type: 'session_opened', title: 'A', workspace: '/w', model: { provider: 'demo', model: '' } },
    { type: 'session_changed', state: 'running' },
  );
  for (const name of ['one', 'two', 'three']) host.write(name);
  await openApp(host, show);
  await passUntil(() => document.activeElement === screen.queryByTestId('group-one'));
  await pass(REST_MS + 100);
  return host;
}

describe.each<[string, (desk: Desk) => void]>([
  ['on the Desk', (desk) => desk.navigation.go('desk')],
  ['in the transcript', (desk) => desk.navigation.show('ses_a')],
])('the card of a group %s', (_, show) => {
  const open = () => openOn(show);
  beforeEach(() => {
    vi.useFakeTimers();
    showEverything();
  });

  it('shows every call whole, and one reason', async () => {
    await open();
    for (const name of ['one', 'two', 'three'])
      expect(screen.getByTestId(`member-${name}`).textContent).toContain(`pub fn ${name}() {}`);
    expect(screen.getAllByTestId('reason').map(({ textContent }) => textContent)).toEqual([asksTrail.lead]);
    expect(within(group()).getByTestId('allow').textContent).toContain('Allow all 3');
  });
  test.each([
    ['y', 'allow'],
    ['n', 'reject'],
  ])('%s answers each call by the digest that was shown, once', async (name, type) => {
    const host = await open();
    await key(name);
    await key(name);
    await pass(0);
    expect(host.answers).toEqual(['one', 'two', 'three'].map((call) => [call, `d_${call}`, type]));
  });
  it('a click does the same', async () => {
    const host = await open();
    await press('allow');
    expect(host.answers).toHaveLength(3);
  });
  it('Enter and Space never allow', async () => {
    const host = await open();
    const button = within(group()).getByTestId('allow');
    button.focus();
    for (const name of ['Enter', ' ']) await fireEvent.keyDown(button, { key: name });
    await fireEvent.click(button, { detail: 0 });
    expect(host.answers).toEqual([]);
  });
  it('one that comes later joins and is marked, and is not answered before it was seen', async () => {
    const host = await open();
    host.write('four');
    await passUntil(() => screen.queryByTestId('member-four') !== null);
    expect(within(screen.getByTestId('member-four')).queryByTestId('new')).not.toBeNull();
    expect(within(screen.getByTestId('member-one')).queryByTestId('new')).toBeNull();
    await key('y');
    await pass(REST_MS - 50);
    expect(host.answers).toEqual([]);
    await pass(100);
    await key('y');
    expect(host.answers.map(([call]) => call)).toEqual(['one', 'two', 'three', 'four']);
  });
  it('one that comes between press and release is not what was aimed at', async () => {
    const host = await open();
    await press('allow', async () => {
      host.write('four');
      await passUntil(() => screen.queryByTestId('member-four') !== null);
    });
    expect(host.answers).toEqual([]);
  });
  it('one that changes stands on a card of its own', async () => {
    const host = await open();
    host.write('four');
    await passUntil(() => screen.queryByTestId('member-four') !== null);
    host.emit('ses_a', {
      type: 'call_waiting',
      call: 'two',
      digest: 'other',
      grants: [],
      refreshed: 'The file changed 5 s ago.',
      expires_at: null,
    });
    await passUntil(() => screen.queryByTestId('card-two') !== null);
    await pass(REST_MS + 100);
    await key('y');
    expect(host.answers.map(([call]) => call)).toEqual(['one', 'three', 'four']);
  });
  it('nothing is allowed while a part of it is cut off', async () => {
    vi.spyOn(Element.prototype, 'scrollHeight', 'get').mockReturnValue(900);
    vi.spyOn(Element.prototype, 'clientHeight', 'get').mockImplementation(function (this: Element) {
      return this.classList.contains('low') ? 300 : 900;
    });
    const host = await open();
    expect(within(group()).getAllByTestId('show-all')).toHaveLength(3);
    await key('y');
    expect(host.answers).toEqual([]);
    expect(within(group()).queryAllByTestId('show-all')).toEqual([]);
    await pass(REST_MS + 100);
    await key('y');
    expect(host.answers).toHaveLength(3);
  });
  it('what was refused by the engine waits on, and can be answered again', async () => {
    const host = await open();
    host.refuses = 'two';
    await key('y');
    await passUntil(() => document.activeElement === screen.queryByTestId('card-two'));
    expect(host.answers.map(([call]) => call)).toEqual(['one', 'three']);
    await pass(REST_MS + 100);
    await key('y');
    expect(host.answers.map(([call]) => call)).toEqual(['one', 'three', 'two']);
  });
  it('o shows the calls one by one, the focus on the first', async () => {
    const host = await open();
    await key('o');
    await passUntil(() => document.activeElement === screen.queryByTestId('card-one'));
    expect(screen.queryByTestId('group-one')).toBeNull();
    await pass(REST_MS + 100);
    await key('y');
    expect(host.answers).toEqual([['one', 'd_one', 'allow']]);
  });
  it('later goes on to the next card', async () => {
    const host = await open();
    host.emit(
      'ses_a',
      { type: 'call_proposed', call: { id: 'last', name: 'bash', arguments: {} }, message: 'm', reasoning: null },
      { type: 'call_waiting', call: 'last', digest: 'd', grants: [], refreshed: null, expires_at: null },
    );
    await passUntil(() => screen.queryByTestId('card-last') !== null);
    await key('l');
    expect(document.activeElement).toBe(screen.getByTestId('card-last'));
  });
  it('a call whose card has the focus joins no group under the hand', async () => {
    const host = await open();
    await key('o');
    await passUntil(() => document.activeElement === screen.queryByTestId('card-one'));
    for (const name of ['four', 'five', 'six']) host.write(name);
    await passUntil(() => screen.queryByTestId('group-four') !== null);
    expect(document.activeElement).toBe(screen.getByTestId('card-one'));
  });
  it('has no fault that axe finds', async () => {
    await open();
    expect(await findFaults(group())).toEqual([]);
  });
});
