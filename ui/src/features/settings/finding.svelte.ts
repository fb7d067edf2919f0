// Finds settings by their words: the typed text, and the parts of the screen, each of which knows whether it is found.

import { getContext, onDestroy, setContext } from 'svelte';
import { SvelteSet } from 'svelte/reactivity';
import { inEnglish } from '../../locales/main.loader.svelte';

/** The text that settings are found by. */
export class Finding {
  text = $state('');
  /** The typed words, in lower case. */
  readonly words: readonly string[] = $derived(this.text.toLowerCase().split(/\s+/).filter(Boolean));
  /** Whether something is looked for. */
  readonly active = $derived(this.words.length > 0);
  /** The whole screen; all sections are parts of it. */
  readonly all = new Part(this, null, () => []);

  /** Tells whether a text has every typed word. */
  holds(text: string): boolean {
    const lower = text.toLowerCase();
    return this.words.every((word) => lower.includes(word));
  }
}

/** A section, a group of settings, or a setting. */
export class Part {
  readonly finding: Finding;
  readonly #above: Part | null;
  readonly #texts: () => readonly string[];
  readonly #parts = new SvelteSet<Part>();

  constructor(finding: Finding, above: Part | null, texts: () => readonly string[]) {
    this.finding = finding;
    this.#above = above;
    this.#texts = texts;
  }

  /** Its own words, in English besides, and those of all that it is a part of. */
  readonly text: string = $derived.by(() => {
    const texts = this.#texts();
    return [this.#above?.text ?? '', ...texts, ...texts.map(inEnglish)].join(' ');
  });
  /** Whether it is shown with all its parts: nothing is looked for, or its words are what is looked for. */
  readonly whole: boolean = $derived.by(
    () => (this.#above?.whole ?? !this.finding.active) || (this.finding.active && this.finding.holds(this.text)),
  );
  /** Number of settings in it that are shown. */
  readonly found: number = $derived.by(() => {
    if (this.#parts.size === 0) return this.whole ? 1 : 0;
    return [...this.#parts].reduce((sum, part) => sum + part.found, 0);
  });
  /** Whether any of it is shown. */
  readonly shown: boolean = $derived(this.whole || this.found > 0);

  /** Takes a part in; gives what takes it out again. */
  add(part: Part): () => void {
    this.#parts.add(part);
    return () => this.#parts.delete(part);
  }
}

const KEY = Symbol('part of the settings');

/** Begins the screen: the parts of the components within belong to it. */
export function beginFinding(): Finding {
  const finding = new Finding();
  setContext(KEY, finding.all);
  return finding;
}

/** The part that the component stands in. */
export function getPart(): Part {
  return getContext<Part>(KEY);
}

/** Makes the component a part of what it stands in, found by texts. */
export function enterPart(texts: () => readonly string[]): Part {
  const above = getPart();
  const part = new Part(above.finding, above, texts);
  setContext(KEY, part);
  onDestroy(above.add(part));
  return part;
}
