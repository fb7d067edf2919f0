// A slow engine must not make the store lose a page that came meanwhile, or forget what became stale meanwhile.

import { beforeEach, expect, test, vi } from 'vitest';
import type { EngineView } from '../ipc/bindings';
import { Refused } from '../ipc/desk';
import { FakeHost } from '../ipc/fake';
import { pass, passUntil } from '../testing/clock';
import { Desk } from './desk.svelte';

const WORKSPACE = '/home/mira/code/site';
const digest = 'd';
const outcome = {
  state: 'done',
  text: 'Done.',
  message: '',
  duration_ms: 1,
  needs_followup: false,
  terminal: false,
  digest,
} as const;

beforeEach(() => void vi.useFakeTimers());

const wait = (ms: number) => (ms === 0 ? undefined : new Promise((done) => setTimeout(done, ms)));

/** An engine whose answers take a while, as long as a test says. */
class SlowHost extends FakeHost {
  snapshotMs = 0;
  transcriptMs = 0;
  snapshots = 0;

  override async snapshot(): Promise<EngineView> {
    this.snapshots += 1;
    const told = await super.snapshot();
    await wait(this.snapshotMs);
    return told;
  }
  override async query(question: Parameters<FakeHost['query']>[0]): Promise<never> {
    const told = await super.query(question);
    if (question.type === 'transcript') await wait(this.transcriptMs);
    return told as never;
  }
}

/** A session that runs a command: the snapshot knows of it, its events came before. */
function begin(host: FakeHost, session: string, call: string): void {
  host.emit(
    session,
    { type: 'session_opened', title: session, workspace: WORKSPACE, model: { provider: 'demo', model: '' } },
    { type: 'person_said', message: `msg_${session}`, text: 'Go', steering: false },
    { type: 'session_changed', state: 'running' },
    {
      type: 'call_proposed',
      call: { id: call, name: 'bash', arguments: {} },
      message: `m_${session}`,
      reasoning: null,
    },
    { type: 'call_started', call },
  );
}
/** Checks the entries every 10 ms: a page that is lost and loaded again a moment later was lost. */
async function expectEntries(desk: Desk, ids: string[], ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10) {
    await pass(10);
    expect(entries(desk, 'ses_a'), `${passed + 10} ms later`).toEqual(ids);
  }
}
const entries = (desk: Desk, session: string) => desk.page(session)?.entries.map(({ id }) => id);

async function opened(...sessions: string[]): Promise<{ host: SlowHost; desk: Desk }> {
  const host = new SlowHost();
  for (const session of sessions) begin(host, session, `call_${session}`);
  // A call that ends while the window opens is not under way any more, and its end is the first event of it.
  const told = await host.snapshot();
  for (const session of sessions) host.emit(session, { type: 'call_ended', call: `call_${session}`, outcome });
  vi.spyOn(host, 'snapshot').mockResolvedValueOnce(told);
  return { host, desk: await Desk.open(host) };
}

test('a page that comes while a snapshot is on its way stays', async () => {
  const host = new SlowHost();
  begin(host, 'ses_a', 'call_a');
  const told = await host.snapshot();
  host.emit('ses_a', { type: 'call_ended', call: 'call_a', outcome });
  vi.spyOn(host, 'snapshot').mockResolvedValueOnce(told);
  // The page comes after 40 ms; the snapshot that heals was asked for before that, and comes later.
  host.transcriptMs = 40;
  host.snapshotMs = 150;
  const opening = Desk.open(host);
  await pass(40);
  const desk = await opening;
  await passUntil(() => host.snapshots > 1);
  await passUntil(() => entries(desk, 'ses_a')?.length === 2);
  await expectEntries(desk, ['msg_ses_a', 'call_a'], 400);
  expect(desk.loading('ses_a')).toBe(false);
});

test('what is heard while a snapshot is on its way stays', async () => {
  const { host, desk } = await opened('ses_a');
  host.snapshotMs = 120;
  host.transcriptMs = 40;
  await passUntil(() => host.snapshots > 1);
  host.emit('ses_a', { type: 'person_said', message: 'msg_more', text: 'More', steering: true });
  await passUntil(() => entries(desk, 'ses_a')?.includes('msg_more') === true);
  await expectEntries(desk, ['msg_ses_a', 'call_ses_a', 'msg_more'], 300);
});

test('one snapshot at a time is asked for, and what became stale meanwhile is asked for afterwards', async () => {
  const { host, desk } = await opened('ses_a', 'ses_b');
  host.snapshotMs = 80;
  await passUntil(() => host.snapshots > 1);
  const asked = host.snapshots;
  // An event of a call whose beginning the store never received; the snapshot on its way is older.
  host.emit('ses_b', {
    type: 'call_waiting',
    call: 'call_ses_b',
    digest,
    grants: [],
    refreshed: null,
    expires_at: null,
  });
  await pass(40);
  expect(host.snapshots, 'while one is on its way').toBe(asked);
  await passUntil(() => desk.waiting.length > 0);
  expect(desk.waiting.map(({ id }) => id)).toEqual(['call_ses_b']);
  expect(host.snapshots).toBe(asked + 1);
});

test('a refused setting goes back to what the engine has, and takes no other with it', async () => {
  const host = new SlowHost();
  const desk = await Desk.open(host);
  const submit = host.submit.bind(host);
  vi.spyOn(host, 'submit').mockImplementationOnce(async () => {
    await wait(30);
    throw new Refused({ message: 'No.', hint: '', context: [] });
  });
  const refused = desk.set({ theme: 'dark' });
  vi.mocked(host.submit).mockImplementation(submit);
  await desk.set({ diff: 'split', theme: 'system' });
  await pass(30);
  expect(await refused).toBe(false);
  expect([desk.settings.diff, desk.settings.theme]).toEqual(['split', 'system']);
});
