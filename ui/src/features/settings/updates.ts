// What is said of a newer version of the app, and the step that leads on from there. Pure.

import type { ReleaseView, UpdateMode, UpdateState, UpdateStep, UpdateWay } from '../../ipc/bindings';
import { bytes, date } from '../../widgets/figures';

/** What the app does by itself, as the setting offers it. */
export function modes(): { value: UpdateMode; text: string }[] {
  return [
    { value: 'off', text: 'Off' },
    { value: 'notify', text: 'Tell me' },
    { value: 'automatic', text: 'Automatic' },
  ];
}

/** What a mode does. */
export function aboutMode(mode: UpdateMode): string {
  switch (mode) {
    case 'off':
      return 'No server is asked until you check';
    case 'notify':
      return 'The server with the releases is asked at the start and once a day; you are told here, and nothing is downloaded';
    case 'automatic':
      return 'A newer version is downloaded as well, and installed when you quit; never while a call runs or waits';
  }
}

/** What updates a copy that does not update itself. */
export function aboutWay(way: Exclude<UpdateWay, 'app'>): string {
  switch (way) {
    case 'package_manager':
      return 'A package manager installed this copy, and updates it with your other packages';
    case 'sources':
      return 'This copy was built from source: update the source, and build it again';
    case 'no_key':
      return 'This build has no key to check newer versions with: install them by hand';
  }
}

/** What is known, in a line and the one below it. */
export function wordsOf(state: UpdateState): { title: string; hint: string } {
  switch (state.type) {
    case 'unknown':
      return { title: 'A newer version', hint: 'Not asked yet' };
    case 'checking':
      return { title: 'A newer version', hint: 'Asking the server with the releases…' };
    case 'newest':
      return { title: 'No newer version', hint: 'This is the newest one' };
    case 'available':
      return { title: nameOf(state.release), hint: released(state.release) };
    case 'downloading':
      return { title: nameOf(state.release), hint: progressOf(state) };
    case 'staged':
      return { title: nameOf(state.release), hint: 'Downloaded, and signed as it should be' };
    case 'installing':
      return { title: nameOf(state.release), hint: 'Being installed…' };
  }
}

const nameOf = ({ version }: ReleaseView): string => `Version ${version}`;

function released({ released_at: at }: ReleaseView): string {
  return at === null ? 'Not downloaded yet' : `Released on ${date(at)}, not downloaded yet`;
}

function progressOf({
  received_bytes: received,
  total_bytes: total,
}: Extract<UpdateState, { type: 'downloading' }>): string {
  return total === null ? `${bytes(received)} downloaded` : `${bytes(received)} of ${bytes(total)} downloaded`;
}

/** The step that leads on, and its label; none while one is being taken. */
export function nextStep(state: UpdateState): { step: UpdateStep; label: string } | null {
  switch (state.type) {
    case 'unknown':
    case 'newest':
      return { step: 'check', label: 'Check now' };
    case 'available':
      return { step: 'download', label: 'Download' };
    case 'staged':
      return { step: 'install', label: 'Install and restart' };
    case 'checking':
    case 'downloading':
    case 'installing':
      return null;
  }
}

/** The newer version that a state is about. */
export function releaseOf(state: UpdateState): ReleaseView | null {
  return 'release' in state ? state.release : null;
}
