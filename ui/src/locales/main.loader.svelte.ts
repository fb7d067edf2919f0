// The catalogue of the chosen language: what the build puts in place of every string asks it.

import toRuntime, { type CatalogModule, type Runtime } from 'wuchale/runtime';
import * as english from './.wuchale/main.main.en.compiled.js';

let shown: Runtime = $state.raw(toRuntime(english, 'en'));

/** Asks the catalogue that is shown at the time of the call, so that every reader follows a change. */
const runtime = Object.defineProperties(
  (id: number, values?: unknown[]) => shown(id, values),
  Object.getOwnPropertyDescriptors({
    c: (id: number) => shown.c(id),
    x: (...args: Parameters<Runtime['x']>) => shown.x(...args),
    t: (...args: Parameters<Runtime['t']>) => shown.t(...args),
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
