// The rule that is offered after like answers: asked for once a call was allowed, looked at, or dismissed for good.

import { screen, waitFor } from '@testing-library/svelte';
import { afterEach, describe, expect, test } from 'vitest';
import { at, click, openApp, text } from '../../app/app_page';
import { samples } from '../../gallery/samples';
import type { Decision } from '../../ipc/bindings';
import { FakeHost } from '../../ipc/fake';
import { busyDay } from '../../ipc/fake_attention';
import { parseStream } from '../../ipc/fake_streams';
import type { Desk } from '../../state/desk.svelte';
import { findSeriousFaults } from '../../testing/accessibility';
import sample from '../../../../tests/golden/sample.jsonl?raw';

const events = parseStream(sample);
const session = events[0]!.session;
const ALLOW = { type: 'allow', hunks: null, note: '' } as const;
const offered = busyDay(session, samples.command.id, 0).rule;

/** The desk of a host that offers the rule after every answer. */
async function openDesk(): Promise<[Desk, FakeHost]> {
  const host = new FakeHost(events);
  host.ruleOffer = offered;
  const desk = await openApp(host, (desk) => desk.navigation.go('desk'));
  return [desk, host];
}
const decide = (host: FakeHost, decision: Decision): void =>
  host.emit(session, { type: 'call_decided', call: samples.command.id, digest: 'd', decision });

afterEach(() => localStorage.clear());

describe('a rule is offered', () => {
  test('after a call was allowed, and is written where it is looked at', async () => {
    const [desk, host] = await openDesk();
    expect(screen.queryByTestId('rule-offer')).toBeNull();
    decide(host, ALLOW);
    await screen.findByTestId('rule-offer');
    expect(text('rule-offer')).toContain('You allowed 3 calls like this within a week and rejected none.');
    expect(text('rule-offer')).toContain('Allow bash npm test*');
    expect(await findSeriousFaults()).toEqual([]);
    await click('rule-offer-begin');
    await waitFor(() => expect((at('rule-pattern') as HTMLInputElement).value).toBe('npm test*'));
    expect(desk.ruleOffer.current).toBeNull();
    expect(host.ops).toEqual([]);
  });

  test('never again once it was dismissed', async () => {
    const [desk, host] = await openDesk();
    decide(host, ALLOW);
    await screen.findByTestId('rule-offer');
    await click('rule-offer-dismiss');
    expect(screen.queryByTestId('rule-offer')).toBeNull();
    decide(host, ALLOW);
    await waitFor(() => expect(host.queries('rule_offer')).toHaveLength(2));
    // The answer to the question comes, and is taken in.
    await new Promise((resolve) => setTimeout(resolve));
    expect(desk.ruleOffer.current).toBeNull();
  });

  test('not after a rejection, nor after an answer that made a rule', async () => {
    const [, host] = await openDesk();
    decide(host, { type: 'reject', note: '', stop: false });
    decide(host, { ...ALLOW, always: { permission: 'bash', pattern: 'ls', lasts: 'session' } });
    decide(host, ALLOW);
    await screen.findByTestId('rule-offer');
    expect(host.queries('rule_offer')).toHaveLength(1);
  });
});
