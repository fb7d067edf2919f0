// Characters that look like others: a command, a path or a host that is not what it seems to be.

import { nameOf, type Span } from './shown';

/** Letters of other scripts that no font tells from a Latin one. */
const TWINS = new Set('аеорсухіјѕһԁԛԝАВЕКМНОРСТУХІЈЅԚԜονΑΒΕΖΗΙΚΜΝΟΡΤΥΧօսոՕՍ');
/** Letters of scripts that have twins of Latin letters, and two Latin ones that are twins themselves. */
const TWIN_SCRIPT =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}ɑɡ]/u;
/** Marks that look like those of a shell, a path or an address. */
const TWIN_MARKS = /[‐‑∕⁄⧸∶꞉∣ǃ∗⁎ꓸ]/u;
/** A raised or lowered character is told from its plain one. */
const RAISED = /[\u2070-\u209f]/;
const WORD = /[\p{L}\p{M}\p{N}_]+/gu;
const COMBINING = /[\u0300-\u036f]/;
/** What holds only such characters holds no twin: most text. */
const PLAIN = /^[^\u0100-\u2017\u2020-\u2025\u2027-\uffff]*$/;

/** Names the characters that look like others, within the stretches that are not named yet. */
export function markLookalikes(spans: readonly Span[]): readonly Span[] {
  if (spans.every(({ text, control }) => control || PLAIN.test(text))) return spans;
  return spans.flatMap((span) => (span.control ? [span] : splitLookalikes(span.text)));
}

function splitLookalikes(text: string): Span[] {
  const twins = findTwins(text);
  const out: Span[] = [];
  let plain = '';
  let before = '';
  let at = 0;
  for (const character of text) {
    if (twins.has(at) || isVariant(character) || composes(before, character)) {
      if (plain !== '') out.push({ text: plain, control: false });
      plain = '';
      out.push({ text: nameOf(character), control: true, twin: true });
    } else plain += character;
    before = character;
    at += character.length;
  }
  if (plain !== '') out.push({ text: plain, control: false });
  return out;
}

/** Places of the letters that stand among Latin ones, and of the words that look Latin in a text that is in no such script. */
function findTwins(text: string): Set<number> {
  const found = new Set<number>();
  const isForeign = [...text].some((one) => TWIN_SCRIPT.test(one) && !TWINS.has(one));
  for (const { 0: word, index } of text.matchAll(WORD)) {
    const letters = [...word].filter((one) => TWIN_SCRIPT.test(one));
    if (letters.length === 0) continue;
    if (!/[a-z]/i.test(word) && (isForeign || !letters.every((one) => TWINS.has(one)))) continue;
    let at = index;
    for (const one of word) {
      if (TWIN_SCRIPT.test(one)) found.add(at);
      at += one.length;
    }
  }
  return found;
}

/** Tells whether a character is another form of an ASCII one, or of one that Unicode holds to be the same. */
function isVariant(character: string): boolean {
  if (character < '\u0100') return false;
  if (TWIN_MARKS.test(character) || character.normalize('NFC') !== character) return true;
  return !RAISED.test(character) && /^[!-~]$/.test(character.normalize('NFKC'));
}

/** Tells whether a mark makes, with the letter before it, what is also one character. */
function composes(before: string, character: string): boolean {
  return COMBINING.test(character) && [...(before + character).normalize('NFC')].length < 2;
}
