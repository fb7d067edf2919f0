// The language of the window: chosen by the person and kept on this machine, or that of the system.

import { completeLanguages } from 'virtual:languages';
import { loadCatalog } from './.wuchale/main.proxy.js';
import { known, type Language } from './known';
import { getRuntime, showCatalogue } from './main.loader.svelte';

export type { Language };

/** What a person can choose. */
export type LanguageChoice = Language | 'system';

/** Storage key of the choice. */
const KEPT = 'language';

/** Languages that can be chosen: those whose catalogue has every string. */
export const offeredLanguages: readonly { id: Language; name: string }[] = (Object.keys(known) as Language[])
  .filter((id) => completeLanguages.includes(id))
  .map((id) => ({ id, name: known[id].name }));

let choice: LanguageChoice = $state(keptChoice());

/** Returns what the person chose. */
export const languageChoice = (): LanguageChoice => choice;
/** Returns the language that is shown. */
export const shownLanguage = (): Language => getRuntime().l as Language;
/** Returns the language tag that figures, dates and lists are written by. */
export const figuresLanguage = (): string => known[shownLanguage()].figures;

/** Shows a language, now and at every later start. */
export async function chooseLanguage(to: LanguageChoice): Promise<void> {
  choice = to;
  localStorage.setItem(KEPT, to);
  await applyLanguage();
}

/** Shows the language that was chosen. */
export async function applyLanguage(): Promise<void> {
  const language = choice === 'system' ? systemLanguage() : choice;
  if (language !== shownLanguage()) showCatalogue(await loadCatalog('main', language), language);
  document.documentElement.lang = language;
  document.documentElement.dir = known[language].dir;
}

function keptChoice(): LanguageChoice {
  const kept = localStorage.getItem(KEPT);
  return offeredLanguages.find(({ id }) => id === kept)?.id ?? 'system';
}

/** The first language of the system that is offered. A system without one gives a tag that is none, such as `c`. */
function systemLanguage(): Language {
  const wanted = navigator.languages.map((tag) => tag.split('-')[0]?.toLowerCase());
  return wanted.flatMap((tag) => offeredLanguages.filter(({ id }) => id === tag))[0]?.id ?? 'en';
}
