// The walls between the parts of the interface, read from its sources.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname);
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(ts|svelte)$/.test(name) && !name.includes('bindings'))
  .map((name) => ({ name: name.replaceAll('\\', '/'), text: readFileSync(join(root, name), 'utf8') }));

/** The modules that a source imports, relative ones from `src`. */
function importsOf({ name, text }: { name: string; text: string }): string[] {
  const found = [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] ?? '');
  return found.map((path) =>
    path.startsWith('.') ? relative(root, resolve(root, dirname(name), path)).replaceAll('\\', '/') : path,
  );
}
const featureOf = (path: string) => /^features\/([^/]+)\//.exec(path)?.[1];
const lines = files.flatMap((file) => importsOf(file).map((path) => ({ file: file.name, path })));

test('something is read', () => expect(lines.length).toBeGreaterThan(100));

test('a feature imports no other feature', () => {
  const broken = lines.filter(
    ({ file, path }) => featureOf(file) && featureOf(path) && featureOf(file) !== featureOf(path),
  );
  expect(broken).toEqual([]);
});

test('only ipc/ knows the shell', () => {
  const broken = lines.filter(({ file, path }) => path.startsWith('@tauri-apps/') && !file.startsWith('ipc/'));
  expect(broken).toEqual([]);
});

test('widgets and state know no feature, and widgets know no state', () => {
  const broken = lines.filter(
    ({ file, path }) =>
      (/^(widgets|state|ipc)\//.test(file) && path.startsWith('features/')) ||
      (file.startsWith('widgets/') && path.startsWith('state/')),
  );
  expect(broken).toEqual([]);
});

test('no style attribute stands in the markup: the policy of the window would refuse it', () => {
  const broken = files
    .filter(({ name, text }) => name.endsWith('.svelte') && /\sstyle="/.test(text))
    .map(({ name }) => name);
  expect(broken).toEqual([]);
});

test('colours come from the tokens alone', () => {
  const broken = files
    .filter(({ name }) => name.endsWith('.svelte'))
    .filter(({ text }) => /#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(/i.test(text.split('<style>')[1] ?? ''))
    .map(({ name }) => name);
  expect(broken).toEqual([]);
});

test('HTML is put into the page in one place, cleaned', () => {
  const places = files
    .filter(({ name, text }) => name.endsWith('.svelte') && /\{@html/.test(text))
    .map(({ name }) => name);
  expect(places).toEqual(['widgets/Prose.svelte']);
  const prose = files.find(({ name }) => name === places[0]);
  expect(prose?.text).toContain('{#each toBlocks(text) as block, i (i)}<div class="block">{@html block}</div>{/each}');
});
