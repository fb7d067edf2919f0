// Always…: the picker on a card, the decision sent, and that nothing is granted before it was seen long enough
// (design/ui.md, "Deciding").

import { fireEvent, within } from '@testing-library/svelte';
import { describe, expect, it } from 'vitest';
import { findFaults } from '../../../testing/accessibility';
import { pass } from '../../../testing/clock';
import { samples } from '../../../gallery/samples';
import { REST_MS } from '../deciding/arming';
import { allow, decisions, page, prepareCardPages, see, type Page } from '../card/card_page';

prepareCardPages();

/** Opens the card of a command with the picker, in view for long enough. */
async function opened(): Promise<Page & { in_: ReturnType<typeof within> }> {
  const shown = await page(samples.command);
  await shown.key('a');
  await pass(1_000);
  return { ...shown, in_: within(shown.card) };
}
const words = (element: Element) => (element.textContent ?? '').replace(/\s+/g, ' ').trim();

describe('the picker', () => {
  it('opens with a, the focus on the shortest scope; Esc goes back to the card', async () => {
    const { card, key, in_ } = await opened();
    expect(document.activeElement).toBe(in_.getByTestId('always-in-session'));
    expect(words(in_.getByTestId('always-rule'))).toBe('Session allow bash cargo update*');
    expect(words(in_.getByTestId('always-backtest'))).toBe(
      'Would have allowed 41 of the last 1,000; 3 of them you rejected. Show them',
    );
    expect(words(in_.getByTestId('grants'))).toContain(
      'Session Allow for this session allows this call, and from now on',
    );
    await key('Escape', document.activeElement ?? card);
    expect([in_.queryByTestId('always-picker'), document.activeElement === card]).toEqual([null, true]);
    await key('o');
    expect(words(in_.getByTestId('grants'))).toContain(
      'Session Always… would start from bash cargo update*; you see and confirm the rule first.',
    );
  });
  it('is opened by its button as well, and closed by Just once', async () => {
    const { card, click } = await page(samples.command);
    await click('always');
    await pass(0);
    expect(within(card).getByTestId('always-picker')).toBeTruthy();
    await click('always-not');
    expect(within(card).queryByTestId('always-picker')).toBeNull();
  });
  it('sends the rule along with Allow', async () => {
    const { host, key, click, in_ } = await opened();
    await click('always-in-everywhere');
    await fireEvent.input(in_.getByTestId('always-uses'), { target: { value: '5' } });
    await fireEvent.input(in_.getByTestId('always-pattern'), { target: { value: 'cargo update -w' } });
    await pass(1_000);
    expect(words(in_.getByTestId('allow'))).toContain('Allow everywhere');
    expect(words(in_.getByTestId('always-rule'))).toBe('Everywhere, 5 uses allow bash cargo update -w');
    await key('y', in_.getByTestId('always-in-everywhere'));
    expect(decisions(host)).toEqual([
      { ...allow, always: { lasts: 'everywhere', permission: 'bash', pattern: 'cargo update -w', max_uses: 5 } },
    ]);
  });
  it('names the ask that it would override', async () => {
    const { in_ } = await opened();
    expect(in_.queryByTestId('always-overrides')).toBeNull();
    await fireEvent.click(in_.getByTestId('always-offer-1'));
    await pass(1_000);
    expect(words(in_.getByTestId('always-overrides'))).toBe('a rule that asks: bash cargo* Project · rules.toml:14');
    expect((in_.getByTestId('always-pattern') as HTMLInputElement).value).toBe('cargo update -w');
  });
});

it('of a call that a watchdog asks about is for exactly that call', async () => {
  const told = 'exactly this call, although: It sends `@notes` to another machine.';
  const { host, key, card } = await page(
    samples.command,
    true,
    (host) =>
      (host.rules.offers = [
        { permission: 'bash', pattern: null, exactly: true, action: 'allow', words: told, lasts: ['session'] },
      ]),
  );
  await key('a');
  await pass(1_000);
  const in_ = within(card);
  expect(words(in_.getByTestId('always-exactly'))).toContain(
    'exactly this call, although: It sends @notes to another machine.',
  );
  expect(words(in_.getByTestId('always-rule'))).toBe('Session allow exactly this call');
  expect([in_.queryByTestId('always-pattern'), in_.queryByTestId('always-backtest')]).toEqual([null, null]);
  await key('y', card);
  expect(decisions(host)).toEqual([
    { ...allow, always: { lasts: 'session', permission: 'bash', pattern: null, exactly: true } },
  ]);
});

describe('nothing is granted', () => {
  it('with Enter or Space, wherever the focus is', async () => {
    const { host, key, in_ } = await opened();
    for (const id of ['always-in-session', 'always-pattern', 'always-until', 'always-uses']) {
      in_.getByTestId(id).focus();
      await key('Enter', in_.getByTestId(id));
      await key('Escape', document.activeElement ?? document.body);
      if (!in_.queryByTestId('always-picker')) await key('a');
      await pass(1_000);
    }
    in_.getByTestId('allow').focus();
    await key('Enter', in_.getByTestId('allow'));
    await key(' ', in_.getByTestId('allow'));
    expect(host.ops).toEqual([]);
  });
  it('right after the picker opened, nor right after the rule changed', async () => {
    const { host, key, card } = await page(samples.command);
    await key('a');
    await pass(REST_MS - 100);
    await key('y', card);
    expect(host.ops).toEqual([]);
    await pass(1_000);
    await fireEvent.click(within(card).getByTestId('always-in-project'));
    await pass(REST_MS - 1);
    await key('y', within(card).getByTestId('always-in-project'));
    expect(host.ops).toEqual([]);
    await pass(1_000);
    await key('y', within(card).getByTestId('always-in-project'));
    expect(decisions(host)).toEqual([
      { ...allow, always: { lasts: 'project', permission: 'bash', pattern: 'cargo update*' } },
    ]);
  });
  it('while the end of the card, with what would be granted, is out of view', async () => {
    const { host, key, card } = await opened();
    see(true, true, false);
    await pass(1_000);
    await key('y', card);
    expect(host.ops).toEqual([]);
  });
  it('while a letter is text in the pattern', async () => {
    const { host, key, in_ } = await opened();
    in_.getByTestId('always-pattern').focus();
    await key('y', in_.getByTestId('always-pattern'));
    expect(host.ops).toEqual([]);
  });
  it.each([
    ['sudo *', 'would cover whatever it is given to run'],
    [' ', 'Without a pattern it would cover everything.'],
  ])('with the pattern %j, and the reason is said', async (pattern, reason) => {
    const { host, key, card, in_ } = await opened();
    await fireEvent.input(in_.getByTestId('always-pattern'), { target: { value: pattern } });
    await pass(1_000);
    expect(words(in_.getByTestId('always-means'))).toContain(reason);
    expect((in_.getByTestId('allow') as HTMLButtonElement).disabled).toBe(true);
    await key('y', card);
    expect(host.ops).toEqual([]);
  });
});

it('where nothing is offered the button is disabled, and the reason stands among the answers', async () => {
  const { card, key } = await page(
    samples.command,
    true,
    (host) => (host.rules.refused = 'A wrapper runs whatever it is given.'),
  );
  expect((within(card).getByTestId('always') as HTMLButtonElement).disabled).toBe(true);
  await key('a');
  expect(words(within(card).getByTestId('grants'))).toContain(
    'Not available Always… A wrapper runs whatever it is given.',
  );
  expect(within(card).queryByTestId('always-picker')).toBeNull();
});

it('Reject makes a rule as well: such calls are denied from now on', async () => {
  const { host, card, key, click } = await page(samples.command);
  await click('reject-menu');
  await fireEvent.click(within(card).getByTestId('reject-menu-never'));
  await pass(1_000);
  expect(words(within(card).getByTestId('always-rule'))).toBe('Session deny bash cargo update*');
  expect(words(within(card).getByTestId('grants'))).toContain(
    'Session Reject for this session rejects this call, and denies from now on',
  );
  expect(words(within(card).getByTestId('allow'))).toContain('Allow');
  await key('n', within(card).getByTestId('always-in-session'));
  expect(decisions(host)).toEqual([
    {
      type: 'reject',
      note: '',
      stop: false,
      always: { lasts: 'session', permission: 'bash', pattern: 'cargo update*' },
    },
  ]);
});

it('the link beside Reject names the rule that would deny such calls, and Shift+N opens it as well', async () => {
  const { host, card, key, click } = await page(samples.command);
  await pass(1_000);
  await key('o');
  expect(words(within(card).getByTestId('never'))).toContain('Always deny bash cargo update*…');
  await click('never');
  await pass(1_000);
  expect(words(within(card).getByTestId('always-rule'))).toBe('Session deny bash cargo update*');
  await fireEvent.keyDown(card, { key: 'N', code: 'KeyN', shiftKey: true });
  await pass(0);
  expect(within(card).queryByTestId('always-picker')).toBeNull();
  await fireEvent.keyDown(card, { key: 'N', code: 'KeyN', shiftKey: true });
  await pass(0);
  expect(within(card).getByTestId('always-picker')).toBeTruthy();
  expect(decisions(host)).toEqual([]);
});

it('one y still allows once, without any rule', async () => {
  const { host, key } = await page(samples.command);
  await key('y');
  expect(decisions(host)).toEqual([allow]);
});

it('has no fault that axe finds', async () => {
  const { card } = await opened();
  expect(await findFaults(card)).toEqual([]);
});
