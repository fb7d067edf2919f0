// Newer versions of the recorded app: what is known of one is set by whoever plays it.

import type { ReleaseView, UpdateState, UpdateStep, UpdateView } from './bindings';

/** A newer version with notes, as a release describes it. */
export const newerRelease: ReleaseView = {
  version: '0.2.0',
  released_at: Date.UTC(2026, 0, 31),
  notes: [
    '## Added',
    '',
    '- **Rules of a folder** can be compared with those of another one.',
    '- `countersign doctor` says what a sandbox may take. See [the manual](https://docs.example/doctor).',
    '',
    '## Fixed',
    '',
    '- A card whose file was moved meanwhile says so.',
  ].join('\n'),
};

export class FakeUpdates {
  /** The steps that were chosen. */
  readonly steps: UpdateStep[] = [];
  view: UpdateView = { version: '0.1.0', way: 'app', state: { type: 'unknown' }, fault: null };
  /** What becomes of a step. */
  onStep: (step: UpdateStep) => Promise<void> = () => Promise.resolve();
  #tell: (view: UpdateView) => void = () => {};

  watch(tell: (view: UpdateView) => void): Promise<void> {
    this.#tell = tell;
    tell(this.view);
    return Promise.resolve();
  }

  take(step: UpdateStep): Promise<void> {
    this.steps.push(step);
    return this.onStep(step);
  }

  /** Something becomes known. */
  set(state: UpdateState, more: Partial<UpdateView> = {}): void {
    this.view = { ...this.view, fault: null, ...more, state };
    this.#tell(this.view);
  }
}
