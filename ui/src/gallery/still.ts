// Stops the clock and all motion of a page that is photographed (`?still`), so that two pictures of it are alike. It is imported
// before all else: who asks for the time later is told this one.

import './still.css';
import { NOW } from './sample_calls';
import { watchWork } from './page_work';

/** A clock that stands. */
class StandingDate extends Date {
  constructor(...given: ConstructorParameters<typeof Date> | []) {
    super(...((given.length === 0 ? [NOW] : given) as [number]));
  }
  static override now(): number {
    return NOW;
  }
}

if (new URLSearchParams(location.search).has('still')) {
  globalThis.Date = StandingDate as DateConstructor;
  watchWork();
  document.documentElement.dataset['still'] = '';
  // What another page has kept is not known to this one.
  localStorage.clear();
  sessionStorage.clear();
}
