// The questions of servers, and their answers, in words. Pure.

import type { ServerAnswer, ServerRequestKind } from '../../../ipc/bindings';
import { plural } from '../../../widgets/figures';

/** "asks you for 3 facts." After the server's name. */
export function asksFor(wants: ServerRequestKind): string {
  switch (wants.type) {
    case 'form':
      return wants.fields.length === 0
        ? 'asks you to agree.'
        : `asks you to fill in ${plural(wants.fields.length, ['# field', '# fields'])}. What you send goes to it.`;
    case 'address':
      return 'asks you to open an address.';
    case 'model':
      return 'asks for the answer of a model. What it gets goes to it.';
  }
}

/** The button that says yes. */
export function yesWords(wants: ServerRequestKind, server: string): string {
  switch (wants.type) {
    case 'form':
      return `Send to ${server}`;
    case 'address':
      return 'I opened it';
    case 'model':
      return 'Allow once';
  }
}

/** Describes how a server's question was answered. `why` tells why nobody was asked or answered. */
export function answerWords(answer: ServerAnswer, why: string | undefined): string {
  switch (answer.type) {
    case 'filled':
      return Object.keys(answer.values).length === 0 ? 'You agreed.' : 'You sent:';
    case 'opened':
      return 'You said that you opened it.';
    case 'allowed':
      return 'You allowed it, once.';
    case 'declined':
      return why === undefined ? 'You declined.' : `It was declined: ${why}`;
    case 'dismissed':
      return why === undefined ? 'You dismissed it.' : `It was dismissed: ${why}`;
  }
}
