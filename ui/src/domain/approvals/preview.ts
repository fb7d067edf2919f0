// The arguments of a preview whose parts cannot be chosen: in the inspector, and on the card of several calls.

import type { CallState, CallView } from '../../ipc/bindings';
import { pickOf } from './hunks';
import type { DiffArgs, FormArgs } from './parts';
import { appliedLeft, filesOf } from './words';

/** The arguments of both features, with every act left out, and in full. */
export function previewArgs(view: CallView): { diffArgs: DiffArgs; formArgs: FormArgs; state: CallState; full: true } {
  const files = filesOf(view.preview);
  const said = view.decision?.decision;
  const diffArgs: DiffArgs = {
    files,
    layout: 'unified',
    pick: pickOf(view.preview, appliedLeft(view)),
    onput: null,
    onlayout: null,
    lines: null,
  };
  const formArgs: FormArgs = {
    id: view.call.id,
    questions: view.preview.type === 'form' ? view.preview.questions : [],
    step: 0,
    onstep: () => {},
    owner: false,
    busy: true,
    given: said?.type === 'answer' ? said.answers : null,
    waiting: false,
    onanswer: () => {},
    onskip: () => {},
    onlater: () => {},
  };
  return { diffArgs, formArgs, state: view.state, full: true };
}
