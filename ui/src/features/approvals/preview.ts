// What a preview needs to be drawn where nothing can be decided: beside the card, in the inspector.

import type { CallView } from '../../ipc/bindings/CallView';
import { chosen } from './hunks';
import type { DiffArgs, FormArgs } from './parts';
import { appliedLeft, filesOf } from './words';

/** The arguments of both features, with every act left out. */
export function previewArgs(view: CallView): { diffArgs: DiffArgs; formArgs: FormArgs } {
  const files = filesOf(view.preview);
  const said = view.decision?.decision;
  const diffArgs: DiffArgs = {
    files,
    layout: 'unified',
    pick: chosen(files, appliedLeft(view)),
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
  return { diffArgs, formArgs };
}
