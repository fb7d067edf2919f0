// Keys of commands: what a press means, which keys cannot be had, and what the settings change.

import { describe, expect, it, test } from 'vitest';
import { keyPress as press } from '../../testing/key_press';
import { hasChanges, without, withAllFirstKeys, withFirstKeys, withKey } from './changes';
import { findCommand, keyCommands, overlap, type CommandId, type KeyCommand } from './commands';
import { Keymap, type KeySettings } from './keymap';
import { refuseChord } from './refusals';

const command = (id: CommandId): KeyCommand => findCommand(id) as KeyCommand;
const names = (commands: readonly KeyCommand[]) => commands.map(({ id }) => id);

describe('the first keys', () => {
  it('mean one command each wherever they count, and none is refused', () => {
    const keymap = new Keymap({});
    for (const one of keyCommands)
      for (const chord of one.keys) {
        expect([one.id, chord, names(keymap.conflictsOf(one, chord))]).toEqual([one.id, chord, []]);
        expect([one.id, refuseChord(one, chord)]).toEqual([one.id, null]);
      }
    expect(keymap.problems).toEqual([]);
    expect(hasChanges(keymap)).toBe(false);
  });
});

describe('a press', () => {
  const keymap = new Keymap({ keys: { search: 'Ctrl+Shift+F', plan_first: 'Alt+L', details: 'Alt+L', inspector: '' } });
  it('means the command that has the chord at that place', () => {
    expect(keymap.resolve(press('F', { ctrlKey: true, shiftKey: true }), 'window', 'session')).toBe('search');
    expect(keymap.resolve(press('f', { ctrlKey: true }), 'window', 'session')).toBe('find_in_session');
    expect(keymap.resolve(press('f', { ctrlKey: true }), 'card')).toBeNull();
    expect(keymap.resolve(press('y'), 'card')).toBe('allow');
    expect(keymap.resolve(press('y'), 'window', 'session')).toBeNull();
  });
  it('can mean one command on a card and another in a message: the two never count together', () => {
    expect(overlap('card', 'message')).toBe(false);
    expect(keymap.resolve(press('l', { altKey: true }), 'card')).toBe('details');
    expect(keymap.resolve(press('l', { altKey: true }), 'message')).toBe('plan_first');
  });
  it('means nothing any more where the key was changed or taken away', () => {
    expect(keymap.resolve(press('/'), 'window')).toBeNull();
    expect(keymap.resolve(press('i'), 'window')).toBeNull();
    expect(keymap.keyOf('inspector')).toBeUndefined();
  });
  it('with ⌘ means what it means with Ctrl', () => {
    expect(keymap.resolve(press('k', { metaKey: true }), 'window')).toBe('palette');
  });
  it('reaches every key of a command', () => {
    expect(['+', '='].map((key) => keymap.resolve(press(key, { ctrlKey: true }), 'window'))).toEqual([
      'zoom_in',
      'zoom_in',
    ]);
  });
});

describe('conflicts', () => {
  const keymap = new Keymap({ desktop: { start_at_login: false, shortcut: 'Super+Alt+O' } });
  it('are told by the command that has the chord where the other works', () => {
    expect(names(keymap.conflictsOf(command('allow'), 'N'))).toEqual(['reject']);
    expect(names(keymap.conflictsOf(command('search'), 'Meta+K'))).toEqual(['palette']);
    expect(names(keymap.conflictsOf(command('plan_first'), 'Ctrl+F'))).toEqual(['find_in_session']);
    expect(names(keymap.conflictsOf(command('allow'), 'Alt+P'))).toEqual([]);
    expect(names(keymap.conflictsOf(command('allow'), 'Y'))).toEqual([]);
  });
  it('are told of the key that works from other programs as well', () => {
    expect(names(keymap.conflictsOf(command('search'), 'Alt+Meta+O'))).toEqual(['oldest_call']);
    expect(names(keymap.conflictsOf(command('oldest_call'), 'Ctrl+B'))).toEqual(['rail']);
  });
});

test.each<[CommandId, string, RegExp]>([
  ['allow', 'Enter', /never allow/],
  ['allow', 'Ctrl+Space', /never allow/],
  ['search', 'Enter', /never allow/],
  ['reject', 'Ctrl+Tab', /moves the focus/],
  ['reject', 'Escape', /closes and leaves/],
  ['next_card', 'ArrowDown', /moves or deletes/],
  ['next_card', 'Ctrl+Backspace', /moves or deletes/],
  ['search', 'Ctrl+C', /copy, paste/],
  ['search', 'Meta+V', /copy, paste/],
  ['undo', 'Ctrl+Z', /copy, paste/],
  ['search', 'Ctrl+W', /close windows/],
  ['palette', 'P', /while you write/],
  ['plan_first', 'Shift+P', /while you write/],
  ['oldest_call', 'O', /Every program/],
  ['oldest_call', 'Ctrl+Ö', /only letters/],
  ['oldest_call', 'F13', /only F1 to F12/],
])('%s cannot have %s', (id, chord, why) => expect(refuseChord(command(id), chord)).toMatch(why));

test.each<[CommandId, string]>([
  ['allow', 'F8'],
  ['allow', 'Ctrl+Shift+Y'],
  ['search', 'S'],
  ['palette', 'F1'],
  ['oldest_call', 'Ctrl+Alt+O'],
  ['oldest_call', 'Meta+Space'],
  ['oldest_call', 'F9'],
])('%s can have %s', (id, chord) => expect(refuseChord(command(id), chord)).toBeNull());

describe('lines of the settings file', () => {
  const read = (settings: KeySettings) => {
    const keymap = new Keymap(settings);
    return { keymap, told: keymap.problems.map(({ id, text }) => [id, text]) };
  };
  it('that name no command, no key, or one that cannot be had, are told and ignored', () => {
    const { keymap, told } = read({ keys: { fnid: 'Ctrl+H', search: 'Strg+F', allow: 'Enter', oldest_call: 'F9' } });
    expect(told).toEqual([
      ['fnid', '“fnid” is no command.'],
      ['search', 'Search: “Strg+F” is no key. Write it like Ctrl+Shift+F.'],
      ['allow', expect.stringMatching(/^Allow, “Enter”: .*never allow/)],
      ['oldest_call', '“oldest_call” is no command.'],
    ]);
    expect([keymap.keyOf('search'), keymap.keyOf('allow'), keymap.keyOf('oldest_call')]).toEqual(['/', 'Y', undefined]);
    expect(hasChanges(keymap)).toBe(true);
  });
  it('that give two commands one key give it to neither', () => {
    const { keymap, told } = read({ keys: { allow: 'F8', reject: 'F8', later: 'F9' } });
    expect(told.map(([id]) => id)).toEqual(['allow', 'reject']);
    expect([keymap.keyOf('allow'), keymap.keyOf('reject'), keymap.keyOf('later')]).toEqual(['Y', 'N', 'F9']);
  });
  it('that give a command the first key of another take it from that one', () => {
    const { keymap, told } = read({ keys: { details: 'N' } });
    expect([told, keymap.keysOf('details'), keymap.keysOf('reject')]).toEqual([[], ['N'], []]);
    expect(keymap.resolve(press('n'), 'card')).toBe('details');
  });
});

describe('changed settings', () => {
  it('hold what differs from the first keys, and nothing else', () => {
    const changed = withKey({}, command('search'), 'Ctrl+Shift+F');
    expect(changed.keys).toEqual({ search: 'Ctrl+Shift+F' });
    expect(withKey(changed, command('search'), '/').keys).toEqual({});
    expect(withKey({}, command('search'), '').keys).toEqual({ search: '' });
  });
  it('take a key from the command that had it, and leave its other keys', () => {
    expect(withKey({}, command('allow'), 'N').keys).toEqual({ allow: 'N', reject: '' });
    expect(withKey({}, command('search'), 'Ctrl++').keys).toEqual({ search: 'Ctrl++', zoom_in: 'Ctrl+=' });
  });
  it('give a command its first keys back, whoever has them', () => {
    const swapped = withKey({}, command('allow'), 'N');
    expect(withFirstKeys(swapped, command('reject')).keys).toEqual({ allow: '' });
    const taken = withKey(withKey({}, command('search'), 'Ctrl++'), command('keys'), 'Ctrl+=');
    const again = new Keymap(withFirstKeys(taken, command('zoom_in')));
    expect([again.keysOf('zoom_in'), again.keysOf('search'), again.keysOf('keys')]).toEqual([
      ['Ctrl++', 'Ctrl+='],
      [],
      [],
    ]);
  });
  it('keep the key of the desktop apart, under the names that it has there', () => {
    const desktop = { start_at_login: true };
    const changed = withKey({ desktop }, command('oldest_call'), 'Alt+Meta+O');
    expect(changed).toEqual({ keys: {}, desktop: { start_at_login: true, shortcut: 'Alt+Super+O' } });
    expect(new Keymap(changed).keyOf('oldest_call')).toBe('Alt+Meta+O');
    expect(withKey(changed, command('search'), 'Alt+Meta+O').desktop).toEqual(desktop);
    expect(withKey(changed, command('oldest_call'), '').desktop).toEqual(desktop);
  });
  it('are none once everything is put back; what starts with the desktop stays', () => {
    const settings = {
      keys: { fnid: 'F8', allow: 'N', reject: '' },
      desktop: { start_at_login: true, shortcut: 'F9' },
    };
    expect(without(settings, 'fnid').keys).toEqual({ allow: 'N', reject: '' });
    expect(withAllFirstKeys(settings)).toEqual({ keys: {}, desktop: { start_at_login: true } });
    expect(hasChanges(new Keymap(withAllFirstKeys(settings)))).toBe(false);
  });
});
