// The folded card: what it shows, what its details are, and that nothing is allowed that was cut off.

import { within } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { effectSamples } from '../../../gallery/effect_samples';
import { samples } from '../../../gallery/samples';
import { findFaults } from '../../../testing/accessibility';
import { pass } from '../../../testing/clock';
import { REST_MS } from '../deciding/arming';
import { allow, decisions, page, prepareCardPages, see } from './card_page';

prepareCardPages();

/** A preview that is taller than its part of the card. */
function cutOff(): void {
  vi.spyOn(Element.prototype, 'scrollHeight', 'get').mockReturnValue(900);
  vi.spyOn(Element.prototype, 'clientHeight', 'get').mockImplementation(function (this: Element) {
    return this.classList.contains('low') ? 300 : 900;
  });
}

it('shows what a command is and why it asks; o shows the rest, and folds it again', async () => {
  const { card, key } = await page(samples.command);
  const part = (text: RegExp) => text.test(card.textContent ?? '');
  const parts = [/The agent says/, /What it runs, in order/, /What happens next/];
  expect(within(card).getByTestId('command').textContent).toContain('cargo upgrade -p axum@0.8.1');
  expect(within(card).getByTestId('reason').textContent).toBe(samples.command.body.trail?.lead);
  expect(parts.map(part)).toEqual([false, false, false]);
  await key('o');
  expect(within(card).getByTestId('details').getAttribute('aria-expanded')).toBe('true');
  expect(parts.map(part)).toEqual([true, true, true]);
  await key('o');
  expect(parts.map(part)).toEqual([false, false, false]);
});

it('an answer counts only once the details that were shown have been seen', async () => {
  const { host, key } = await page(samples.command);
  await key('o');
  see(true, true, false);
  await pass(1_000);
  await key('y');
  see(true, true, true);
  await pass(REST_MS - 1);
  await key('y');
  expect(decisions(host)).toEqual([]);
  await pass(1);
  await key('y');
  expect(decisions(host)).toEqual([allow]);
});

it('tells an answer that reaches beyond the call, and one whose changes cannot be undone', async () => {
  const grants = [{ reach: 'session', button: 'Allow', text: 'opens `/data` for reading in this session.' }] as const;
  const opens = { ...samples.edit.body.pending!, grants: [...grants] };
  const { card } = await page({ ...samples.edit, body: { ...samples.edit.body, pending: opens } });
  expect(within(card).getByTestId('grants').textContent).toContain('opens /data for reading in this session.');
  expect(within(card).getByTestId('grants').textContent).not.toContain('What happens next');

  const plain = await page({ ...effectSamples.canDryRun, id: 'c_plain' });
  expect(within(plain.card).queryByTestId('grants')).toBeNull();
  const real = await page({ ...effectSamples.runsForReal, id: 'c_real' });
  expect(within(real.card).getByTestId('grants').textContent).toContain('Allow');
});

it.each(['y', 'the button'])('what is cut off is shown first, by %s, and allowed once it was seen', async (by) => {
  cutOff();
  const { host, card, key, click } = await page(samples.hunks);
  expect(within(card).getByTestId('show-rest').closest('.away')).toBeNull();
  if (by === 'y') await key('y');
  else await click('show-all');
  expect(within(card).queryByTestId('show-all')).toBeNull();
  see(true, true, false);
  await pass(1_000);
  await key('y');
  expect(decisions(host)).toEqual([]);
  see(true, true, true);
  await pass(REST_MS);
  await key('y');
  expect(decisions(host)).toEqual([allow]);
});

it('what is cut off can be refused, and a plan is never cut off', async () => {
  cutOff();
  const { host, card, key } = await page(samples.hunks);
  expect(within(card).getByTestId('show-all')).toBeTruthy();
  await key('n');
  expect(decisions(host).map(({ type }) => type)).toEqual(['reject']);
  const plan = await page(samples.plan);
  expect(within(plan.card).queryByTestId('show-all')).toBeNull();
});

it('what has the focus is never cut off', async () => {
  cutOff();
  const { card } = await page(samples.hunks);
  const check = within(card).getByTestId('hunk-2-check');
  vi.spyOn(check, 'getBoundingClientRect').mockReturnValue({ bottom: 800 } as DOMRect);
  check.focus();
  await pass(0);
  expect(within(card).queryByTestId('show-all')).toBeNull();
});

it.each(['command', 'hunks'] as const)('has no fault that axe finds, folded and cut off: %s', async (name) => {
  cutOff();
  const { card } = await page(samples[name]);
  expect(await findFaults(card)).toEqual([]);
});
