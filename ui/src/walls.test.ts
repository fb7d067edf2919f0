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
/** Whether a path is one below `src`, and no package. */
const isOurs = (path: string) => tops.has(path.split('/')[0] ?? '');
const tops = new Set(readdirSync(root).map((name) => name.replace(/(\.svelte)?\.ts$/, '')));
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

/** Modules of ours that each tier may import; its tests, and the page that they stand on, may import everything. */
const TIERS: Record<string, readonly string[]> = {
  widgets: ['locales'],
  // The host of the tests and of the gallery folds events like the store.
  ipc: ['state/fold', 'locales'],
  state: ['ipc', 'widgets', 'locales'],
  domain: ['ipc', 'widgets', 'state', 'locales'],
  features: ['ipc', 'widgets', 'state', 'domain', 'locales'],
};
const within = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

test('a tier imports only those below it', () => {
  const broken = lines.filter(({ file, path }) => {
    const tier = Object.keys(TIERS).find((name) => within(file, name));
    if (tier === undefined || /(\.test|_page)\.ts$/.test(file) || !isOurs(path)) return false;
    return ![tier, ...(TIERS[tier] ?? [])].some((allowed) => within(path, allowed));
  });
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

const styles = readdirSync(join(root, 'styles'))
  .map((name) => ({ name: `styles/${name}`, css: readFileSync(join(root, 'styles', name), 'utf8') }))
  .concat(files.map(({ name, text }) => ({ name, css: text.split('<style>')[1] ?? '' })));

test('text grows with the size that the person chose: none is measured in pixels', () => {
  const broken = styles.flatMap(({ name, css }) =>
    [...css.matchAll(/\bfont(?:-size)?:[^;{}]*?\d(?:px|pt)\b[^;{}]*/g)].map((match) => `${name}: ${match[0]}`),
  );
  expect(broken).toEqual([]);
});

/** Higher boxes hold more than a line: they scroll, or are pictures. */
const LINE_MAX_PX = 56;

test('a box of text grows with the text: none is so many pixels high', () => {
  const broken = styles.flatMap(({ name, css }) =>
    [...css.matchAll(/\{[^{}]*\}/g)]
      // What is drawn and holds no text is so many pixels wide as well.
      .filter(([rule]) => !/(?<![-\w])width: \d+px/.test(rule))
      .flatMap(([rule]) => [...rule.matchAll(/(?<![-\w])(?:min-|line-)?height: (\d+)px/g)])
      .filter(([, px]) => Number(px) >= 14 && Number(px) <= LINE_MAX_PX)
      .map(([height]) => `${name}: ${height}`),
  );
  expect(broken).toEqual([]);
});

test('what moves stands still where the system asks for it', () => {
  const broken = styles.flatMap(({ name, css }) =>
    [...css.matchAll(/\b(?:animation|transition):\s*([^;{}]+)/g)]
      .filter(([, value = '']) => /\d\s*m?s\b/.test(value) && !css.includes('prefers-reduced-motion: reduce'))
      .map((match) => `${name}: ${match[0]}`),
  );
  expect(broken).toEqual([]);
});

/** Declarations that know left from right. */
const PHYSICAL =
  /(?<![-\w])(?:(?:margin|padding|border|scroll-margin|scroll-padding)-(?:left|right)[-\w]*|left|right|border-(?:top|bottom)-(?:left|right)-radius):|(?:text-align|float|clear): (?:left|right)\b/g;
/** Four corners of which those at the start of a line differ from those at its end. */
const CORNERS = /border-radius: (?!(\S+) \1 (\S+) \2;)\S+ \S+ \S+ \S+(?=;)/g;
const physicalIn = (css: string): string[] =>
  [PHYSICAL, CORNERS].flatMap((pattern) => [...css.matchAll(pattern)].map(([found]) => found));

test('styles follow the direction of the language: none knows left from right', () => {
  const broken = styles.flatMap(({ name, css }) => physicalIn(css).map((found) => `${name}: ${found}`));
  expect(broken).toEqual([]);
  expect(physicalIn('a { margin-left: 1px; left: 0; text-align: right; padding-inline-start: 2px }')).toEqual([
    'margin-left:',
    'left:',
    'text-align: right',
  ]);
  expect(physicalIn('a { border-radius: 0 0 9px 9px; } b { border-radius: 0 4px 4px 0; }')).toEqual([
    'border-radius: 0 4px 4px 0',
  ]);
});

test('what is cut off is cut at its own end: it runs as it is written, or is code', () => {
  const components = files.filter(({ name }) => name.endsWith('.svelte') && !name.startsWith('gallery/'));
  const cut = components.flatMap(({ name, text }) =>
    [...text.matchAll(/<([a-z0-9]+)\s(?=[^<]*?class="[^"]*\bcut\b)[^<]*?>/g)].map(([tag, element]) => ({
      name,
      tag,
      runs: element === 'code' || /class="[^"]*\bpath\b/.test(tag) || tag.includes(' dir="'),
    })),
  );
  expect(cut.length).toBeGreaterThan(20);
  expect(cut.filter(({ runs }) => !runs)).toEqual([]);
});

test('HTML is put into the page in one place, cleaned', () => {
  const places = files
    .filter(({ name, text }) => name.endsWith('.svelte') && /\{@html/.test(text))
    .map(({ name }) => name);
  expect(places).toEqual(['widgets/Prose.svelte']);
  const prose = files.find(({ name }) => name === places[0]);
  expect(prose?.text.match(/\{@html [^}]*\}/g)).toEqual(['{@html block.html}']);
  expect(prose?.text).toContain('{@render drawn(toBlocks(text), writing)}');
});
