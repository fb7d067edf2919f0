// Chords: read as the settings have them and as a keyboard gives them, and drawn for eyes and for a screen reader.

import { describe, expect, it } from 'vitest';
import { ariaKeysOf, capOf, chordOf, comparable, isTyped, readChord, sayChord, type KeyPress } from './chord';
import { keyPress as press } from '../testing/key_press';

describe('a written chord', () => {
  it.each([
    ['Ctrl+Shift+F', 'Ctrl+Shift+F'],
    ['Shift+Ctrl+f', 'Ctrl+Shift+F'],
    ['Meta+Alt+ArrowUp', 'Alt+Meta+ArrowUp'],
    ['y', 'Y'],
    ['Ctrl++', 'Ctrl++'],
    ['?', '?'],
    ['F12', 'F12'],
    ['ö', 'Ö'],
  ])('%s is read as %s', (text, chord) => expect(readChord(text)).toBe(chord));
  it.each(['', 'Ctrl', 'Ctrl+', 'Ctrl+Ctrl+F', 'Strg+F', 'F99', 'Shift+1', 'AB', ' ', 'Ctrl F'])(
    '“%s” is none',
    (text) => expect(readChord(text)).toBeNull(),
  );
});

describe('a key press', () => {
  it.each<[string, KeyPress, string | null]>([
    ['a letter', press('y'), 'Y'],
    ['a letter with Caps Lock', press('Y'), 'Y'],
    ['a capital', press('Y', { shiftKey: true }), 'Shift+Y'],
    ['a sign, however it is written', press('?', { shiftKey: true }), '?'],
    ['plus with Ctrl', press('+', { ctrlKey: true, shiftKey: true }), 'Ctrl++'],
    ['Space', press(' '), 'Space'],
    ['a function key', press('F5', { shiftKey: true }), 'Shift+F5'],
    ['a letter of another script', press('н', { code: 'KeyY' }), 'Y'],
    ['a letter of a Latin layout by what it writes', press('z', { code: 'KeyY' }), 'Z'],
    ['what Alt writes by the place of its key', press('π', { code: 'KeyP', altKey: true }), 'Alt+P'],
    ['a dead key with Alt', press('Dead', { code: 'KeyE', altKey: true }), 'Alt+E'],
    ['a modifier alone', press('Control', { ctrlKey: true }), null],
    ['a key without a name', press('MediaPlayPause'), null],
  ])('of %s', (_, event, chord) => expect(chordOf(event)).toBe(chord));
});

it('is drawn on a cap, said in words, and named for a screen reader', () => {
  const chords = ['Y', 'Shift+N', 'Ctrl+Shift+F', 'Shift+Enter', 'Ctrl++', 'ArrowDown', 'Escape'];
  expect(chords.map(capOf)).toEqual(['Y', '⇧N', 'Ctrl ⇧F', 'Shift Enter', 'Ctrl +', '↓', 'Esc']);
  expect(chords.slice(1, 6).map(sayChord)).toEqual(['Shift N', 'Ctrl Shift F', 'Shift Enter', 'Ctrl +', 'Arrow Down']);
  expect(chords.slice(1, 5).map(ariaKeysOf)).toEqual(['Shift+N', 'Control+Shift+F', 'Shift+Enter', 'Control+Plus']);
});

it('is text without Ctrl, Alt and Meta, but for function keys', () => {
  expect(['Y', 'Shift+Y', '?', 'ArrowUp', 'Enter'].map(isTyped)).toEqual([true, true, true, true, true]);
  expect(['Ctrl+Y', 'Alt+1', 'Meta+Y', 'F5', 'Shift+F5'].map(isTyped)).toEqual([false, false, false, false, false]);
});

it('is the same with ⌘ as with Ctrl', () => {
  expect([comparable('Meta+K'), comparable('Shift+Meta+K')]).toEqual(['Ctrl+K', 'Ctrl+Shift+K']);
});
