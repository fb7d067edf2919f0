// Reads the catalogues: what they lack.

import { readFileSync } from 'node:fs';
import PO from 'pofile';
import config from '../wuchale.config.js';

const [source] = config.locales;

/** Returns the entries of a language's catalogue that the sources use. */
export function readCatalogue(language) {
  const file = new URL(`../src/locales/${language}.po`, import.meta.url);
  return PO.parse(readFileSync(file, 'utf8')).items.filter(({ obsolete }) => !obsolete);
}

/** Number of forms that a plural has in a language. */
function formsOf(language) {
  const header = PO.parse(readFileSync(new URL(`../src/locales/${language}.po`, import.meta.url), 'utf8')).headers;
  return Number(PO.parsePluralForms(header['Plural-Forms']).nplurals);
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
