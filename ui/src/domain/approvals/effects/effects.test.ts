// The effects of a command on the card: the tree and its ticks, the words, and what is sent (design/ui.md, "The card").

import { fireEvent, render, screen, within } from '@testing-library/svelte';
import { describe, expect, it, test } from 'vitest';
import { findFaults } from '../../../testing/accessibility';
import { pass } from '../../../testing/clock';
import { changes, effectSamples, effectsOf, manyChanges } from '../../../gallery/effect_samples';
import type { CallView, Effect } from '../../../ipc/bindings';
import { REST_MS } from '../deciding/arming';
import { allow, decisions, page, prepareCardPages, see } from '../card/card_page';
import { runChoices } from '../words';
import Effects from './Effects.svelte';
import { filtered, isHeading, leftBefore, tickOf, treeOf, type Row } from './tree';
import { endWords, assuranceOf, metaOf, openFirst, summary } from './words';

prepareCardPages();

/** Lets enough time pass for a part opened on a card to be seen. */
async function look(): Promise<void> {
  see(true, true, true);
  await pass(REST_MS + 100);
}
/** Holds a button, to its end or not. */
async function hold(button: Element, ms = 1_000): Promise<void> {
  await fireEvent.pointerDown(button, { button: 0 });
  await pass(ms);
  await fireEvent.pointerUp(button, { button: 0 });
}

const none: ReadonlySet<string> = new Set();
const drawn = (rows: ReturnType<typeof treeOf>['rows']) =>
  rows.map((row) => (isHeading(row) ? row.text : `${'  '.repeat(row.depth)}${row.name}`));
const rowOf = (tree: ReturnType<typeof treeOf>, key: string) => tree.rows.find((row) => row.key === key) as Row;

describe('the tree', () => {
  it('has a row for each change, and one for each folder that holds several', () => {
    expect(drawn(treeOf(changes, none).rows)).toEqual([
      'Cargo.lock',
      'services/gateway',
      '  CHANGES-axum-0.8.md',
      '  Cargo.toml',
      '  build.sh',
      '  current',
      '  docs/upgrade.md',
      '  src/compat',
      '    extract.rs',
      '    local_tokens.rs',
      'target/agent.sock',
    ]);
  });
  it('folds a row away, and what is below it is still chosen with it', () => {
    const tree = treeOf(changes, new Set(['services/gateway']));
    expect(drawn(tree.rows)).toEqual(['Cargo.lock', 'services/gateway', 'target/agent.sock']);
    expect(tree.ids.slice(rowOf(tree, 'services/gateway').from, rowOf(tree, 'services/gateway').to)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8,
    ]);
  });
  it('tells a tick by everything below a row; what is never carried out has none', () => {
    const tree = treeOf(changes, none);
    const sums = leftBefore(tree.ids, new Set([6, 7, 8]));
    expect(
      ['services/gateway', 'services/gateway/src/compat', 'Cargo.lock', 'target/agent.sock'].map((key) =>
        tickOf(rowOf(tree, key), sums),
      ),
    ).toEqual(['mixed', false, true, null]);
  });
  it('puts what is lost first where there is much, and leaves nothing out', () => {
    const many = manyChanges(10_000);
    const tree = treeOf(many, none);
    const at = (text: string) => tree.rows.findIndex((row) => isHeading(row) && row.text === text);
    expect([
      at('Deleted'),
      tree.rows
        .slice(1, at('Everything else'))
        .flatMap((row) => (isHeading(row) || !row.effect ? [] : [row.effect.kind]))
        .every((kind) => kind === 'deleted'),
    ]).toEqual([0, true]);
    expect([...tree.ids].sort((one, other) => one - other)).toEqual(many.map(({ id }) => id));
  });
  it('is filtered by words of the path, old or new, and by kind', () => {
    expect(filtered(changes, 'axum gateway', null).map(({ id }) => id)).toEqual([1, 5]);
    expect(filtered(changes, 'docs/axum', null).map(({ id }) => id)).toEqual([5]);
    expect(filtered(changes, '', 'deleted').map(({ id }) => id)).toEqual([6, 7, 8]);
  });
});

describe('the words', () => {
  const one = (more: Partial<Effect>): Effect => ({
    id: 0,
    path: 'a',
    kind: 'changed',
    before: null,
    after: null,
    ...more,
  });
  test.each([
    [effectsOf({ changes: changes.slice(0, 3) }), '2 files changed, 1 added; nothing refused'],
    [
      effectsOf({
        changes: [one({ kind: 'deleted', before: { what: 'folder', bytes: 0, mode: 0o755 } })],
        refused: [{ kind: 'network', target: 'a:1' }],
      }),
      '1 path deleted; 1 refused',
    ],
    [effectsOf({ changes: [] }), 'Nothing changed; nothing refused'],
  ])('%# sum up', (effects, words) => expect(summary(effects)).toBe(words));
  test('say how it ended', () => {
    expect([
      endWords({ exit_code: 0, ended: '' }),
      endWords({ exit_code: null, ended: 'signal 9' }),
      endWords({ exit_code: null, ended: '' }),
    ]).toEqual(['exit 0', 'signal 9', 'no exit code']);
  });
  test('say what stands at a path', () => {
    expect(changes.map(metaOf)).toEqual([
      'too large to be compared, 18 kB → 18 kB',
      '1.1 kB',
      '903 B',
      '0644 → 0755',
      '→ releases/0.8',
      '2.3 kB',
      'folder',
      '2 lines, 4 kB',
      '1.9 kB',
      'not committed',
    ]);
    expect(
      metaOf(
        one({ before: { what: 'folder', bytes: 0, mode: 0o755 }, after: { what: 'file', bytes: 1, mode: 0o644 } }),
      ),
    ).toBe('folder → file');
  });
  test('say what holds: before, after, and where nothing can be undone', () => {
    expect(
      [
        assuranceOf('speculative', 'waiting'),
        assuranceOf('speculative', 'done'),
        assuranceOf('speculative', 'rejected'),
        assuranceOf('gate_only', 'done'),
        assuranceOf('speculative', 'running', true),
        assuranceOf('speculative', 'done', true),
      ].map(({ name, text }) => `${name}: ${text}`),
    ).toEqual([
      'Speculative: nothing has changed yet',
      'Committed: what was shown was written, and nothing ran again',
      'Discarded: nothing was changed',
      'Gate only: it ran for real, and cannot be undone',
      'Speculative: the agent runs it for real now',
      'Speculative: the agent ran it; its outcome is below',
    ]);
  });
  test('differences are open from the start until enough lines stand there; what goes is told by its name', () => {
    expect([...openFirst(changes)]).toEqual([1, 2]);
    expect(openFirst(manyChanges(1_000)).size).toBeLessThan(100);
  });
});

describe('on the card', () => {
  it('y commits all that is shown', async () => {
    const { host, card, key } = await page(effectSamples.effects);
    expect(within(card).getByTestId('allow').textContent).toContain('Commit all 9 changes');
    expect(within(card).getByTestId('held').textContent).toBe('Speculative: nothing has changed yet');
    await key('y');
    expect(decisions(host)).toEqual([allow]);
  });
  it('what the agent runs itself is allowed as a whole, and the card says so', async () => {
    const { host, card, key } = await page(effectSamples.effectsDelegated);
    expect(within(card).getByTestId('delegated').textContent).toContain('The agent runs this command itself');
    expect(within(card).getByTestId('allow').textContent).toMatch(/^\s*Allow/);
    expect(within(card).queryByTestId('change-6-check')).toBeNull();
    expect(within(card).queryByTestId('changes-all')).toBeNull();
    await key('y');
    expect(decisions(host)).toEqual([allow]);
  });
  it('only what is ticked is committed; a folder stands for all below it', async () => {
    const { host, card, key } = await page(effectSamples.effects);
    await fireEvent.click(within(card).getByTestId('change-6-check'));
    expect(within(card).getByTestId('allow').textContent).toContain('Commit 6 of 9');
    expect(within(card).getByTestId('grants').textContent).toContain(
      'writes 6 checked changes, and tells the agent that 3 were left out',
    );
    expect((within(card).getByTestId('change-9-check') as HTMLInputElement).disabled).toBe(true);
    card.focus();
    await key('y');
    expect(decisions(host)).toEqual([{ ...allow, hunks: [0, 1, 2, 3, 4, 5] }]);
  });
  it('by keys alone: arrows go, Space leaves out, Left and Right fold; none of them decides', async () => {
    const { host, card, key } = await page(effectSamples.effects);
    const tree = within(card).getByTestId('changes');
    tree.focus();
    const here = () => document.getElementById(tree.getAttribute('aria-activedescendant') ?? '');
    for (const name of ['ArrowDown', 'ArrowDown', ' ']) await key(name, tree);
    expect([here()?.getAttribute('aria-label'), here()?.getAttribute('aria-checked')]).toEqual([
      'services/gateway/CHANGES-axum-0.8.md, added, 1.1 kB',
      'false',
    ]);
    await key('ArrowLeft', tree);
    expect(here()?.getAttribute('aria-expanded')).toBe('false');
    await key('ArrowLeft', tree);
    await key('ArrowLeft', tree);
    expect(within(card).queryByTestId('change-2')).toBeNull();
    await key('ArrowRight', tree);
    await key('End', tree);
    expect(here()?.getAttribute('data-testid')).toBe('change-9');
    await key('Enter', tree);
    expect(host.ops).toEqual([]);
    expect(within(card).getByTestId('allow').textContent).toContain('Commit 8 of 9');
  });
  it('nothing ticked: nothing can be committed', async () => {
    const { host, card, key } = await page(effectSamples.effects);
    await fireEvent.click(within(card).getByTestId('changes-all'));
    card.focus();
    await key('y');
    expect([(within(card).getByTestId('allow') as HTMLButtonElement).disabled, host.ops]).toEqual([true, []]);
  });
  it('n discards it', async () => {
    const first = await page(effectSamples.effects);
    expect(within(first.card).getByTestId('reject').textContent).toContain('Discard');
    await first.key('n');
    expect(decisions(first.host)).toEqual([{ type: 'reject', note: '', stop: false }]);
  });
  it('what a command printed stands once: in its outcome, when it is done', async () => {
    const pick = { all: 0, ids: [], left: [], added: 0, removed: 0 };
    const diffArgs = { files: [], layout: 'unified', pick, onput: null, onlayout: null, lines: null } as const;
    const effects = effectsOf({ changes: [], output: [{ text: '214 passed', control: false }], output_bytes: 10 });
    const props = { effects, reasons: [], delegated: false, diffArgs, full: false };
    const { rerender } = render(Effects, { ...props, state: 'rejected' });
    expect(screen.getByTestId('effects-output').textContent).toContain('214 passed');
    await rerender({ state: 'done' });
    expect(screen.queryByTestId('effects-output')).toBeNull();
    await fireEvent.click(screen.getByTestId('effects-output-toggle'));
    expect(screen.getByTestId('effects-output').textContent).toContain('214 passed');
  });
  it('a command without effects is allowed, not committed, and shows what it printed', async () => {
    const { card } = await page(effectSamples.effectsNone);
    expect(within(card).getByTestId('allow').textContent).toContain('Allow');
    expect(within(card).getByTestId('effects-output').textContent).toContain('214 passed');
    expect(within(card).getByTestId('effects-summary').textContent).toBe('Nothing changed; nothing refused');
  });
  it('what was refused, what is to be known and how it ended are told', async () => {
    const { card } = await page(effectSamples.effectsFailed);
    const words = (id: string) => within(card).getByTestId(id).textContent?.replace(/\s+/g, ' ');
    expect(words('refused')).toContain('masked secret.env.production');
    expect(words('effect-notes')).toContain('A process was left behind');
    expect(words('effects-end')).toBe('dry run, exit 101');
  });
  it('that nothing can be undone is said before the act, with the reason', async () => {
    const { card } = await page(effectSamples.gateOnly);
    expect(within(card).getByTestId('held').textContent).toBe(
      'Gate only: runs for real, and what it changes cannot be undone',
    );
    expect(card.textContent).toContain('User namespaces are switched off');
  });
  it('p starts a dry run of a command, where this machine promises that nothing real changes', async () => {
    const { host, card, key } = await page(effectSamples.canDryRun);
    expect(within(card).getByTestId('dry-run').textContent).toContain('Dry run');
    await key('p');
    await key('y');
    expect(decisions(host)).toEqual([{ type: 'dry_run' }]);
    const real = await page(effectSamples.runsForReal);
    await real.key('p');
    expect([within(real.card).queryByTestId('dry-run'), real.host.ops]).toEqual([null, []]);
  });
  it('names what a dry run read outside the folder', async () => {
    const { card } = await page(effectSamples.effectsReadElsewhere);
    const words = (id: string) => within(card).getByTestId(id).textContent?.replace(/\s+/g, ' ');
    expect(words('outside-reads')).toContain('/home/mira/notes/2026/contracts.md');
    expect(words('outside-reads')).toContain('only if you allow it');
    expect(words('effects-summary')).toContain('Nothing changed; nothing refused; 2 paths read elsewhere');
  });
  it('w runs it again with the hosts that are chosen and those that are written, and with no others', async () => {
    const { host, card, key, click } = await page(effectSamples.effectsReached);
    const words = (id: string) => within(card).getByTestId(id).textContent?.replace(/\s+/g, ' ');
    expect(words('reached')).toContain('static.packages.example9 connections, 18 kB sent, 48 MB received');
    expect(words('effects-summary')).toContain('1 refused; 2 hosts reached');
    await key('w');
    expect(words('way-out')).toContain('index.packages.example static.packages.example telemetry.example.com');
    await click('way-out-2');
    await fireEvent.input(within(card).getByTestId('way-out-host'), { target: { value: ' Docs.rs ' } });
    await fireEvent.keyDown(within(card).getByTestId('way-out-host'), { key: 'Enter' });
    expect(host.ops).toEqual([]);
    expect(words('way-out-run')).toContain('Run with 3 hosts');
    await look();
    await hold(within(card).getByTestId('way-out-run'));
    expect(decisions(host)).toEqual([
      { type: 'with_network', hosts: ['index.packages.example', 'static.packages.example', 'docs.rs'] },
    ]);
  });
  it('the network is offered where something was refused it, and where a dry run is possible', async () => {
    const { card, click } = await page(effectSamples.effects);
    await click('with-network');
    expect(within(card).getByTestId('way-out')).toBeTruthy();
    const command = await page(effectSamples.canDryRun);
    await command.key('w');
    expect((within(command.card).getByTestId('way-out-run') as HTMLButtonElement).disabled).toBe(true);
    const real = await page(effectSamples.runsForReal);
    await real.key('w');
    expect(within(real.card).queryByTestId('way-out')).toBeNull();
  });
  it('r opens what running in place means, and nothing runs by that', async () => {
    const { host, card, key, click } = await page(effectSamples.canRunInPlace);
    await key('r');
    const panel = within(card).getByTestId('in-place');
    expect([panel.getAttribute('aria-label'), document.activeElement === panel]).toEqual(['Run in place', true]);
    expect(panel.textContent).toContain('What it does elsewhere cannot be undone.');
    await click('in-place-close');
    expect(within(card).queryByTestId('in-place')).toBeNull();
    expect(decisions(host)).toEqual([]);
  });
  it.each(['r', 'pointer'])(
    'it is held, by %s, once it was seen: no tap, no Enter and no Space runs it',
    async (by) => {
      const { host, card, key, click } = await page(effectSamples.canRunInPlace);
      await key('r');
      const button = within(card).getByTestId('in-place-run');
      await look();
      for (const tap of ['Enter', ' ', 'r']) await key(tap, button);
      await click('in-place-run');
      await hold(button, 500);
      expect(decisions(host)).toEqual([]);
      if (by === 'pointer') await hold(button);
      else {
        await fireEvent.keyDown(button, { key: 'r', code: 'KeyR' });
        await pass(1_000);
        await fireEvent.keyUp(button, { key: 'r', code: 'KeyR' });
      }
      expect(decisions(host)).toEqual([{ type: 'in_place', hosts: [] }]);
    },
  );
  it('in place is offered beside a dry run, and nowhere else: where a command runs for real anyway, Allow is that', async () => {
    const real = await page(effectSamples.runsForReal);
    await real.key('r');
    expect(within(real.card).queryByTestId('in-place')).toBeNull();
    await real.key('o');
    expect(within(real.card).getByTestId('held').textContent).toBe(
      'Snapshot: runs for real, and Undo brings the folder back whole',
    );
    expect(
      [effectSamples.canRunInPlace, effectSamples.canDryRun, effectSamples.runsForReal].map((sample) =>
        runChoices(sample.body as CallView),
      ),
    ).toEqual([['network', 'in_place'], ['network'], []]);
  });
  it('during a dry run nothing is answered; it can be stopped', async () => {
    const { host, card, key, click } = await page(effectSamples.dryRunning);
    await key('y');
    expect(within(card).getByTestId('dry-running').textContent).toContain('nothing real changes');
    await click('stop-dry-run');
    expect(host.ops).toEqual([{ type: 'interrupt', session: 'ses_1' }]);
  });
  it('a dry run is not made twice', async () => {
    const { card, key, host } = await page(effectSamples.effects);
    await key('p');
    expect([within(card).queryByTestId('dry-run'), host.ops]).toEqual([null, []]);
  });
  it.each(Object.entries(effectSamples).filter(([name]) => name !== 'effectsMany'))(
    '%s has no fault that axe finds',
    async (_, entry) => {
      const { card } = await page(entry);
      await pass(0);
      expect(await findFaults(card)).toEqual([]);
    },
  );
});
