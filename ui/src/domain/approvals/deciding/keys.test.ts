// The meaning of each key; text, stray keys and shortcuts mean nothing (design/ui.md, "Faults of others").

import { beforeEach, describe, expect, it } from 'vitest';
import { Keymap } from '../../../state/keymap/keymap';
import { following, intentOf, placeOf, successor, type Intent, type Place, type Press } from './keys';

function press(key: string, more: Partial<Press> = {}): Press {
  return {
    key,
    code: `Key${key.toUpperCase()}`,
    repeat: false,
    ctrlKey: false,
    altKey: false,
    metaKey: false,
    shiftKey: false,
    isComposing: false,
    ...more,
  };
}
/** The keys of an installation in which none was changed. */
const usual = new Keymap({});
const PLACES: Place[] = ['card', 'control', 'answer', 'text', 'menu', 'elsewhere'];

describe('a letter', () => {
  it.each([
    ['y', 'allow'],
    ['a', 'always'],
    ['n', 'reject'],
    ['l', 'later'],
    ['e', 'edit'],
    ['p', 'dry_run'],
    ['w', 'network'],
    ['u', 'undo'],
    ['d', 'layout'],
    ['x', null],
  ] as [string, Intent | null][])(
    '%s means %s on a card, and nothing in a text, a menu or elsewhere',
    (key, intent) => {
      const means = PLACES.map((place) => intentOf(press(key), place, usual));
      expect(means).toEqual([intent, intent, intent, null, null, null]);
    },
  );
  it('means the same with Caps Lock, and nothing with Shift but the stronger no', () => {
    expect(PLACES.map((place) => intentOf(press('N', { shiftKey: true }), place, usual))).toEqual([
      'never',
      'never',
      'never',
      null,
      null,
      null,
    ]);
    expect(intentOf(press('Y'), 'card', usual)).toBe('allow');
    expect(intentOf(press('Y', { shiftKey: true }), 'card', usual)).toBeNull();
  });
  it('is found by its place on a keyboard of another script, and never on a Latin one', () => {
    expect(intentOf(press('н', { code: 'KeyY' }), 'card', usual)).toBe('allow');
    expect(intentOf(press('z', { code: 'KeyY' }), 'card', usual), 'QWERTZ').toBeNull();
    expect(intentOf(press('1', { code: 'KeyY' }), 'card', usual)).toBeNull();
  });
  it.each([{ ctrlKey: true }, { altKey: true }, { metaKey: true }, { repeat: true }, { isComposing: true }])(
    'means nothing with %o',
    (more) => {
      expect(PLACES.map((place) => intentOf(press('y', more), place, usual))).toEqual(PLACES.map(() => null));
    },
  );
});

describe('a key that the person chose', () => {
  const changed = new Keymap({ keys: { allow: 'Ctrl+Enter', reject: 'F9', never: 'Ctrl+Shift+N', later: '' } });
  it('means its command at the same places, and the usual one means nothing', () => {
    expect(PLACES.map((place) => intentOf(press('F9', { code: 'F9' }), place, changed))).toEqual([
      'reject',
      'reject',
      'reject',
      null,
      null,
      null,
    ]);
    expect(intentOf(press('n'), 'card', changed)).toBeNull();
    expect(intentOf(press('l'), 'card', changed)).toBeNull();
    expect(intentOf(press('N', { shiftKey: true, ctrlKey: true }), 'card', changed)).toBe('never');
  });
  it('is never Enter or Space: a file that says so is ignored', () => {
    for (const more of [{}, { ctrlKey: true }, { altKey: true, shiftKey: true }])
      for (const key of ['Enter', ' '])
        expect(PLACES.map((place) => intentOf(press(key, more), place, changed))).not.toContain('allow');
    expect(intentOf(press('y'), 'card', changed)).toBe('allow');
  });
});

describe('Enter and Space', () => {
  it.each(['Enter', ' '])(
    '%j never allow: on the main answer they open the note, elsewhere they mean nothing to the card',
    (key) => {
      expect(PLACES.map((place) => intentOf(press(key, { code: key }), place, usual))).toEqual([
        null,
        null,
        'note',
        null,
        null,
        null,
      ]);
    },
  );
  it('mean nothing while held down', () => {
    expect(intentOf(press('Enter', { repeat: true }), 'answer', usual)).toBeNull();
  });
});

describe('Tab and Escape', () => {
  it('Shift+Tab in a note only moves the focus', () => {
    expect(PLACES.map((place) => intentOf(press('Tab', { code: 'Tab', shiftKey: true }), place, usual))).toEqual(
      PLACES.map(() => null),
    );
  });
  it('Escape leads from a field or a control back to the card', () => {
    expect(PLACES.map((place) => intentOf(press('Escape', { code: 'Escape' }), place, usual))).toEqual([
      null,
      'leave',
      'leave',
      'leave',
      null,
      null,
    ]);
  });
});

describe('a place', () => {
  let card: HTMLElement;
  beforeEach(() => {
    document.body.innerHTML = `
      <article id="card">
        <input type="checkbox" id="box"><input type="text" id="note"><textarea id="area"></textarea><select id="select"></select>
        <div contenteditable="true"><b id="rich">x</b></div><button id="reject">Reject</button>
        <span data-answer><button id="allow">Allow</button></span>
        <div role="menu"><button id="item">Stop</button></div>
      </article>
      <input id="composer">`;
    card = document.querySelector('#card') as HTMLElement;
    return () => document.body.replaceChildren();
  });
  it.each([
    ['#card', 'card'],
    ['#box', 'control'],
    ['#reject', 'control'],
    ['#allow', 'answer'],
    ['#note', 'text'],
    ['#area', 'text'],
    ['#select', 'text'],
    ['#rich', 'text'],
    ['#item', 'menu'],
    ['#composer', 'elsewhere'],
    ['body', 'elsewhere'],
  ] as [string, Place][])('%s is %s', (selector, place) => {
    expect(placeOf(document.querySelector(selector), card)).toBe(place);
  });
});

it('the focus goes on to the next card, from the last one to the first, and from the only one nowhere', () => {
  expect([
    successor(['a', 'b', 'c'], 'a'),
    successor(['a', 'b', 'c'], 'c'),
    successor(['a'], 'a'),
    successor([], 'a'),
    successor(['a', 'b'], 'gone'),
  ]).toEqual(['b', 'a', null, null, 'a']);
});

it('after an answer the focus goes to the next that still waits, and to one that came meanwhile if none does', () => {
  expect([
    following(['a', 'b', 'c'], ['b', 'c'], 'a'),
    following(['a', 'b', 'c'], ['a', 'c'], 'b'),
    following(['a', 'b'], ['a'], 'b'),
    following(['a'], ['a', 'new'], 'a'),
    following(['a'], ['a'], 'a'),
    following([], [], 'a'),
  ]).toEqual(['b', 'c', 'a', 'new', null, null]);
});
