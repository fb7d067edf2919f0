// The catalogue of the chosen language: what the build puts in place of every string asks it.

import toRuntime, { type CatalogModule, type Runtime } from 'wuchale/runtime';
import * as english from './.wuchale/main.main.en.compiled.js';
import { fillIsolated, isolate } from './isolate';
import { known } from './known';

let shown: Runtime = $state.raw(toRuntime(english, 'en'));

/** The strings without values, as they are shown, with their English. */
const englishOf = $derived(
  new Map(shown._.c.flatMap((text, id) => (typeof text === 'string' ? [[text, String(english.c[id])] as const] : []))),
);
/** Returns the English of a string that is shown; empty for one with values, and for what is no string of the catalogue. */
export const inEnglish = (text: string): string => englishOf.get(text) ?? '';

/** Tells whether the shown language runs from the right. */
export const runsFromRight = (): boolean => known[shown.l as keyof typeof known].dir === 'rtl';

/**
 * Asks the catalogue that is shown at the time of the call, so that every reader follows a change. The values of a sentence that
 * runs from the right are isolated here, wherever it is drawn.
 */
const runtime = Object.defineProperties(
  (id: number, values: unknown[] = []) => (runsFromRight() ? fillIsolated(shown.c(id), values) : shown(id, values)),
  Object.getOwnPropertyDescriptors({
    c: (id: number) => shown.c(id),
    x: (parts: Parameters<Runtime['x']>[0], values: unknown[] = [], start = 1) =>
      runsFromRight() ? fillIsolated(parts.slice(start), values) : shown.x(parts, values, start),
    t: (tag: Parameters<Runtime['t']>[0], id: number, values: unknown[] = []) =>
      shown.t(tag, id, runsFromRight() ? values.map(isolate) : values),
    p: (id: number) => shown.p(id),
    get _() {
      return shown._;
    },
    get l() {
      return shown.l;
    },
  }),
) as Runtime;

export const getRuntime = (): Runtime => runtime;
export const getRuntimeRx = getRuntime;

/** Shows the strings of a catalogue. */
export function showCatalogue(catalogue: CatalogModule, language: string): void {
  shown = toRuntime(catalogue, language);
}
