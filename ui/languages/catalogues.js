// Reads the catalogues: what they lack.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import picomatch from 'picomatch';
import PO from 'pofile';
import { IndexTracker } from 'wuchale';
import config from '../wuchale.config.js';

const [source] = config.locales;

const parseCatalogue = (language) =>
  PO.parse(readFileSync(join(import.meta.dirname, '../src/locales', `${language}.po`), 'utf8'));

/** Returns the entries of a language's catalogue that the sources use. */
export function readCatalogue(language) {
  return parseCatalogue(language).items.filter(({ obsolete }) => !obsolete);
}

/** Number of forms that a plural has in a language. */
function formsOf(language) {
  return Number(PO.parsePluralForms(parseCatalogue(language).headers['Plural-Forms']).nplurals);
}

/** Returns the English strings that a language's catalogue lacks. */
export function findMissing(language) {
  if (language === source) return [];
  const forms = formsOf(language);
  return readCatalogue(language)
    .filter(({ msgid_plural, msgstr }) => msgstr.filter(Boolean).length < (msgid_plural ? forms : 1))
    .map(({ msgid }) => msgid);
}

/** Returns the languages whose catalogue has every string. */
export const findComplete = () => config.locales.filter((language) => findMissing(language).length === 0);

const ui = join(import.meta.dirname, '..');

/** Returns the strings of the sources, each once. */
export async function readSources() {
  const names = readdirSync(join(ui, 'src'), { recursive: true, encoding: 'utf8' });
  const found = new Set();
  for (const { files, transform } of Object.values(config.adapters)) {
    const isRead = picomatch(files.include, { ignore: files.ignore });
    for (const filename of names.map((name) => `src/${name.replaceAll('\\', '/')}`).filter((name) => isRead(name))) {
      const content = readFileSync(join(ui, filename), 'utf8');
      const expr = { plain: '', reactive: '' };
      const { msgs } = await transform({ content, filename, index: new IndexTracker(), expr, matchUrl: () => null });
      for (const { msgStr } of msgs) found.add(msgStr[0]);
    }
  }
  return found;
}
