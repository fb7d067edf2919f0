// Why, the timeline and the other tabs of a call: their words, and that each is without fault.

import { cleanup, fireEvent, render, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { describe, expect, it } from 'vitest';
import { findFaults } from '../../testing/accessibility';
import { SampleHost } from '../../gallery/host';
import InspectorPage from '../../gallery/InspectorPage.svelte';
import { asksTrail, DIGEST, NOW, outcome, SESSION, undoEntry } from '../../gallery/sample_calls';
import { samples } from '../../gallery/samples';
import type { Event, EventBody } from '../../ipc/bindings';
import { Desk } from '../../state/desk.svelte';
import { timeline } from './timeline';
import { shownGate } from '../../domain/trail';
import { briefDigest, verdictWords } from './trail';

const SIDES = ['preview', 'arguments', 'why', 'result', 'timeline', 'raw'] as const;

async function inspect(entry: (typeof samples)[keyof typeof samples]) {
  const desk = await Desk.open(new SampleHost([entry]));
  render(InspectorPage, { desk, entry });
  await tick();
}
async function side(name: (typeof SIDES)[number]): Promise<HTMLElement> {
  await fireEvent.click(screen.getByTestId(`tab-${name}`));
  await tick();
  await new Promise((done) => setTimeout(done));
  return screen.getByRole('tabpanel');
}
const text = (element: HTMLElement): string => (element.textContent ?? '').replace(/\s+/g, ' ').trim();

describe('why', () => {
  it('says it in one sentence, then gate by gate, with the rule that won first', async () => {
    await inspect(samples.hunks);
    expect(text(screen.getByRole('tabpanel'))).toContain(
      'Needs approval by a rule: every edit of the parser is looked at.',
    );
    expect(text(screen.getByTestId('gate-rules'))).toBe(
      'Rules3 matched, 1 won edit crates/parser/**Ask Project · rules.toml:14longest prefix edit crates/**Allow Project · rules.toml:9shorter prefix mode:safe_writeAllow You · rules.toml:3less specific',
    );
  });
  it('draws each gate by what it said', () => {
    expect(asksTrail.steps.map((step) => Object.values(shownGate(step, 'safe_write')))).toEqual([
      ['Mode', 'm-safe', 'plain', 'Safe write'],
      ['Capability check', 'check', 'ok', 'passed'],
      ['Undo', 'history', 'plain', ''],
      ['Rules', 'rules', 'ask', '3 matched, 1 won'],
    ]);
    expect(shownGate({ gate: 'rules', verdict: null, text: '' }, 'read').said).toBe('none matched');
  });
  it('tells who decided: a person, a rule, or nobody', () => {
    const words = [samples.rejected, samples.denied, samples.expired, samples.read].map((sample) =>
      verdictWords(sample.body).replace(/\d\d:\d\d:\d\d/, 'T'),
    );
    expect(words).toEqual([
      'You rejected it at T.',
      'It did not run. A denied call cannot be allowed from here.',
      'Nobody answered in time.',
      'It did not run.',
    ]);
  });
  it('shortens a digest so that two can be compared', () => {
    expect([briefDigest(DIGEST), briefDigest('abc')]).toEqual(['7c1e 09ab … 44f2', 'abc']);
  });
});

describe('the timeline', () => {
  const event = (seq: number, body: EventBody): Event => ({ seq, session: SESSION, at: NOW, body });
  it('tells a call from its beginning to its undo, with output in one line', () => {
    const lines = timeline([
      event(1, {
        type: 'call_proposed',
        call: { id: 'c', name: 'edit', arguments: {} },
        message: 'm',
        reasoning: 'because',
      }),
      event(2, {
        type: 'call_waiting',
        call: 'c',
        digest: DIGEST,
        grants: [],
        refreshed: 'The file changed.',
        expires_at: null,
      }),
      event(3, {
        type: 'call_decided',
        call: 'c',
        digest: DIGEST,
        decision: {
          type: 'allow',
          hunks: [0, 2],
          note: 'go',
          always: { lasts: 'project', permission: 'edit', pattern: 'src/**' },
        },
      }),
      event(4, { type: 'undo_prepared', call: 'c', entry: undoEntry }),
      event(5, { type: 'call_started', call: 'c' }),
      event(6, { type: 'call_output', call: 'c', text: 'ä' }),
      event(7, { type: 'call_output', call: 'c', text: 'b' }),
      event(8, { type: 'call_ended', call: 'c', outcome: outcome({ message: 'Written.' }) }),
      event(9, { type: 'undo_applied', entry: 'und_1', call: 'c', paths: 1 }),
    ]);
    expect(lines.map((line) => [line.seq, line.text, line.detail])).toEqual([
      [1, 'The agent asked for it', 'because'],
      [2, 'Needs approval, shown anew', 'The file changed.'],
      [3, 'You allowed 2 parts of it, and `edit src/**` in this project', 'go'],
      [4, 'A copy was taken', '1 path, 6.8 kB'],
      [5, 'Started', ''],
      [7, 'Output', '3 B'],
      [8, 'Done, 4 ms', 'Written.'],
      [9, 'Undone', '1 path'],
    ]);
  });
});

describe('every side', () => {
  it('stands without a fault that axe finds, for calls in every state', async () => {
    for (const sample of [
      samples.hunks,
      samples.edited,
      samples.command,
      samples.loss,
      samples.form,
      samples.failed,
      samples.denied,
      samples.deleted,
      samples.todo,
    ]) {
      await inspect(sample);
      for (const name of SIDES) {
        const panel = await side(name);
        const shows = name !== 'preview' || (sample.body.type === 'call' && sample.body.preview.type !== 'nothing');
        if (shows) expect(text(panel).length, `${sample.id} ${name}`).toBeGreaterThan(5);
        else expect(text(panel), `${sample.id} ${name}`).toBe('');
        expect(await findFaults(screen.getByTestId('inspector')), `${sample.id} ${name}`).toEqual([]);
      }
      cleanup();
    }
  });
  it('is reached with the arrow keys', async () => {
    await inspect(samples.hunks);
    screen.getByTestId('tab-why').focus();
    await fireEvent.keyDown(screen.getByTestId('tab-why'), { key: 'ArrowRight' });
    expect([document.activeElement?.textContent, screen.getByRole('tabpanel').getAttribute('aria-label')]).toEqual([
      'Result',
      'Result',
    ]);
  });
  it('shows both versions of what a person changed', async () => {
    await inspect(samples.edited);
    expect(text(await side('arguments'))).toContain(
      "changed by you The agent's sql, signal }); Yours sql, signal, cache });",
    );
  });
  it('shows the text for finding a fault beside the message (S000-16)', async () => {
    const { body } = samples.read;
    const failed = {
      ...samples.read,
      body: {
        ...body,
        state: 'failed' as const,
        outcome: outcome({ state: 'failed', message: 'Please retry.', error: 'E_DATE at line 7' }),
      },
    };
    await inspect(failed);
    const shown = text(await side('result'));
    expect(shown).toContain('Please retry.');
    expect(text(screen.getByTestId('error'))).toBe('E_DATE at line 7');
  });
  it('says that nothing is selected', async () => {
    const desk = await Desk.open(new SampleHost());
    render(InspectorPage, { desk, entry: null });
    expect(text(screen.getByTestId('inspector'))).toContain('No call is selected');
  });
});
