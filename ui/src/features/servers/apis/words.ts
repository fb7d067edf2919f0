// Services by their documents, in words. Pure.

import type { ApiTool, ApiView, ToolMode } from '../../../ipc/bindings';
import type { ShownState } from '../../../domain/states';
import type { Doing } from '../words';

/** Returns the state of a service, or the act under way on it. */
export function stateOf(api: ApiView, doing?: Doing): ShownState {
  if (doing === 'on' || doing === 'restart') return { icon: 'running', text: 'Reading its document', ink: 'running' };
  return api.settings.enabled ? { icon: 'done', text: 'On', ink: 'done' } : { icon: 'off', text: 'Off', ink: 'quiet' };
}

/** The operations that wait for a look. */
export function waitingOf(api: ApiView): ApiTool[] {
  return api.pending_digest === null ? [] : api.tools.filter((tool) => tool.pin === 'new' || tool.pin === 'changed');
}

/** How a call of an operation is treated. */
export function modeMeans(mode: ToolMode | null): string {
  switch (mode) {
    case 'external':
      return 'It only asks the service for something. Alone such a call runs, and is logged.';
    case 'destructive':
      return 'It removes something at the service, which cannot be undone from here. Such a call asks, and is held.';
    case null:
      return 'It changes something at the service. Such a call asks.';
    case 'read':
    case 'safe_write':
    case 'local':
      return 'Such a call is treated as any of its mode.';
  }
}

/** Tells whether a document is asked for at an address; else it is a file. */
export const isAddress = (document: string): boolean => /^https?:\/\//i.test(document.trim());
