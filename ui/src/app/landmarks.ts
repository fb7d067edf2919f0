// Places that the keys jump to in the open session: cards that wait, errors, messages of the person.

import { focusCard } from '../domain/card_focus';
import type { Entry } from '../ipc/bindings';
import { entryKey, type Desk } from '../state/desk.svelte';
import type { SessionCommand } from '../state/keymap/commands';

/** A place that can be jumped to. */
export type Landmark = Exclude<SessionCommand, 'find_in_session'>;

/** A place with the words that it is told by. */
interface Place {
  id: string;
  seq: number;
  words: string;
}

/** Entries that are asked for at once. */
const ENTRIES = 500;
const WORDS_MAX = 80;

export class Landmarks {
  readonly #desk: Desk;
  /** Number of jumps: one that was overtaken goes nowhere. */
  #jumps = 0;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /** Jumps to a place, and says where that is, or that there is none. */
  async jump(to: Landmark): Promise<void> {
    const { view } = this.#desk.navigation;
    if (view.screen !== 'session') return;
    if (to === 'waiting_card') {
      this.#jumpToCard(view.session);
      return;
    }
    const mine = (this.#jumps += 1);
    const from = this.#desk.reading.seq;
    try {
      const place = await this.#find(to, view.session, from);
      if (mine !== this.#jumps) return;
      if (!place) this.#tellNone(none[to]);
      else {
        this.#desk.announced = place.words;
        this.#desk.reading.seq = place.seq;
        this.#desk.navigation.show(view.session, place);
      }
    } catch (thrown) {
      this.#desk.tellFault(thrown);
    }
  }

  #find(to: Exclude<Landmark, 'waiting_card'>, session: string, from: number | null): Promise<Place | null> {
    if (to === 'next_error') return this.#findError(session, from);
    return to === 'previous_message' ? this.#findMessageBefore(session, from) : this.#findMessageAfter(session, from);
  }

  /** To the card after the one that has the focus; after the last comes the first. */
  #jumpToCard(session: string): void {
    const { cards, owner } = this.#desk.focus;
    const has = owner && document.activeElement?.closest(`[data-card="${CSS.escape(entryKey(owner))}"]`);
    const at = owner && has ? cards.indexOf(owner) + 1 : Math.max(0, owner ? cards.indexOf(owner) : 0);
    const card = cards[at % Math.max(1, cards.length)];
    if (!card) {
      this.#tellNone('No call waits in this session.');
      return;
    }
    const name = `${card.body.title} ${card.body.target}`.trim();
    this.#desk.announced =
      cards.length > 1 ? `Card ${cards.indexOf(card) + 1} of ${cards.length}: ${name}` : `Card: ${name}`;
    if (focusCard(entryKey(card))) return;
    // It is not in the page yet; that of a sub-agent stands at the call that it works for.
    const line = this.#desk.ancestors(card.session);
    const call = line.find(({ parent }) => parent?.session === session)?.parent?.call;
    if (call === undefined) this.#desk.navigation.show(session, card);
    else void this.#desk.navigation.showCall(session, call);
  }

  /** The newest error before a position; the newest of all where there is none before it. */
  async #findError(session: string, from: number | null): Promise<Place | null> {
    const loaded = this.#entries(session).flatMap(errorOf);
    const before = async (seq: number | null): Promise<Place | null> => {
      const failed = await this.#desk.query({ type: 'failed_call', session, before: seq });
      const places = [...callPlace(failed.entry), ...loaded.filter((place) => seq === null || place.seq < seq)];
      return places.reduce<Place | null>((last, place) => (last && last.seq > place.seq ? last : place), null);
    };
    return (await before(from)) ?? (from === null ? null : await before(null));
  }

  async #findMessageBefore(session: string, from: number | null): Promise<Place | null> {
    const page = this.#desk.page(session);
    const known = this.#entries(session).findLast((entry) => isMessage(entry) && (from === null || entry.seq < from));
    if (known) return messagePlace(known);
    let before = Math.min(from ?? Number.POSITIVE_INFINITY, page?.entries[0]?.seq ?? Number.POSITIVE_INFINITY);
    for (let more = page?.older ?? false; more;) {
      const answer = await this.#desk.query({ type: 'transcript', session, before, limit: ENTRIES });
      const found = answer.entries.findLast(isMessage);
      if (found) return messagePlace(found);
      before = answer.entries[0]?.seq ?? 0;
      more = answer.more && answer.entries.length > 0;
    }
    return null;
  }

  async #findMessageAfter(session: string, after: number | null): Promise<Place | null> {
    if (after === null) return null;
    const page = this.#desk.page(session);
    const known = this.#entries(session).find((entry) => isMessage(entry) && entry.seq > after);
    if (known) return messagePlace(known);
    let from = Math.max(after, page?.entries.at(-1)?.seq ?? 0) + 1;
    for (let more = page?.newer ?? false; more;) {
      const answer = await this.#desk.query({ type: 'transcript_from', session, from, limit: ENTRIES });
      const found = answer.entries.find(isMessage);
      if (found) return messagePlace(found);
      from = (answer.entries.at(-1)?.seq ?? from) + 1;
      more = answer.more && answer.entries.length > 0;
    }
    return null;
  }

  /** The entries that are loaded. */
  #entries(session: string): readonly Entry[] {
    return this.#desk.page(session)?.entries ?? [];
  }

  #tellNone(words: string): void {
    this.#desk.announced = words;
    this.#desk.toasts.add({ icon: 'info', ink: 'plain', title: words, brief: true });
  }
}

const none: Record<Exclude<Landmark, 'waiting_card'>, string> = {
  next_error: 'No error in this session.',
  previous_message: 'No earlier message of yours.',
  next_message: 'No later message of yours.',
};

const isMessage = ({ body }: Entry): boolean => body.type === 'person';

function messagePlace({ id, seq, body }: Entry): Place {
  const text = body.type === 'person' ? body.text.trim().replace(/\s+/g, ' ') : '';
  return { id, seq, words: `Your message: ${text.length > WORDS_MAX ? `${text.slice(0, WORDS_MAX)}…` : text}` };
}

function callPlace(entry: Entry | null): Place[] {
  if (entry?.body.type !== 'call') return [];
  const { title, target } = entry.body;
  return [{ id: entry.id, seq: entry.seq, words: `Error: ${title} ${target}`.trim() }];
}

/** An entry that is an error of its own; failed calls are found by the engine. */
function errorOf({ id, seq, body }: Entry): Place[] {
  if (body.type === 'agent' && body.error) return [{ id, seq, words: `Error: ${body.error.message}` }];
  if (body.type === 'notice' && body.level === 'error') return [{ id, seq, words: `Error: ${body.fault.message}` }];
  return [];
}
