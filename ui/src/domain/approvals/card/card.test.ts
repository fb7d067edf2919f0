// The card in a page: which presses decide, the decision sent, and that each state is without fault (design/ui.md).

import { cleanup, fireEvent, screen, within } from '@testing-library/svelte';
import { describe, expect, it, vi } from 'vitest';
import { findFaults } from '../../../testing/accessibility';
import { pass } from '../../../testing/clock';
import { DIGEST } from '../../../gallery/sample_calls';
import type { SampleHost } from '../../../gallery/host';
import { samples } from '../../../gallery/samples';
import { REST_MS, SWAP_MS } from '../deciding/arming';
import { allow, decisions, page, prepareCardPages, see } from './card_page';

prepareCardPages();

describe('allowing', () => {
  it('y sends one decision with the digest that was shown', async () => {
    const { host, key } = await page(samples.edit);
    await key('y');
    await key('y');
    expect(host.ops).toEqual([{ type: 'decide', session: 'ses_1', call: 'c_edit', digest: DIGEST, decision: allow }]);
  });
  it('a click does the same, and a double click does not do it twice', async () => {
    const { host, click } = await page(samples.edit);
    await click('allow');
    await click('allow');
    expect(decisions(host)).toEqual([allow]);
  });
  it('Enter and Space on the button open the note, and never allow', async () => {
    const { host, key, card } = await page(samples.edit);
    const button = within(card).getByTestId('allow');
    for (const name of ['Enter', ' ']) {
      button.focus();
      await key(name, button);
      expect(document.activeElement).toBe(within(card).getByTestId('note'));
    }
    await fireEvent.click(button, { detail: 0 });
    expect(host.ops).toEqual([]);
  });
  it('Enter and Space on the card mean nothing', async () => {
    const { host, key } = await page(samples.edit);
    await key(' ');
    await key('Enter');
    expect(host.ops).toEqual([]);
  });
  it('text in the note and in the message box decides nothing; Shift+Tab only moves on', async () => {
    const { host, key, card } = await page(samples.edit);
    const note = within(card).getByTestId('note');
    const composer = screen.getByTestId('composer');
    for (const field of [note, composer]) {
      field.focus();
      for (const name of ['y', 'n', 'Enter', ' ']) await key(name, field);
      await fireEvent.keyDown(field, { key: 'Tab', shiftKey: true });
    }
    expect(host.ops).toEqual([]);
  });
  it('the same key allows whatever stands in the message box, and the note goes along', async () => {
    const { host, key, card } = await page(samples.edit);
    await fireEvent.input(screen.getByTestId('composer'), { target: { value: 'stop that' } });
    await fireEvent.input(within(card).getByTestId('note'), { target: { value: ' and then test it ' } });
    card.focus();
    await pass(REST_MS);
    await key('y');
    expect(decisions(host)).toEqual([{ ...allow, note: 'and then test it' }]);
  });
  it('nothing counts before the card was seen for 400 ms, nor while the end of it is out of view', async () => {
    const { host, key, card } = await page(samples.edit, false);
    card.focus();
    await pass(1_000);
    await key('y');
    see(true, true, false);
    await pass(1_000);
    await key('y');
    see(true, true, true);
    await pass(REST_MS - 1);
    await key('y');
    expect(host.ops).toEqual([]);
    await pass(1);
    await key('y');
    expect(decisions(host)).toEqual([allow]);
  });
  it('a key or a click that activates the window is swallowed', async () => {
    const { host, key, click } = await page(samples.edit);
    await fireEvent.blur(window);
    await key('y');
    await fireEvent.blur(window);
    await fireEvent.focus(window);
    await click('allow');
    expect(host.ops).toEqual([]);
    await pass(1_000);
    await key('y');
    expect(decisions(host)).toEqual([allow]);
  });
  it('what changed under the pointer is not what was aimed at', async () => {
    const { host, card, show } = await page(samples.edit);
    const button = within(card).getByTestId('allow');
    await fireEvent.pointerDown(button, { button: 0 });
    await show({
      ...samples.refreshed,
      id: 'c_edit',
      body: { ...samples.refreshed.body, pending: { ...samples.refreshed.body.pending!, digest: 'other' } },
    });
    await fireEvent.click(button, { detail: 1 });
    expect(host.ops).toEqual([]);
    expect(within(card).getByTestId('refreshed').textContent).toContain('The file changed 5 s ago');
  });
  it('a refusal makes the card answerable again', async () => {
    const { host, key } = await page(samples.edit);
    host.refuses = true;
    await key('y');
    host.refuses = false;
    await key('y');
    expect(decisions(host)).toEqual([allow, allow]);
  });
});

describe('a tall card', () => {
  it('shows the rest first, and allows only once its end was seen', async () => {
    vi.spyOn(HTMLElement.prototype, 'offsetHeight', 'get').mockReturnValue(5_000);
    const { host, key, click, card } = await page(samples.hunks, false);
    card.focus();
    see(true, true, false);
    await pass(1_000);
    expect(within(card).getByTestId('show-rest').closest('.away')).toBeNull();
    await key('y');
    await click('show-rest');
    expect(host.ops).toEqual([]);
    see(true, false, true);
    await pass(REST_MS);
    expect(within(card).getByTestId('show-rest').closest('.away')).not.toBeNull();
    // Who still aimed at that button does not allow by it.
    await key('y');
    await click('allow');
    expect(host.ops).toEqual([]);
    await pass(SWAP_MS);
    await key('y');
    expect(decisions(host)).toEqual([allow]);
  });
  it('must be seen anew after its arguments were written', async () => {
    const height = vi.spyOn(HTMLElement.prototype, 'offsetHeight', 'get').mockReturnValue(5_000);
    const { host, key, card } = await page(samples.hunks, false);
    card.focus();
    see(true, true, false);
    await pass(1_000);
    // In the small card of the fields the end is in view, as it is not in the tall one.
    await key('e');
    height.mockReturnValue(0);
    see(true, true, true);
    await pass(1_000);
    await key('Escape', within(card).getByTestId('edit-json'));
    height.mockReturnValue(5_000);
    see(true, true, false);
    await pass(1_000);
    await key('y');
    expect(decisions(host)).toEqual([]);
    expect(within(card).getByTestId('show-rest').closest('.away')).toBeNull();
  });
});

describe('keys that the person chose', () => {
  const keys = { allow: 'Ctrl+Shift+Y', reject: 'F9' };
  const chosen = { key: 'Y', code: 'KeyY', ctrlKey: true, shiftKey: true };
  const prepare = (host: SampleHost) => host.change({ keys });

  it('decide like the usual ones, which decide nothing any more', async () => {
    const { host, card, key } = await page(samples.edit, true, prepare);
    await key('y');
    await key('n');
    expect(decisions(host)).toEqual([]);
    await fireEvent.keyDown(card, chosen);
    await pass(0);
    expect(decisions(host)).toEqual([allow]);
  });
  it('count only while the card has the focus, is in full view, and was for a moment', async () => {
    const { host, card } = await page(samples.edit, false, prepare);
    await fireEvent.keyDown(document.body, chosen);
    card.focus();
    await pass(1_000);
    await fireEvent.keyDown(card, chosen);
    see(true, true, false);
    await pass(1_000);
    await fireEvent.keyDown(card, chosen);
    see(true, true, true);
    await pass(REST_MS - 1);
    await fireEvent.keyDown(card, chosen);
    await fireEvent.keyDown(within(card).getByTestId('note'), chosen);
    expect(decisions(host)).toEqual([]);
    await pass(1_000);
    await fireEvent.keyDown(card, { ...chosen, repeat: true });
    expect(decisions(host)).toEqual([]);
    await fireEvent.keyDown(card, chosen);
    await pass(0);
    expect(decisions(host)).toEqual([allow]);
  });
  it('are held where it cannot be undone', async () => {
    const { host, card } = await page(samples.loss, true, prepare);
    await fireEvent.keyDown(card, chosen);
    await pass(700);
    await fireEvent.keyUp(card, chosen);
    await pass(2_000);
    expect(decisions(host)).toEqual([]);
    await fireEvent.keyDown(card, chosen);
    await pass(900);
    expect(decisions(host)).toEqual([allow]);
  });
});

describe('what cannot be undone', () => {
  it('is held for 800 ms by key; letting go early does nothing and says so', async () => {
    const { host, card } = await page(samples.loss);
    const press = { key: 'y', code: 'KeyY' };
    await fireEvent.keyDown(card, press);
    await pass(700);
    await fireEvent.keyUp(card, press);
    await pass(2_000);
    expect(host.ops).toEqual([]);
    expect(within(card).getByText('Keep holding')).toBeTruthy();
    await fireEvent.keyDown(card, press);
    await fireEvent.keyDown(card, { ...press, repeat: true });
    await pass(900);
    expect(decisions(host)).toEqual([allow]);
  });
  it('is held by pointer, and a click alone does nothing', async () => {
    const { host, card, click } = await page(samples.loss);
    await click('allow');
    expect(host.ops).toEqual([]);
    await fireEvent.pointerDown(within(card).getByTestId('allow'), { button: 0 });
    await pass(900);
    expect(decisions(host)).toEqual([allow]);
  });
  it('needs no holding where a copy is taken first', async () => {
    const { host, key } = await page(samples.lossSecured);
    await key('y');
    expect(decisions(host)).toEqual([allow]);
  });
});

describe('hunks', () => {
  it('only the checked ones are allowed, and none at all cannot be', async () => {
    const { host, key, card } = await page(samples.hunks);
    await fireEvent.click(within(card).getByTestId('hunk-2-check'));
    expect(within(card).getByTestId('allow').textContent).toContain('Allow 2 of 3 hunks');
    expect(within(card).getByTestId('grants').textContent).toContain('hunk 3 was left out');
    expect((within(card).getByTestId('hunks-all') as HTMLInputElement).indeterminate).toBe(true);
    card.focus();
    await key('y');
    expect(decisions(host)).toEqual([{ ...allow, hunks: [0, 1] }]);
  });
  it('all left out: the main answer is off', async () => {
    const { host, key, card } = await page(samples.edit);
    await fireEvent.click(within(card).getByTestId('hunk-0-check'));
    await key('y');
    expect((within(card).getByTestId('allow') as HTMLButtonElement).disabled).toBe(true);
    expect(host.ops).toEqual([]);
  });
});

describe('rejecting', () => {
  it('n goes on, the menu stops the turn, and the note is the reason', async () => {
    const first = await page(samples.edit);
    await first.key('n');
    expect(decisions(first.host)).toEqual([{ type: 'reject', note: '', stop: false }]);
    cleanup();
    const second = await page(samples.edit);
    await fireEvent.input(within(second.card).getByTestId('note'), { target: { value: 'not now' } });
    await fireEvent.click(within(second.card).getByTestId('reject-menu'));
    await pass(0);
    await fireEvent.click(within(second.card).getByTestId('reject-menu-stop'));
    await pass(0);
    expect(decisions(second.host)).toEqual([{ type: 'reject', note: 'not now', stop: true }]);
  });
  it('a letter typed into the open menu decides nothing', async () => {
    const { host, key, card } = await page(samples.edit);
    await fireEvent.click(within(card).getByTestId('reject-menu'));
    await pass(0);
    await key('y', within(card).getByTestId('reject-menu-stop'));
    expect(host.ops).toEqual([]);
  });
});

describe('undo', () => {
  it('asks what it would meet, and does nothing while something changed since', async () => {
    const { host, card, key } = await page(samples.deleted);
    await pass(0);
    await key('u');
    expect(host.ops).toEqual([{ type: 'undo', entry: 'und_1' }]);
    host.conflicts = ['crates/wal/proptest-regressions/recover.txt'];
    await key('u');
    expect(host.ops.length).toBe(1);
    expect(within(card).getByTestId('conflicts').textContent).toContain('recover.txt');
  });
  it('an undone call offers redo', async () => {
    const { host, click } = await page(samples.undone);
    await click('redo');
    expect(host.ops).toEqual([{ type: 'redo', entry: 'und_1' }]);
  });
});

describe('the form', () => {
  it('asks one question after the other and sends all answers', async () => {
    const { host, card, key } = await page(samples.form);
    await key('y');
    expect((within(card).getByTestId('next-question') as HTMLButtonElement).disabled).toBe(true);
    await fireEvent.click(within(card).getByTestId('option-1'));
    await fireEvent.click(within(card).getByTestId('next-question'));
    await pass(0);
    expect(card.textContent).toContain('2 of 2');
    await fireEvent.click(within(card).getByTestId('option-0'));
    await fireEvent.input(within(card).getByTestId('other'), { target: { value: 'slow ones' } });
    await fireEvent.keyDown(within(card).getByTestId('other'), { key: 'Enter' });
    expect(host.ops).toEqual([]);
    await fireEvent.click(within(card).getByTestId('submit-answers'));
    await fireEvent.click(within(card).getByTestId('submit-answers'));
    expect(decisions(host)).toEqual([
      { type: 'answer', answers: [['30 days, on this machine'], ['Failed ones', 'slow ones']] },
    ]);
  });
  it('can be skipped', async () => {
    const { host, click } = await page(samples.form);
    await click('skip');
    expect(decisions(host)).toEqual([{ type: 'skip' }]);
  });
});

describe('the plan', () => {
  it('is read as Markdown and accepted', async () => {
    const { host, card, key } = await page(samples.plan);
    expect(within(card).getByTestId('plan').querySelectorAll('li')).toHaveLength(3);
    expect(within(card).getByTestId('allow').textContent).toContain('Accept');
    await pass(1000);
    await key('y');
    expect(decisions(host)).toEqual([{ type: 'allow', hunks: null, note: '' }]);
  });
  it('can be sent back', async () => {
    const { host, card, key } = await page(samples.plan);
    expect(within(card).getByTestId('reject').textContent).toContain('Keep planning');
    await pass(1000);
    await key('n');
    expect(decisions(host)).toEqual([{ type: 'reject', note: '', stop: false }]);
  });
});

describe('every state', () => {
  it.each(Object.entries(samples))(
    '%s has no fault that axe finds, and no inline style in its markup',
    async (_, entry) => {
      const { card } = await page(entry);
      expect(await findFaults(card)).toEqual([]);
    },
  );
  it('a denied call names the rule, and offers no answer', async () => {
    const { card, key, host } = await page(samples.denied);
    await key('y');
    expect(within(card).getByTestId('denied').textContent?.replace(/\s+/g, ' ').trim()).toBe(
      'Rule fs.write .env* denies this: secrets are edited by hand. Project · rules.toml:4',
    );
    expect([within(card).queryByTestId('allow'), host.ops]).toEqual([null, []]);
  });
  it('expired, rejected and denied are told apart', async () => {
    const states = [];
    for (const sample of [samples.expired, samples.rejected, samples.denied]) {
      const { card } = await page(sample);
      states.push(within(card).getByTestId('state').textContent?.trim());
      cleanup();
    }
    expect(states).toEqual(['Expired after 30 min', 'Rejected by you', 'Denied']);
  });
  it('hidden characters of a command are named, in the head and in the body', async () => {
    const { card } = await page(samples.command);
    expect(within(card).getByTestId('command').textContent).toContain('rm -r src/U+202Ecompat');
    expect(card.textContent).not.toContain('\u202e');
  });
  it('the rest of a long output is opened piece by piece', async () => {
    const { card, click, host } = await page(samples.failed);
    await click('open-rest');
    await click('open-rest');
    expect(within(card).getByTestId('output').textContent).toBe('the whole output\nand its end\n');
    expect(host.queries.filter((query) => query.type === 'output').map((query) => query.offset)).toEqual([0, 17]);
  });
});

describe('words', () => {
  it('a sub-agent task says that the calls of the agent are judged, and not that it leaves the machine', async () => {
    const { card } = await page(samples.subAgent);
    expect(within(card).getByTestId('sub-agent').textContent).toContain('Each of its calls is judged');
    expect(within(card).queryByTestId('mode')).toBeNull();
    expect(card.textContent).toContain('Sub-agent');
    expect(card.textContent).not.toContain('leaves your machine');
  });

  it('a failure that the result tells already is not told again', async () => {
    const { card, show } = await page(samples.failed);
    expect(within(card).getByTestId('outcome').textContent).toContain('ended with exit code 101');
    const message = 'There is no file `src/a.rs`.';
    const outcome = { ...samples.failed.body.outcome!, text: `${message} The closest is src/b.rs.`, message };
    await show({ ...samples.failed, body: { ...samples.failed.body, outcome } });
    expect(within(card).queryByTestId('outcome')).toBeNull();
    expect(card.textContent).toContain('The closest is src/b.rs.');
  });

  it('no rule can accept a plan: Always… is not there', async () => {
    const { card } = await page(samples.plan, true, (host) => (host.rules.refused = 'A plan is accepted by a person.'));
    expect(within(card).queryByTestId('always')).toBeNull();
  });
});
