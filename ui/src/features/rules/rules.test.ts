// The Rules screen on a recorded engine: looking, writing, saving, deleting, granting back, trusting, importing, comparing, trying.

import { fireEvent, screen, waitFor, within } from '@testing-library/svelte';
import { tick } from 'svelte';
import { describe, expect, test } from 'vitest';
import { findSeriousFaults } from '../../testing/accessibility';
import { at, click, focused, openApp, text, type } from '../../app/app_page';
import sample from '../../../../tests/golden/sample.jsonl?raw';
import { FakeHost } from '../../ipc/fake';
import { parseStream } from '../../ipc/fake_streams';
import { digestOf } from '../../ipc/fake_rules';
import { Refused } from '../../ipc/desk';
import type { Desk } from '../../state/desk.svelte';

const events = parseStream(sample);
const NOW = (events.at(-1)?.at ?? 0) + 1_000;
const FOLDER = '/home/mira/code/tidemark';

const rules = () => screen.getAllByTestId('rule').map((rule) => rule.textContent?.replace(/\s+/g, ' ').trim());
const row = (words: string) =>
  screen.getAllByTestId('rule').find((rule) => rule.textContent?.includes(words)) ?? document.body;

async function open(host = new FakeHost(events)): Promise<{ host: FakeHost; desk: Desk }> {
  host.now = () => NOW;
  const desk = await openApp(host, (desk) => {
    desk.now = NOW;
    desk.folders.chosen = FOLDER;
  });
  await click('rail-rules');
  await screen.findByTestId('rules-table');
  return { host, desk };
}
/** Chosen from the menu of the screen. */
async function more(id: string): Promise<void> {
  await click('rules-more');
  await click(`rules-more-${id}`);
}

describe('the table', () => {
  test('is followed by the programs that take part in every call: watchdogs, and hooks if there are any', async () => {
    const { desk } = await open();
    expect(text('watchdogs')).toContain('Built in');
    expect(screen.getAllByTestId('watchdog').map((one) => one.textContent?.trim())).toEqual([
      'no-prod ~/bin/no-prodAnswers within 2 s; if it does not, the call asks.',
    ]);
    expect(text('watchdogs')).toContain('1 watchdog of your own');
    expect(screen.queryByTestId('hooks')).toBeNull();
    const hook = { program: '/home/mira/bin/audit', timeout_ms: 5_000 };
    await desk.set({
      hooks: [
        { ...hook, name: 'audit', on: ['after'] },
        { ...hook, name: 'gate', on: ['before'] },
      ],
    });
    await waitFor(() =>
      expect(screen.getAllByTestId('hook').map((one) => one.textContent?.trim())).toEqual([
        'audit ~/bin/auditIt keeps no call from running.',
        'gate ~/bin/auditIt may keep a call from running; if it fails, the call does not run.',
      ]),
    );
    expect(await findSeriousFaults()).toEqual([]);
  });

  test('has every scope in the order of its force, with places, hits and what stands in the way', async () => {
    const { host } = await open();
    expect(
      [...document.querySelectorAll('[data-testid^="source-"]')].map((group) => group.getAttribute('data-testid')),
    ).toEqual(['source-builtin', 'source-manifest', 'source-session', 'source-project', 'source-user']);
    expect(rules()).toEqual([
      'net.fetch *.internal.tidemark.dev',
      'bash cargo test -p tidemark-parser*',
      'fs.write .env*',
      'edit crates/parser/**',
      'bash cargo update*',
      'bash cargo update*',
      'bash git status*',
      'mode:safe_write',
      'fetch docs.rs',
    ]);
    expect(text('source-user')).toContain('rules.toml:7');
    expect(text('source-user')).toContain('1,204');
    expect(text('source-user')).toContain('It allows everything that mode:safe_write can do.');
    await click('builtin-fold');
    expect(rules()[0]).toBe('fs.write .git/hooks/**');
    expect(await findSeriousFaults()).toEqual([]);
    expect(host.queries('rules').slice(0, 2)).toEqual([
      { type: 'rules', workspace: FOLDER, session: null },
      { type: 'rules', workspace: null, session: null },
    ]);
  });
  test('tells a rule that is over, a file with a fault and one that is not trusted', async () => {
    const host = new FakeHost(events);
    host.rules.texts.user =
      '[[rule]]\npermission = "bash"\npattern = "ls*"\naction = "allow"\nexpires = 2020-01-01T00:00:00Z\n';
    host.rules.texts.project += 'oops\n';
    host.rules.trust = 'changed';
    await open(host);
    expect(within(at('source-user')).getAllByTestId('rule-standing')[0]?.textContent).toMatch(/^expired 1 Jan/);
    expect(text('source-fault')).toBe(
      '.countersign/rules.toml, line 21: this is not a member of a rule. Correct the line. Until then every call asks.',
    );
    expect(text('source-untrusted')).toContain('This file changed since you trusted it.');
  });
  test('teaches where there is nothing yet, and says why where nothing can be read', async () => {
    const host = new FakeHost([]);
    host.rules.texts = { user: '', project: '' };
    const own = host.query.bind(host);
    let refuse = false;
    host.query = ((query: Parameters<typeof own>[0]) =>
      refuse && query.type === 'rules'
        ? Promise.reject(
            new Refused({ message: 'The rules could not be read.', hint: 'Look at the folder.', context: [] }),
          )
        : own(query)) as typeof host.query;
    await openApp(host);
    refuse = true;
    await click('rail-rules');
    await screen.findByTestId('rules-fault');
    expect(text('rules-fault')).toBe('The rules could not be read. Look at the folder. Look again');
    refuse = false;
    await fireEvent.click(screen.getByText('Look again'));
    await screen.findByTestId('rules-table');
  });
  test('is walked with the arrow keys, and a rule opened with Enter; Esc goes back to it', async () => {
    await open();
    row('.env*').focus();
    await fireEvent.keyDown(row('.env*'), { key: 'ArrowDown' });
    expect(document.activeElement?.textContent).toContain('crates/parser');
    await fireEvent.click(document.activeElement ?? document.body);
    await waitFor(() => expect(focused()).toBe('rule-pattern'));
    await fireEvent.keyDown(at('rule-pattern'), { key: 'Escape' });
    await waitFor(() => expect(document.activeElement?.textContent).toContain('crates/parser'));
    expect(screen.queryByTestId('panel')).toBeNull();
  });
});

describe('writing a rule', () => {
  test('a failing example keeps it from being saved and says so; corrected it is saved in its place and holds', async () => {
    const { host } = await open();
    await fireEvent.click(row('cargo update*'));
    await screen.findByTestId('rule-text');
    expect((at('rule-save') as HTMLButtonElement).disabled).toBe(true);
    await type('must-not-2', 'cargo update --aggressive');
    expect((await screen.findByTestId('rule-blocked')).textContent).toContain(
      '1 of 5 examples fails, so this rule cannot be saved.',
    );
    expect((at('rule-save') as HTMLButtonElement).disabled).toBe(true);
    await type('must-not-2', 'cargo upgrade -p axum');
    await waitFor(() => expect(screen.queryByTestId('rule-blocked')).toBeNull());
    await waitFor(() => expect((at('rule-save') as HTMLButtonElement).disabled).toBe(false));
    expect(at('rule-text').textContent).toContain(', "cargo upgrade -p axum"]');
    await waitFor(() =>
      expect(text('rule-backtest')).toContain('41 would have been allowed: 38 you allowed by hand, 3 you rejected.'),
    );
    expect(await findSeriousFaults()).toEqual([]);
    const before = host.rules.texts.project;
    await click('rule-save');
    await waitFor(() => expect(screen.queryByTestId('panel')).toBeNull());
    expect(host.rules.texts.project).toBe(
      before.replace(
        /not_match = .*\n$/,
        'not_match = ["cargo upgrade", "cargo update; rm -r target", "cargo upgrade -p axum"]\n',
      ),
    );
    expect(host.ops.at(-1)).toMatchObject({
      type: 'change_rule',
      place: { scope: 'project', workspace: FOLDER, line: 15, base: digestOf(before) },
    });
    await waitFor(() => expect(document.activeElement?.textContent).toContain('cargo update*'));
  });
  test('a new one is written, shown as text, tried on the record, and saved at the end of its file', async () => {
    const { host } = await open();
    await click('rules-new');
    await click('rule-action-deny');
    await type('rule-pattern', 'sudo *');
    expect((await screen.findByTestId('rule-blocked')).textContent).toContain(
      'would cover whatever it is given to run',
    );
    await type('rule-pattern', 'git push*');
    await click('rule-scope-user');
    await waitFor(() =>
      expect(at('rule-text').textContent).toBe('[[rule]]\npermission = "bash"\npattern = "git push*"\naction = "deny"'),
    );
    await waitFor(() => expect(text('rule-meaning')).toBe('Those 2 words, then the end or more words.'));
    await type('rule-lasts-uses', 'x');
    expect(text('rule-blocked')).toContain('How long it lasts cannot be read.');
    await type('rule-lasts-uses', '5');
    await waitFor(() => expect((at('rule-save') as HTMLButtonElement).disabled).toBe(false));
    await click('rule-save');
    await waitFor(() => expect(rules()).toContain('bash git push*'));
    expect(
      host.rules.texts.user.endsWith(
        '\n\n[[rule]]\npermission = "bash"\npattern = "git push*"\naction = "deny"\nmax_uses = 5\n',
      ),
    ).toBe(true);
  });
  test('what was begun is kept when something else is looked at, and gone after Cancel', async () => {
    await open();
    await click('rules-new');
    await type('rule-pattern', 'make*');
    await fireEvent.click(row('.env*'));
    await waitFor(() => expect((at('rule-pattern') as HTMLInputElement).value).toBe('.env*'));
    await click('rules-new');
    await waitFor(() => expect((at('rule-pattern') as HTMLInputElement).value).toBe('make*'));
    await click('rule-cancel');
    await click('rules-new');
    await waitFor(() => expect((at('rule-pattern') as HTMLInputElement).value).toBe(''));
  });
  test('deleting asks first, tells what it would change, and can be undone', async () => {
    const { host, desk } = await open();
    const before = host.rules.texts.project;
    await fireEvent.click(row('crates/parser'));
    await click('rule-delete');
    await waitFor(() => expect(focused()).toBe('rule-keep'));
    await waitFor(() => expect(text('rule-backtest')).toContain('Nothing would have changed.'));
    await click('rule-delete-now');
    await waitFor(() => expect(rules()).not.toContain('edit crates/parser/**'));
    expect(host.rules.texts.project).not.toContain('The grammar is hard to test.');
    await waitFor(() => expect(desk.toasts.lines.at(-1)?.act?.text).toBe('Put it back'));
    desk.toasts.lines.at(-1)?.act?.run();
    await waitFor(() => expect(rules()).toContain('edit crates/parser/**'));
    expect(host.rules.texts.project).toBe(before);
  });
  test('a rule of the session, the manifest or the app is only looked at', async () => {
    await open();
    await fireEvent.click(row('internal.tidemark'));
    expect((await screen.findByTestId('rule-about')).textContent).toContain(
      'It came with an agent and is changed there.',
    );
    await fireEvent.click(row('cargo test'));
    await click('about-revoke');
    await waitFor(() => expect(rules()).not.toContain('bash cargo test -p tidemark-parser*'));
  });
});

describe('the file as a whole', () => {
  test('is checked line by line, and saved only without a fault', async () => {
    const { host } = await open();
    await click('edit-file-project');
    const area = (await screen.findByTestId('file-text')) as HTMLTextAreaElement;
    await waitFor(() => expect(document.activeElement).toBe(area));
    const before = host.rules.texts.project;
    await fireEvent.input(area, { target: { value: `${before}oops\n` } });
    await waitFor(() =>
      expect(text('file-notes')).toBe(
        'line 21This is not a member of a rule. Correct the line. Until then every call asks.',
      ),
    );
    expect((at('file-save') as HTMLButtonElement).disabled).toBe(true);
    await fireEvent.click(within(at('file-notes')).getByRole('button'));
    await tick();
    expect(area.value.slice(area.selectionStart, area.selectionEnd)).toBe('oops');
    const after = before.replace('"cargo upgrade"', '"cargo update x"');
    await fireEvent.input(area, { target: { value: after } });
    await waitFor(() => expect(text('file-notes')).toContain('cargo update x must not match: it matches.'));
    await fireEvent.input(area, { target: { value: before.replace('"deny"', '"ask"') } });
    await waitFor(() => expect((at('file-save') as HTMLButtonElement).disabled).toBe(false));
    expect(await findSeriousFaults()).toEqual([]);
    await click('file-save');
    await screen.findByTestId('rules-table');
    expect(host.rules.texts.project).toBe(before.replace('"deny"', '"ask"'));
  });
  test('keeps what was written when the file changed meanwhile', async () => {
    const { host } = await open();
    await click('edit-file-user');
    const area = await screen.findByTestId('file-text');
    await fireEvent.input(area, { target: { value: '[[rule]]\npermission = "bash"\npattern = "mine*"\n' } });
    await waitFor(() => expect((at('file-save') as HTMLButtonElement).disabled).toBe(false));
    host.rules.texts.user = '[[rule]]\npermission = "bash"\npattern = "theirs*"\n';
    await click('file-save');
    await screen.findByTestId('file-moved');
    expect((at('file-text') as HTMLTextAreaElement).value).toContain('mine*');
    await click('file-over');
    await waitFor(() => expect(host.rules.texts.user).toContain('mine*'));
  });
});

describe('trust', () => {
  test('shows the text and what changed, whole, and names what was looked at', async () => {
    const host = new FakeHost(events);
    host.rules.trust = 'changed';
    await open(host);
    expect(text('source-untrusted')).toContain('1 of its 3 rules would allow');
    await click('look-and-trust');
    await screen.findByTestId('trust-changes');
    expect(text('trust-changes')).toContain('+action = "allow"');
    expect(text('trust-text')).toContain('pattern = ".env*"');
    expect(await findSeriousFaults()).toEqual([]);
    await click('trust');
    await screen.findByTestId('rules-table');
    await waitFor(() => expect(screen.queryByTestId('source-untrusted')).toBeNull());
    expect(host.ops.at(-1)).toEqual({
      type: 'trust_rules',
      workspace: FOLDER,
      digest: digestOf(host.rules.texts.project),
    });
    await more('trust');
    await click((await screen.findByTestId('distrust')).dataset['testid'] ?? '');
    await screen.findByTestId('source-untrusted');
  });
  test('a single rule of a file that is not trusted is not saved: that would trust all of it', async () => {
    const host = new FakeHost(events);
    host.rules.trust = 'unknown';
    await open(host);
    await fireEvent.click(row('.env*'));
    await type('rule-reason', 'Ours');
    expect((await screen.findByTestId('rule-blocked')).textContent).toContain('saving would trust all of it');
    expect((at('rule-save') as HTMLButtonElement).disabled).toBe(true);
  });
});

describe('the ledger', () => {
  test('revokes at once, one or all, and the focus is not lost', async () => {
    const { host, desk } = await open();
    expect(text('grant-grant_3')).toContain('5 uses, 2 left');
    await fireEvent.click(within(at('grant-grant_2')).getByTestId('revoke'));
    await waitFor(() => expect(screen.queryByTestId('grant-grant_2')).toBeNull());
    expect(host.ops.at(-1)).toEqual({ type: 'revoke_grant', grant: 'grant_2' });
    expect(desk.toasts.lines.at(-1)?.title).toBe('Revoked: cargo update*');
    await waitFor(() => expect(focused()).toBe('revoke'));
    await click('revoke-all');
    await waitFor(() => expect(focused()).toBe('revoke-keep'));
    await click('revoke-keep');
    await waitFor(() => expect(focused()).toBe('revoke-all'));
    await click('revoke-all');
    await click('revoke-all-now');
    await screen.findByTestId('grants-empty');
    await click('show-ended');
    expect(text('grant-grant_2')).toContain('revoked');
    expect(text('grant-grant_4')).toContain('expired');
    expect(await findSeriousFaults()).toEqual([]);
  });
  test('leads to the card that made a grant', async () => {
    const { desk } = await open();
    await fireEvent.click(within(at('grant-grant_1')).getByTestId('grant-card'));
    await waitFor(() => expect(desk.navigation.view).toEqual({ screen: 'session', session: 'ses_0003' }));
  });
});

test('an import takes nothing that loosens by itself, and adds what is checked', async () => {
  const { host } = await open();
  await more('import');
  await screen.findByTestId('import-claude_code');
  expect(screen.getAllByTestId('import-check').map((box) => (box as HTMLInputElement).checked)).toEqual([false, true]);
  expect(text('import-codex')).toContain('default.rules, line 3: a bracket is missing.');
  expect(await findSeriousFaults()).toEqual([]);
  await fireEvent.click(screen.getAllByTestId('import-check')[0] ?? document.body);
  expect(text('import-add')).toBe('Add 2 rules');
  await click('import-scope-project');
  await click('import-add');
  await screen.findByTestId('rules-table');
  expect(host.ops.at(-1)).toMatchObject({
    type: 'add_rules',
    scope: 'project',
    workspace: FOLDER,
    rules: [{ pattern: 'npm run test*' }, { pattern: 'secrets/**' }],
  });
  expect(rules()).toContain('fs.read secrets/**');
});

test('suggestions come with what speaks against them, and begin a rule', async () => {
  await open();
  await more('suggestions');
  await waitFor(() => expect(screen.getAllByTestId('suggestion').length).toBe(2));
  expect(screen.getAllByTestId('suggestion-against').map((call) => call.textContent?.includes('Rejected'))).toEqual([
    true,
    true,
    true,
  ]);
  expect(await findSeriousFaults()).toEqual([]);
  await fireEvent.click(screen.getAllByTestId('suggestion-take')[0] ?? document.body);
  await waitFor(() => expect((at('rule-pattern') as HTMLInputElement).value).toBe('cargo test*'));
});

test('two sets are compared, also one that is put in', async () => {
  await open();
  await more('compare');
  await waitFor(() =>
    expect(text('compared')).toContain('No rule is in both, 3 only in the first, 2 only in the second.'),
  );
  await click('compare-1');
  await click('compare-1-text');
  await type('compare-text-1', '[[rule]]\npermission = "fs.write"\npattern = ".env*"\naction = "deny"\n');
  await waitFor(() =>
    expect(text('compared')).toContain('1 rule is in both, 2 only in the first, 0 only in the second.'),
  );
  expect(await findSeriousFaults()).toEqual([]);
});

test('a call is tried while it is written, as Why shows it, and leads to the rule', async () => {
  const { host } = await open();
  await click('rules-try');
  await waitFor(() => expect(focused()).toBe('call-field-command'));
  await type('call-field-command', 'cargo update -w');
  await waitFor(() => expect(text('gate-rules')).toContain('1 matched, 1 won'));
  expect(text('try-trail')).toContain('It would run by itself.');
  expect(host.ops).toEqual([]);
  expect(await findSeriousFaults()).toEqual([]);
  await click('why-rule');
  await waitFor(() => expect((at('rule-pattern') as HTMLInputElement).value).toBe('cargo update*'));
});

test('the palette leads here, and I opens and closes what stands beside', async () => {
  const { desk } = await open();
  desk.navigation.go('desk');
  await fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true });
  await type('palette-input', 'new rule');
  await fireEvent.keyDown(at('palette-input'), { key: 'Enter' });
  await screen.findByTestId('rule-pattern');
  await click('close-rule');
  await waitFor(() => expect(screen.queryByTestId('panel')).toBeNull());
  await fireEvent.keyDown(document.body, { key: 'i' });
  await screen.findByTestId('rule-pattern');
  await click('rail-settings');
  expect(screen.queryByTestId('rule-pattern')).toBeNull();
  await click('settings-back');
  await fireEvent.click(row('.env*'));
  await waitFor(() => expect((at('rule-pattern') as HTMLInputElement).value).toBe('.env*'));
});

test('Esc goes back to all rules, and a fault of a rules file leads here', async () => {
  const message = `.countersign/rules.toml of ${FOLDER} wants to allow calls.`;
  const { desk } = await open(new FakeHost(events, { faults: [{ message, hint: 'Look at it.', context: [] }] }));
  await more('import');
  await screen.findByTestId('import-claude_code');
  await fireEvent.keyDown(at('import-add'), { key: 'Escape' });
  await screen.findByTestId('rules-table');
  desk.navigation.go('desk');
  desk.folders.chosen = null;
  await tick();
  await click('faults-rules');
  expect([desk.navigation.view.screen, desk.folders.chosen]).toEqual(['rules', FOLDER]);
});

test('a rule that decided a call is shown where it stands; one that is gone says so', async () => {
  const { desk } = await open();
  desk.navigation.showRule({
    permission: 'fs.write',
    pattern: '.env*',
    action: 'deny',
    reason: null,
    scope: 'project',
    file: '.countersign/rules.toml',
    line: 4,
  });
  await waitFor(() => expect(row('.env*').getAttribute('aria-current')).toBe('true'));
  desk.navigation.showRule({
    permission: 'fs.write',
    pattern: 'gone',
    action: 'deny',
    reason: null,
    scope: 'project',
    file: null,
    line: 4,
  });
  await waitFor(() => expect(desk.toasts.lines.at(-1)?.title).toBe('That rule is gone'));
  desk.navigation.showRule({
    permission: 'bash',
    pattern: 'npm run lint*',
    action: 'allow',
    reason: null,
    scope: 'session',
    file: null,
    line: null,
    grant: 'grant_4',
  });
  await waitFor(() => expect(at('grant-grant_4').contains(document.activeElement)).toBe(true));
});
