// The initials of a title.

import { expect, test } from 'vitest';
import { initials } from './initials';

test.each([
  ['Mend the sign: -2^2 gives 4', 'MT'],
  ['release', 'R'],
  ['0.14 notes', '01'],
  ['«Ähre» im Feld', 'ÄI'],
  ['\u202etxt', 'T'],
  ['…', ''],
  ['', ''],
])('of “%s” are “%s”', (title, letters) => expect(initials(title)).toBe(letters));
