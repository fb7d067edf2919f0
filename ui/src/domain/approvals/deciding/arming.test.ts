// When an answer counts (design/ui.md, "Deciding" and "Faults of others").

import { describe, expect, it } from 'vitest';
import {
  hasRest,
  looked,
  REST_MS,
  rested,
  rule,
  SWAP_MS,
  unseen,
  WAKE_MS,
  type Look,
  type Moment,
  type View,
} from './arming';

const whole: View = { top: true, end: true, some: true, fits: true };
const tallTop: View = { top: true, end: false, some: true, fits: false };
const tallMiddle: View = { top: false, end: false, some: true, fits: false };
const tallEnd: View = { top: false, end: true, some: true, fits: false };
const away: View = { top: false, end: false, some: false, fits: true };

/** A look made of views and the times at which they came. */
function after(...views: [View, number][]): Look {
  return views.reduce((look, [view, at]) => looked(look, view, at), unseen());
}
/** Makes a moment in which every condition holds, except those that `more` overrides. */
function moment(more: Partial<Moment>): Moment {
  return { at: 10_000, look: after([whole, 0]), focusedSince: 0, windowSince: 0, spent: false, held: false, ...more };
}

describe('an answer by key', () => {
  const cases: [string, Partial<Moment>, ReturnType<typeof rule>][] = [
    ['counts when the card was seen whole and had the focus for long enough', {}, 'go'],
    ['must be held where it cannot be undone', { held: true }, 'hold'],
    ['shows what is cut off first', { covered: true }, 'rest'],
    ['is never given twice', { spent: true }, 'spent'],
    ['does nothing while the focus is elsewhere', { focusedSince: null }, 'wait'],
    [
      'does nothing right after the focus came: a second y cannot hit the next card',
      { focusedSince: 10_000 - REST_MS + 1 },
      'wait',
    ],
    ['counts at the very moment the time is over', { focusedSince: 10_000 - REST_MS }, 'go'],
    ['is swallowed when it activated the window', { windowSince: null }, 'asleep'],
    ['is swallowed right after the window was activated', { windowSince: 10_000 - WAKE_MS + 1 }, 'asleep'],
    ['only scrolls to a card that is out of view', { look: after([whole, 0], [away, 5_000]) }, 'show'],
    [
      'only scrolls to a card of which a part is out of view',
      { look: after([whole, 0], [{ ...whole, end: false }, 5_000]) },
      'show',
    ],
    [
      'does nothing before the card was in view for long enough',
      { look: after([whole, 10_000 - REST_MS + 1]) },
      'wait',
    ],
    [
      'counts anew only after the card was in view again for long enough',
      { look: after([whole, 0], [away, 5_000], [whole, 9_900]) },
      'wait',
    ],
    ['shows the rest of a tall card', { look: after([tallTop, 0]) }, 'rest'],
    ['shows the top of a tall card of which only the end was seen', { look: after([tallEnd, 0]) }, 'rest'],
    ['waits while the end of a tall card has just come', { look: after([tallTop, 0], [tallEnd, 9_900]) }, 'wait'],
    ['counts once the end of a tall card was seen', { look: after([tallTop, 0], [tallEnd, 5_000]) }, 'go'],
    [
      'counts in the middle of a tall card whose end was seen',
      { look: after([tallTop, 0], [tallEnd, 5_000], [tallMiddle, 6_000]) },
      'go',
    ],
    [
      'does not count when the end only flew past',
      { look: after([tallTop, 0], [tallEnd, 5_000], [tallMiddle, 5_100]) },
      'rest',
    ],
  ];
  it.each(cases)('allow %s', (_, more, ruling) => {
    expect(rule('allow', 'key', moment(more))).toBe(ruling);
  });
});

describe('an answer by pointer', () => {
  const cases: [string, Partial<Moment>, ReturnType<typeof rule>][] = [
    ['counts without the focus: the pointer is on the button', { focusedSince: null }, 'go'],
    ['is swallowed when it activated the window', { windowSince: 9_999 }, 'asleep'],
    ['does nothing on a card that just came under it', { look: after([whole, 9_900]) }, 'wait'],
    ['shows the rest of a tall card', { look: after([tallTop, 0], [tallMiddle, 1_000]) }, 'rest'],
    ['shows a card whose head is out of view', { look: after([{ ...whole, top: false }, 0]) }, 'show'],
    ['is never given twice', { spent: true }, 'spent'],
    [
      'does nothing on an answer that just took the place of the button that was aimed at',
      { look: after([tallTop, 0], [tallEnd, 5_000]), restEnded: 10_000 - SWAP_MS + 1 },
      'wait',
    ],
    [
      'counts once that answer has stood there for long enough',
      { look: after([tallTop, 0], [tallEnd, 5_000]), restEnded: 10_000 - SWAP_MS },
      'go',
    ],
  ];
  it.each(cases)('allow %s', (_, more, ruling) => {
    expect(rule('allow', 'pointer', moment(more))).toBe(ruling);
  });
});

describe('a rejection', () => {
  it('needs no look at the rest, but a look and the focus', () => {
    expect(rule('reject', 'key', moment({ look: after([tallTop, 0]) }))).toBe('go');
    expect(rule('reject', 'key', moment({ look: after([tallTop, 9_900]) }))).toBe('wait');
    expect(rule('reject', 'key', moment({ focusedSince: 9_900 }))).toBe('wait');
    expect(rule('reject', 'key', moment({ look: after([away, 0]) }))).toBe('show');
    expect(rule('reject', 'key', moment({ windowSince: null }))).toBe('asleep');
    expect(rule('reject', 'key', moment({ spent: true }))).toBe('spent');
    expect(rule('reject', 'key', moment({ held: true })), 'a no is never held').toBe('go');
  });
});

describe('what was seen', () => {
  it('is forgotten when what is shown changes', () => {
    expect(rule('allow', 'key', moment({ look: unseen() })), 'nobody knows yet what is in view').toBe('wait');
    expect(rule('reject', 'key', moment({ look: unseen() }))).toBe('wait');
    expect(rule('allow', 'key', moment({ look: after([away, 0]) }))).toBe('show');
    expect(rule('allow', 'key', moment({ look: after([whole, 9_999]) }))).toBe('wait');
  });
  it('tells whether the main button shows the rest', () => {
    const table: [Look, number, boolean][] = [
      [after([whole, 0]), 0, false],
      [after([tallTop, 0]), 10_000, true],
      [after([tallTop, 0], [tallEnd, 100]), 100 + REST_MS - 1, true],
      [after([tallTop, 0], [tallEnd, 100]), 100 + REST_MS, false],
      [after([tallTop, 0], [tallEnd, 100], [tallTop, 600]), 600, false],
      [after([tallEnd, 0]), 10_000, true],
    ];
    expect(table.map(([look, at]) => hasRest(look, at))).toEqual(table.map(([, , rest]) => rest));
  });
  it('stays seen when the card outgrows the window: what is decided was seen, the person opened the rest', () => {
    expect(rested(after([whole, 0], [tallTop, 1_000]), 1_000)).toBe(true);
    expect(rested(after([whole, 0], [tallTop, 100]), 1_000), 'but not before it was seen for long enough').toBe(false);
  });
});
