// The verdict of a call, and the digest that its approval is bound to, in words.

import type { CallView, GrantRequest } from '../../ipc/bindings';
import { grantsIn, ruleWords } from '../../domain/rules';
import { openAsk } from '../../state/calls';
import { exact } from '../../widgets/figures';

/** The rule that an answer made as well: "`bash cargo update*` for this session". */
export function alwaysWords(always: GrantRequest): string {
  return `\`${ruleWords(always)}\` ${grantsIn[always.lasts]}`;
}

/** Describes the outcome of the verdict, in one or two sentences. */
export function verdictWords(view: CallView): string {
  const said = view.decision;
  if (view.state === 'waiting')
    return `Waiting since ${exact(openAsk(view)?.at ?? view.pending?.since ?? 0).slice(11)} for a person.`;
  if (said) {
    const at = exact(said.at).slice(11);
    switch (said.decision.type) {
      case 'allow':
        return said.decision.always
          ? `You allowed it, and ${alwaysWords(said.decision.always)} at ${at}.`
          : `You allowed it at ${at}.`;
      case 'reject':
        return said.decision.always
          ? `You rejected it, and ${alwaysWords(said.decision.always)} at ${at}.`
          : `You rejected it at ${at}.`;
      case 'answer':
        return `You answered at ${at}.`;
      case 'skip':
        return `You chose at ${at} not to answer.`;
      case 'edit':
        return `You changed the arguments at ${at}.`;
    }
  }
  switch (view.trail?.verdict) {
    case 'allow':
      return view.started_at === null
        ? 'It would run by itself.'
        : `It ran by itself at ${exact(view.started_at).slice(11)}.`;
    case 'deny':
      return 'It did not run. A denied call cannot be allowed from here.';
    case 'ask':
    case undefined:
      return view.state === 'expired' ? 'Nobody answered in time.' : 'It did not run.';
  }
}

/** A digest as a person compares it: "7c1e 09ab … 44f2". */
export function briefDigest(digest: string): string {
  return digest.length < 16 ? digest : `${digest.slice(0, 4)} ${digest.slice(4, 8)} … ${digest.slice(-4)}`;
}
