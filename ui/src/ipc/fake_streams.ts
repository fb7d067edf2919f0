// Streams of events for the recorded engine: read from a golden file, moved to now, or made to be long.

import type { Event, EventBody } from './bindings';

/** Reads a golden stream: one event on each line. */
export function parseStream(text: string): Event[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Event);
}

/** The same stream, its last event just now. */
export function untilNow(events: readonly Event[], now: number): Event[] {
  const shift = now - (events.at(-1)?.at ?? now);
  const later = (at: number) => at + shift;
  return events.map((event) => {
    const body = structuredClone(event.body);
    if (body.type === 'undo_prepared') body.entry.at = later(body.entry.at);
    if (body.type === 'call_waiting' && body.expires_at !== null) body.expires_at = later(body.expires_at);
    return { ...event, at: later(event.at), body };
  });
}

/** A session of so many entries. */
export function largeStream(entries: number): Event[] {
  const session = 'ses_large';
  const bodies: EventBody[] = [
    {
      type: 'session_opened',
      title: 'A long night',
      workspace: '/home/mira/code/tidemark',
      model: { provider: 'demo', model: '' },
    },
  ];
  for (let n = 1; n <= entries; n += 1) {
    const text = `Message ${n}. ${'It says a little more. '.repeat(n % 7)}`;
    bodies.push({ type: 'person_said', message: `msg_${n}`, text, steering: false });
  }
  return bodies.map((body, i) => ({ seq: i + 1, session, at: 1_763_700_000_000 + i * 1_000, body }));
}
