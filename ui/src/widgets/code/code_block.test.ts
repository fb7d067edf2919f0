// Code of a text: coloured, letter for letter, copied as it was written.

import { fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import { expect, test, vi } from 'vitest';
import { findFaults } from '../../testing/accessibility';
import Prose from '../Prose.svelte';

/** Coloured stretches of the code in the page, as "ink text". */
const inks = () =>
  [...screen.getByTestId('code').querySelectorAll('code span')].map(
    (span) => `${span.className.replace(/ ?svelte-\w+/, '')} ${span.textContent}`,
  );
const code = () => screen.getByTestId('code').querySelector('code')?.textContent;

test('code has the colours of its language, by any name of it', async () => {
  render(Prose, { text: '```rs\n/* a\n b */ let x = "y";\n```' });
  await waitFor(() => expect(inks()).toEqual(['comment /* a', 'comment  b */', 'keyword let', 'literal "y"']));
  expect([code(), screen.getByText('rs').className]).toEqual([
    '/* a\n b */ let x = "y";',
    expect.stringContaining('language'),
  ]);
  expect(await findFaults(document.body)).toEqual([]);
});

test('code in a language without a grammar has the colours that a line alone can tell; in none it is plain', () => {
  const { unmount } = render(Prose, { text: '```sh\necho "$x" # say\n```' });
  expect(inks()).toEqual(['literal "$x"', 'comment # say']);
  unmount();
  render(Prose, { text: '```cobol\nMOVE 1 "a"\n```' });
  expect([code(), inks()]).toEqual(['MOVE 1 "a"', []]);
});

test('hostile code is text, with every hidden character by its name, and is copied as it was written', async () => {
  const written = '<script>alert(1)</script> \u202eexe.txt\u200b \u001b[31m\u001b]8;;https://evil.example\u0007 \u00a0';
  const writeText = vi.fn(() => Promise.resolve());
  vi.stubGlobal('navigator', { clipboard: { writeText } });
  render(Prose, { text: `\`\`\`html\n${written}\n\`\`\`` });
  expect(code()).toBe(
    '<script>alert(1)</script> U+202Eexe.txtU+200B U+001B[31mU+001B]8;;https://evil.exampleU+0007 U+00A0',
  );
  expect(document.querySelectorAll('script, a, img').length).toBe(0);
  const button = screen.getByTestId('copy-code');
  button.focus();
  await fireEvent.click(button);
  expect(writeText.mock.calls).toEqual([[written]]);
  await waitFor(() => expect(screen.getByRole('status').textContent).toBe('Copied'));
  expect([document.activeElement === button, await findFaults(document.body)]).toEqual([true, []]);
});

test('a language that hides something says so', () => {
  render(Prose, { text: '```ru\u202est\nx\n```' });
  expect(screen.getByTestId('code').querySelector('.language')?.textContent).toBe('ruU+202Est');
});

test('long code is plain while it is written, and coloured afterwards; very long code stays plain', async () => {
  const line = `// ${'a'.repeat(997)}\n`;
  const long = `\`\`\`rust\n${line.repeat(10)}`;
  const { rerender } = render(Prose, { text: long, writing: true });
  expect(inks()).toEqual(['caret ']);
  await rerender({ text: `${long}\`\`\``, writing: false });
  await waitFor(() => expect(inks().length).toBe(10));
  await rerender({ text: `\`\`\`rust\n${line.repeat(61)}\`\`\``, writing: false });
  await new Promise((done) => setTimeout(done, 150));
  expect(inks()).toEqual([]);
});
