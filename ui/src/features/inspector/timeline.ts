// The timeline of a call, line by line, as a person reads it.

import type { Decision, DisplaySpan, Event, EventBody, GrantRequest, ServerAnswer } from '../../ipc/bindings';
import { bytes, duration, plural } from '../../widgets/figures';
import type { IconName } from '../../widgets/icons';
import { callStates } from '../../domain/states';
import { alwaysWords } from './trail';

/** One line. */
export interface Line {
  seq: number;
  at: number;
  icon: IconName;
  text: string;
  detail: string;
}

/** An answer with the rule that it made as well. */
function withRule(text: string, always: GrantRequest | undefined): string {
  return always ? `${text}, and ${alwaysWords(always)}` : text;
}

/** A decision in words. */
function decisionWords(decision: Decision): { icon: IconName; text: string; detail: string } {
  switch (decision.type) {
    case 'allow': {
      const text =
        decision.hunks === null
          ? 'You allowed it'
          : `You allowed ${plural(decision.hunks.length, ['# part', '# parts'])} of it`;
      return { icon: 'person', text: withRule(text, decision.always), detail: decision.note };
    }
    case 'reject': {
      const text = decision.stop ? 'You rejected it and stopped the turn' : 'You rejected it';
      return { icon: 'rejected', text: withRule(text, decision.always), detail: decision.note };
    }
    case 'answer':
      return {
        icon: 'person',
        text: 'You answered',
        detail: decision.answers.map((answer) => answer.join(', ')).join(' · '),
      };
    case 'skip':
      return { icon: 'person', text: 'You chose not to answer', detail: '' };
    case 'dry_run':
      return { icon: 'ghost', text: 'You asked for a dry run', detail: 'It shows what the call would change.' };
    case 'with_network':
      return { icon: 'ghost', text: 'You asked for a dry run with the network', detail: decision.hosts.join(', ') };
    case 'in_place':
      return { icon: 'play', text: 'You had it run in place', detail: decision.hosts.join(', ') };
    case 'edit':
      return { icon: 'edit', text: 'You changed the arguments', detail: '' };
  }
}

const answers: Record<ServerAnswer['type'], string> = {
  filled: 'The form was sent',
  opened: 'The address was opened',
  allowed: 'A model may answer it',
  declined: 'Declined',
  dismissed: 'Dismissed',
};

const plain = (spans: readonly DisplaySpan[]): string => spans.map(({ text }) => text).join('');

/** Returns the icon, text and detail of one event of a call. */
function words(body: EventBody): { icon: IconName; text: string; detail: string } {
  switch (body.type) {
    case 'call_proposed':
      return { icon: 'task', text: 'The agent asked for it', detail: body.reasoning ?? '' };
    case 'call_judged':
      return { icon: 'rules', text: `Judged: ${body.trail.verdict}`, detail: body.trail.lead };
    case 'call_imported':
      return {
        icon: 'history',
        text: body.forked_from ? 'Taken over from another session' : 'Read from the transcript of an agent',
        detail: 'It was not judged here.',
      };
    case 'call_waiting':
      return {
        icon: 'waiting',
        text: body.refreshed ? 'Needs approval, shown anew' : 'Needs approval',
        detail: body.refreshed ?? '',
      };
    case 'call_decided':
      return decisionWords(body.decision);
    case 'call_edited':
      return { icon: 'edit', text: 'The arguments are yours now', detail: Object.keys(body.arguments).join(', ') };
    case 'hook_answered':
      return {
        icon: 'rules',
        text: body.refused === null ? `${body.hook} let it go` : `${body.hook} kept it from running`,
        detail: body.refused ?? '',
      };
    case 'undo_prepared':
      return {
        icon: 'history',
        text: 'A copy was taken',
        detail: `${plural(body.entry.paths, ['# path', '# paths'])}, ${bytes(body.entry.bytes)}`,
      };
    case 'call_started':
      return { icon: 'play', text: 'Started', detail: '' };
    case 'call_output':
      return { icon: 'execute', text: 'Output', detail: bytes(new TextEncoder().encode(body.text).length) };
    case 'call_update':
      return {
        icon: 'execute',
        text: 'A piece of the result',
        detail: plural(body.content.length, ['# item', '# items']),
      };
    case 'server_request_received':
      return { icon: 'question', text: `${body.request.server} asks you`, detail: plain(body.request.message) };
    case 'server_request_answered':
      return { icon: 'question', text: answers[body.answer.type], detail: body.why ?? '' };
    case 'sampling_finished':
      return {
        icon: 'info',
        text: body.result.error === undefined ? `${body.result.model} answered it` : 'No model answered it',
        detail: body.result.error ?? '',
      };
    case 'state_written':
      return {
        icon: 'info',
        text: 'Kept in the session’s state',
        detail: body.instance ? `${body.path} of instance ${body.instance}` : body.path,
      };
    case 'call_progress':
      return { icon: 'info', text: body.text, detail: '' };
    case 'call_ended':
      return {
        icon: callStates[body.outcome.state].icon,
        text: `${callStates[body.outcome.state].text}, ${duration(body.outcome.duration_ms)}`,
        detail: body.outcome.message,
      };
    case 'undo_applied':
      return { icon: 'undone', text: 'Undone', detail: plural(body.paths, ['# path', '# paths']) };
    case 'redo_applied':
      return { icon: 'redo', text: 'Done again', detail: plural(body.paths, ['# path', '# paths']) };
    case 'notice_added':
      return { icon: 'info', text: body.notice.fault.message, detail: body.notice.fault.hint };
    default: {
      const other: Exclude<EventBody, { call: unknown }> = body;
      return { icon: 'info', text: other.type.replaceAll('_', ' '), detail: '' };
    }
  }
}

/** The lines of a call's events. Pieces of output that follow each other are one line. */
export function timeline(events: readonly Event[]): Line[] {
  const out: Line[] = [];
  let length = 0;
  let before: EventBody['type'] | null = null;
  for (const { seq, at, body } of events) {
    if (body.type === 'call_output') {
      length = (before === 'call_output' ? length : 0) + new TextEncoder().encode(body.text).length;
      if (before === 'call_output') out.pop();
    }
    const line = { seq, at, ...words(body) };
    out.push(body.type === 'call_output' ? { ...line, detail: bytes(length) } : line);
    before = body.type;
  }
  return out;
}
