// The focus of cards and of the message box. A box that the app gave the focus to gives it on to a card that lands; one that
// the person chose keeps it.

import { findCommand } from '../state/keymap/commands';

/** How long nothing is typed before a letter in the box counts as left there. */
const PAUSE_MS = 500;

/** The message box while it has the focus only because the app put it there. */
let lent: HTMLElement | null = null;
let typedAt = Number.NEGATIVE_INFINITY;
/** The letters that answer a card, in small letters. */
let answerLetters: readonly string[] = lettersOf(['allow', 'reject'].flatMap((id) => findCommand(id)?.keys ?? []));

if (typeof document !== 'undefined') {
  const keep = (event: Event) => {
    if (lent !== null && event.target === lent) lent = null;
  };
  document.addEventListener('pointerdown', keep, true);
  document.addEventListener('focusout', keep, true);
  document.addEventListener(
    'input',
    (event) => {
      if (lent === null || event.target !== lent) return;
      typedAt = performance.now();
      if (!isUnused(lent)) lent = null;
    },
    true,
  );
}

/** Says which keys answer a card: those of one letter may be typed into the box by mistake. */
export function setAnswerKeys(chords: readonly string[]): void {
  answerLetters = lettersOf(chords);
}
function lettersOf(chords: readonly string[]): string[] {
  return chords.filter((chord) => chord.length === 1).map((letter) => letter.toLowerCase());
}

/** Tells whether a text is a lone key of an answer: meant for a card rather than a message. */
export function isLoneAnswer(text: string): boolean {
  return answerLetters.includes(text.trim().toLowerCase());
}

/** Gives the card of that call, or of calls among which it is, the focus and shows all of it that fits; false while it is not there, or not yet drawn. */
export function focusCard(key: string): boolean {
  const name = CSS.escape(key);
  const place = document.querySelector(`[data-card="${name}"], [data-member="${name}"]`);
  const card = place?.closest<HTMLElement>('[data-card]');
  card?.focus({ preventScroll: true });
  if (!card || document.activeElement !== card) return false;
  card.scrollIntoView({ block: 'nearest' });
  return true;
}

/** Gives the message box the focus until a card lands; false where there is none. */
export function lendFocus(): boolean {
  const box = document.querySelector<HTMLElement>('[data-testid="composer"]');
  if (!box) return false;
  // One that the person is in already stays theirs.
  if (document.activeElement === box) return true;
  box.focus();
  lent = box;
  return true;
}

/** Forgets the box that was lent the focus, and when it was typed in, as when a window is opened. */
export function resetLentFocus(): void {
  lent = null;
  typedAt = Number.NEGATIVE_INFINITY;
}

/** Tells whether the focus is in a message box that was lent it and holds no message. */
export function isLent(): boolean {
  return lent !== null && document.activeElement === lent && isUnused(lent);
}

/** Tells whether a card may take that focus now: not in the middle of typing. */
export function isLentAndIdle(): boolean {
  return isLent() && (textOf(lent) === '' || performance.now() - typedAt >= PAUSE_MS);
}

/** Takes the focus from a box that was lent it. A letter that was meant for the card does not stay behind as a message. */
export function takeLent(key: string): boolean {
  const box = lent;
  if (!focusCard(key)) return false;
  if (isField(box) && isLoneAnswer(box.value)) {
    box.value = '';
    box.dispatchEvent(new Event('input', { bubbles: true }));
  }
  return true;
}

const isField = (box: unknown): box is HTMLTextAreaElement | HTMLInputElement =>
  box instanceof HTMLTextAreaElement || box instanceof HTMLInputElement;
const textOf = (box: HTMLElement | null): string => (isField(box) ? box.value : '');
const isUnused = (box: HTMLElement): boolean => textOf(box) === '' || isLoneAnswer(textOf(box));
