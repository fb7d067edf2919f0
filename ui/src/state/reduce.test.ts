// The fold and the state, held to the golden stream.

import { describe, expect, test } from 'vitest';
import folded from '../../../tests/golden/sample.folded.json?raw';
import sample from '../../../tests/golden/sample.jsonl?raw';
import type { Entry, Event, EventBody, ServerRequest, SessionView } from '../ipc/bindings';
import { FakeHost } from '../ipc/fake';
import { parseStream } from '../ipc/fake_streams';
import { emptySnapshot } from '../ipc/fake_settings';
import { isCall, keepEnd } from './fold';
import { newsOf } from './news';
import { withLoaded, withLoading, entryKey, fromSnapshot, healed, reduce, withPage, type State } from './reduce';

const events = parseStream(sample);
const start = (): State => fromSnapshot(emptySnapshot());

let seq = 0;
function happen(body: EventBody, session = 'ses_a'): Event {
  seq += 1;
  return { seq, session, at: seq * 1_000, body };
}
const opened: EventBody = {
  type: 'session_opened',
  title: 'A',
  workspace: '/w',
  model: { provider: 'demo', model: '' },
};

/** A page that holds all there is so far: nothing. */
function withEmptyPage(state: State, session: string): State {
  return withPage(state, session, [{ entries: [], more: false, seq: 0 }], 'instead', { older: false, newer: false });
}

describe('the golden stream', () => {
  test('leaves on the desk what waits, oldest first', () => {
    const state = reduce(start(), events);
    expect(state.desk.map((entry) => `${entry.body.title} ${entry.body.target}`)).toEqual([
      'Run cargo nextest run --workspace --no-fail-fast',
      'Question How long should the console keep query history?',
      'Delete crates/wal/proptest-regressions/',
      'Edit crates/parser/src/expr.rs',
    ]);
  });

  test('folds to the golden entries, as the engine does', async () => {
    const golden = JSON.parse(folded) as { sessions: SessionView[]; entries: Entry[] };
    const state = reduce(start(), events);
    expect([...state.sessions].sort((one, other) => one.id.localeCompare(other.id))).toEqual(golden.sessions);
    const followed = golden.sessions.flatMap(
      ({ id }) => reduce(withEmptyPage(start(), id), events).pages.get(id)?.entries ?? [],
    );
    expect(followed).toEqual(golden.entries);
  });

  test('gives the same state in one batch, in many, and told twice', () => {
    const whole = reduce(start(), events);
    const single = events.reduce((state, event) => reduce(state, [event]), start());
    expect(single).toEqual(whole);
    expect(reduce(whole, events)).toBe(whole);
  });

  test('gives the same entries as the engine that folds alone', async () => {
    const host = new FakeHost(events);
    for (const session of reduce(start(), events).sessions) {
      const followed = reduce(withEmptyPage(start(), session.id), events).pages.get(session.id);
      const query = { type: 'transcript', session: session.id, before: null, limit: 1_000 } as const;
      expect(followed?.entries).toEqual((await host.query(query)).entries);
    }
  });

  test('counts what each session used and what waits in it', () => {
    const state = reduce(start(), events);
    expect(state.sessions.map(({ title, state: now, waiting, turns }) => ({ title, now, waiting, turns }))).toEqual([
      { title: 'Unary minus precedence', now: 'waiting', waiting: 1, turns: 2 },
      { title: 'Console: query history', now: 'waiting', waiting: 1, turns: 1 },
      { title: 'Upgrade axum to 0.8', now: 'waiting', waiting: 1, turns: 2 },
      { title: 'Flaky WAL recovery test', now: 'waiting', waiting: 1, turns: 2 },
      { title: 'Release notes 0.14', now: 'failed', waiting: 0, turns: 2 },
      { title: 'Split planner crate', now: 'done', waiting: 0, turns: 2 },
    ]);
  });
});

describe('pages', () => {
  const person = (n: number): EventBody => ({
    type: 'person_said',
    message: `msg_${n}`,
    text: `${n}`,
    steering: false,
  });
  const ids = (state: State) => state.pages.get('ses_a')?.entries.map((entry) => entry.id);

  test('a page at the end takes new entries, one in the middle does not and says so', () => {
    const first = happen(opened);
    const atEnd = withEmptyPage(reduce(start(), [first]), 'ses_a');
    expect(ids(reduce(atEnd, [happen(person(1)), happen(person(2))]))).toEqual(['msg_1', 'msg_2']);

    const middle = withPage(reduce(start(), [first]), 'ses_a', [{ entries: [], more: true, seq: 0 }], 'instead', {
      older: true,
      newer: true,
    });
    const passed = happen(person(3));
    const after = reduce(middle, [passed]).pages.get('ses_a');
    expect(after).toEqual({ entries: [], older: true, newer: true, passed: passed.seq });
  });

  test('an answer that was made before an entry came does not claim to be the end', () => {
    const middle = withPage(
      reduce(start(), [happen(opened)]),
      'ses_a',
      [{ entries: [], more: true, seq: 0 }],
      'instead',
      { older: false, newer: true },
    );
    const after = withPage(
      reduce(middle, [happen(person(4))]),
      'ses_a',
      [{ entries: [], more: false, seq: 0 }],
      'newer',
    );
    expect(after.pages.get('ses_a')?.newer).toBe(true);
  });

  test('an answer that is older than what was heard meanwhile lacks nothing of it', () => {
    // Wherever the answer was made and whenever it comes: the page is the one that followed all along.
    const session = 'ses_0006';
    const whole = reduce(withEmptyPage(start(), session), events);
    const last = events.at(-1)?.seq ?? 0;
    for (let made = 1; made < last; made += 3) {
      const told = reduce(
        withEmptyPage(start(), session),
        events.filter((event) => event.seq <= made),
      );
      const answer = { entries: told.pages.get(session)?.entries ?? [], more: false, seq: made };
      for (const came of [made, Math.min(last, made + 5), last]) {
        const asked = withLoading(
          reduce(
            start(),
            events.filter((event) => event.seq <= Math.min(made, came - 1)),
          ),
          session,
        );
        const heard = reduce(
          asked,
          events.filter((event) => event.seq <= came),
        );
        const loaded = withLoaded(
          withPage(heard, session, [answer], 'instead', { older: false, newer: false }),
          session,
        );
        expect(loaded.meanwhile.size).toBe(0);
        expect(reduce(loaded, events).pages.get(session)?.entries).toEqual(whole.pages.get(session)?.entries);
      }
    }
  });

  test('pieces of a message that began before the snapshot are not told twice', async () => {
    const host = new FakeHost([
      { seq: 1, session: 'ses_a', at: 1, body: opened },
      { seq: 2, session: 'ses_a', at: 2, body: { type: 'turn_started', turn: 1, message: 'msg_1' } },
      {
        seq: 3,
        session: 'ses_a',
        at: 3,
        body: { type: 'agent_said', message: 'msg_1', text: 'Hello', reasoning: false },
      },
    ]);
    const snapshot = await host.snapshot();
    const late: Event = {
      seq: 4,
      session: 'ses_a',
      at: 4,
      body: { type: 'agent_said', message: 'msg_1', text: ' there', reasoning: false },
    };
    const page = await host.query({ type: 'transcript', session: 'ses_a', before: null, limit: 10 });
    const state = withPage(fromSnapshot(snapshot), 'ses_a', [page], 'instead', { older: false, newer: false });
    const after = reduce(state, [late]);
    expect(after.pages.get('ses_a')?.entries).toEqual(page.entries);
    expect(after.stale.size).toBe(0);

    const usage = { input_tokens: 1, cached_tokens: 0, output_tokens: 1, cost_usd: null };
    const end: EventBody = {
      type: 'turn_ended',
      turn: 1,
      message: 'msg_1',
      usage,
      duration_ms: 1,
      error: null,
      opaque: null,
    };
    const ended = reduce(after, [{ seq: 5, session: 'ses_a', at: 5, body: end }]);
    expect([...ended.stale]).toEqual([['ses_a', 5]]);
    expect(healed(ended, { ...snapshot, seq: 5 }).stale.size).toBe(0);
    expect([...healed(ended, { ...snapshot, seq: 4 }).stale.keys()], 'a snapshot from before that event').toEqual([
      'ses_a',
    ]);
  });
});

test('what was under way at the snapshot is heard from its beginning, and nothing of it twice', () => {
  const session = 'ses_0006';
  const whole = reduce(withEmptyPage(start(), session), events);
  for (let cut = 1; cut < events.length; cut += 1) {
    const half = reduce(withEmptyPage(start(), session), events.slice(0, cut));
    const snapshot = { ...emptySnapshot(), seq: half.seq, sessions: [...half.sessions], desk: [...half.desk] };
    const open = [...half.live].filter(([key]) => !half.desk.some((entry) => key === entryKey(entry)));
    const heard = Math.min(half.seq, ...open.map(([, entry]) => entry.seq - 1));
    const page = { entries: half.pages.get(session)?.entries ?? [], more: false, seq: half.seq };
    const told = events.filter((event) => event.seq > heard);
    const loaded = withPage(reduce(fromSnapshot(snapshot, heard), []), session, [page], 'instead', {
      older: false,
      newer: false,
    });
    const after = reduce(loaded, told);
    expect(after.pages.get(session)?.entries).toEqual(whole.pages.get(session)?.entries);
    expect([...after.live.keys()].sort()).toEqual([...whole.live.keys()].sort());
    expect(after.desk).toEqual(whole.desk);
    expect(after.stale.size).toBe(0);
  }
});

test('a settled call is undone and brought again in its page', () => {
  const session = 'ses_0001';
  const state = reduce(withEmptyPage(start(), session), events);
  const call = state.pages
    .get(session)
    ?.entries.filter(isCall)
    .find((entry) => entry.body.state === 'undone');
  expect(call?.body.undo?.state).toBe('undone');
  const body: EventBody = { type: 'redo_applied', entry: call!.body.undo!.id, call: call!.id, paths: 1 };
  const again = reduce(state, [{ seq: state.seq + 1, session, at: 1, body }]);
  const after = again.pages.get(session)?.entries.find((entry) => entry.id === call!.id);
  expect(after && isCall(after) && [after.body.state, after.body.undone_at, after.body.undo?.state]).toEqual([
    'done',
    null,
    'applied',
  ]);
});

describe('a run that tells how far it is', () => {
  const session = 'ses_a';
  const tell = (bodies: EventBody[]) =>
    reduce(
      withEmptyPage(fromSnapshot(emptySnapshot()), session),
      bodies.map((body, index): Event => ({ seq: index + 1, session, at: index + 1, body })),
    );
  const proposed: EventBody = {
    type: 'call_proposed',
    call: { id: 'call_1', name: 'probe', arguments: {} },
    message: 'msg_1',
    reasoning: null,
  };
  const progress = (text: string): EventBody => ({ type: 'call_progress', call: 'call_1', tool: 'probe', text });
  const running: EventBody[] = [
    opened,
    proposed,
    { type: 'call_started', call: 'call_1' },
    progress('10 %'),
    progress('20 %'),
  ];

  test('keeps the last word while the call runs, and none after its end', () => {
    const call = (state: State) => state.pages.get(session)?.entries.find(isCall)?.body.progress;
    expect(call(tell(running))).toBe('20 %');
    const end: EventBody = {
      type: 'call_ended',
      call: 'call_1',
      outcome: {
        state: 'done',
        text: 'ok',
        message: '',
        duration_ms: 1,
        needs_followup: false,
        terminal: false,
        digest: '',
      },
    };
    expect(call(tell([...running, end]))).toBeNull();
  });

  test('shows a piece of the result in words among the live output', () => {
    const piece: EventBody = {
      type: 'call_update',
      call: 'call_1',
      content: [
        { type: 'text', text: 'half' },
        { type: 'image', mime: 'image/png', base64: 'aGFsZg==' },
      ],
      details: null,
    };
    const state = tell([...running, { type: 'call_output', call: 'call_1', text: 'so far: ' }, piece]);
    expect(state.pages.get(session)?.entries.find(isCall)?.body.output).toBe(
      'so far: half\n[An image (image/png, 6 bytes).]\n',
    );
  });

  test('a limit is no entry: its notice is', () => {
    const state = tell([opened, { type: 'limit_reached', limit: 'turns', used: 2, max: 2 }]);
    expect(state.pages.get(session)?.entries).toEqual([]);
    expect(state.seq).toBe(2);
  });
});

describe('the end of live output', () => {
  test.each([
    ['short enough', 'abc', 4, 'abc'],
    ['cut at its start', 'abcdef', 4, 'cdef'],
    ['never inside a character', 'a€€', 4, '€'],
    ['exactly the limit', '€a', 4, '€a'],
  ])('%s', (_, text, limit, kept) => expect(keepEnd(text, limit)).toBe(kept));
});

describe('schema first', () => {
  test('an answer that was checked, a place in the state and a parent stand where they belong', () => {
    const parent = { session: 'ses_p', call: 'call_p' };
    const usage = { input_tokens: 1, cached_tokens: 0, output_tokens: 1, cost_usd: null };
    const told: EventBody[] = [
      { ...opened, parent },
      { type: 'turn_started', turn: 1, message: 'msg_1' },
      { type: 'answer_checked', message: 'msg_1', problem: '`output` is missing' },
      { type: 'turn_ended', turn: 1, message: 'msg_1', usage, duration_ms: 1, error: null, opaque: null },
      { type: 'turn_started', turn: 2, message: 'msg_2' },
      { type: 'answer_checked', message: 'msg_2', output: { summary: 'Done.' } },
      { type: 'turn_ended', turn: 2, message: 'msg_2', usage, duration_ms: 1, error: null, opaque: null },
      {
        type: 'call_proposed',
        call: { id: 'call_1', name: 'greet', arguments: {} },
        message: 'msg_2',
        reasoning: null,
      },
      { type: 'state_written', call: 'call_1', path: 'report.title', instance: '2', value: 'Hi' },
    ];
    const state = reduce(
      withEmptyPage(start(), 'ses_a'),
      told.map((body) => happen(body)),
    );
    expect(state.sessions[0]?.parent).toEqual(parent);
    const bodies = (state.pages.get('ses_a')?.entries ?? []).map(({ body }) => body);
    expect(
      bodies.map((body) => (body.type === 'agent' ? body.checked : body.type === 'call' ? body.stored_at : null)),
    ).toEqual([
      { problem: '`output` is missing' },
      { output: { summary: 'Done.' } },
      { path: 'report.title', instance: '2' },
    ]);
  });
});

test('a call in a dry run stays where it stood on the desk, and is announced once it waits again', () => {
  const propose = (id: string): EventBody[] => [
    { type: 'call_proposed', call: { id, name: 'bash', arguments: {} }, message: 'msg', reasoning: null },
    {
      type: 'call_judged',
      call: id,
      tool: 'bash',
      title: 'Run',
      target: id,
      mode: 'local',
      kind: 'execute',
      trail: { verdict: 'ask', lead: '', otherwise: '', steps: [] },
      preview: { type: 'command', folder: '', command: [], facts: [], timeout_ms: 1, assurance: 'speculative' },
      undo: { type: 'secured' },
    },
    { type: 'call_waiting', call: id, digest: `${id} shown`, grants: [], refreshed: null, expires_at: null },
  ];
  const both = reduce(
    start(),
    [opened, ...propose('a'), ...propose('b')].map((body) => happen(body)),
  );
  const runs = reduce(both, [
    happen({ type: 'call_decided', call: 'a', digest: 'a shown', decision: { type: 'dry_run' } }),
    happen({ type: 'call_started', call: 'a' }),
  ]);
  expect(runs.desk.map(({ id, body }) => [id, body.state])).toEqual([
    ['a', 'running'],
    ['b', 'waiting'],
  ]);
  const again = [
    happen({ type: 'call_waiting', call: 'a', digest: 'a did', grants: [], refreshed: null, expires_at: null }),
  ];
  const back = reduce(runs, again);
  expect(back.desk.map(({ id, body }) => [id, body.state])).toEqual([
    ['a', 'waiting'],
    ['b', 'waiting'],
  ]);
  const offers = { inView: new Set<string>(), show: () => {}, submit: () => {} };
  expect([newsOf(both, runs, [], offers).announced, newsOf(runs, back, again, offers).announced]).toEqual([
    '',
    'Run a needs approval.',
  ]);
});

test('what a server asks stands on the desk with its call, and its answer counts once', () => {
  const request: ServerRequest = {
    server: 'one',
    message: [{ text: 'Who?', control: false }],
    wants: { type: 'form', fields: [] },
  };
  const usage = { input_tokens: 2, cached_tokens: 0, output_tokens: 1, cost_usd: null };
  const told: EventBody[] = [
    {
      type: 'call_proposed',
      call: { id: 'call_1', name: 'one__form', arguments: {} },
      message: 'msg_1',
      reasoning: null,
    },
    { type: 'call_started', call: 'call_1' },
    { type: 'server_request_received', call: 'call_1', request_id: 'ask_1', request, expires_at: null },
    { type: 'server_request_answered', call: 'call_1', request_id: 'ask_1', answer: { type: 'declined' }, why: null },
    { type: 'server_request_answered', call: 'call_1', request_id: 'ask_1', answer: { type: 'opened' }, why: 'late' },
    { type: 'sampling_finished', call: 'call_1', request_id: 'ask_1', result: { model: 'm', text: 'Hi', usage } },
    { type: 'server_request_received', call: 'call_1', request_id: 'ask_2', request, expires_at: 9 },
  ];
  let state = reduce(withEmptyPage(start(), 'ses_a'), [happen(opened)]);
  const states = told.map((body) => {
    state = reduce(state, [happen(body)]);
    return state.pages
      .get('ses_a')
      ?.entries.flatMap((entry) => (entry.body.type === 'call' ? [entry.body.state] : []))[0];
  });
  expect(states).toEqual(['proposed', 'running', 'waiting', 'running', 'running', 'running', 'waiting']);
  const [first, second] = state.desk[0]?.body.server_requests ?? [];
  expect(first?.answered).toMatchObject({ answer: { type: 'declined' }, sampled: { model: 'm', text: 'Hi', usage } });
  expect(first?.answered?.why).toBeUndefined();
  expect(second?.answered).toBeNull();
  expect([state.sessions[0]?.waiting, state.sessions[0]?.usage.input_tokens]).toEqual([1, 2]);
});

describe('a deleted session', () => {
  test('is taken out with its calls and its page, and the others keep their order', () => {
    const events = [happen(opened, 'one'), happen(opened, 'two'), happen(opened, 'three')];
    const call: EventBody = {
      type: 'call_proposed',
      message: 'm',
      call: { id: 'c', name: 'read', arguments: {} },
      reasoning: null,
    };
    const before = withEmptyPage(reduce(start(), [...events, happen(call, 'two')]), 'two');
    expect(before.live.size).toBe(1);
    const deleted = happen({ type: 'session_deleted', host: 'window', calls: 1 }, 'two');
    const after = reduce(before, [deleted, happen(opened, 'four')]);
    expect(after.sessions.map(({ id }) => id)).toEqual([
      'four',
      ...before.sessions.map(({ id }) => id).filter((id) => id !== 'two'),
    ]);
    expect([after.live.size, after.pages.size, after.stale.size]).toEqual([0, 0, 0]);
    expect(reduce(after, [happen({ type: 'session_renamed', title: 'Late' }, 'two')]).sessions).toHaveLength(3);
  });
});
