// The services of the recorded engine: one in each state that the screen shows, and the effects of a change.

import type { Answer, ApiSetup, ApiTool, ApiView, DisplaySpan, Op, PinState, ToolMode } from './bindings';
import { Refused } from './desk';

const plain = (text: string): DisplaySpan[] => (text === '' ? [] : [{ text, control: false }]);

/** How a service is reached, with nothing said that need not be. */
export const apiSetup = (document: string, more: Partial<ApiSetup> = {}): ApiSetup => ({
  document,
  follow_files: false,
  base_url: null,
  variables: {},
  headers: {},
  auth: {},
  tags: [],
  operations: [],
  paths: [],
  timeout_ms: 0,
  ...more,
});

/** An operation. */
export function operation(
  id: string,
  method: string,
  path: string,
  description: string,
  mode: ToolMode | null,
  pin: PinState = 'pinned',
  changes = '',
): ApiTool {
  return {
    id: pin === 'new' ? null : id,
    operation: plain(`${method} ${path}`),
    description: plain(description),
    mode,
    pin,
    changes: plain(changes),
  };
}
const CHANGED =
  '--- approved\n+++ now\n@@ -1,4 +1,4 @@\n {\n   "method": "POST",\n-  "title": "Orders something."\n+  "title": "Orders something, and sends your address along."\n }\n';

/** One in each state. */
const standing = (): ApiView[] => [
  {
    settings: {
      id: 'orders',
      setup: apiSetup('https://api.orders.example/openapi.json', {
        auth: { api_key: { type: 'token', token: 'keychain:orders-api_key' } },
        tags: ['orders'],
      }),
      enabled: true,
    },
    title: 'Orders 2.4',
    tools: [
      operation('orders__get_order', 'GET', '/orders/{id}', 'Tells of an order.', 'external'),
      operation('orders__create_order', 'POST', '/orders', 'Orders something.', null, 'changed', CHANGED),
      operation('orders__cancel_order', 'DELETE', '/orders/{id}', 'Cancels an order.', 'destructive'),
    ],
    left_out: ['`GET /orders/{id}/events` was left out: it answers with a stream.'],
    pending_digest: 'digest-orders',
  },
  {
    settings: {
      id: 'pets',
      setup: apiSetup('/home/mira/code/pets/openapi.yaml', { follow_files: true }),
      enabled: false,
    },
    title: null,
    tools: [],
    left_out: [],
    pending_digest: null,
  },
];

/** The services of a fake desk. */
export class FakeApis {
  all: ApiView[] = standing();
  fault: Extract<Answer, { type: 'apis' }>['fault'] = null;
  /** Documents that cannot be read: why, by the names of their services. */
  broken: Record<string, string> = {};

  answer(): Answer {
    return { type: 'apis', apis: structuredClone(this.all), fault: this.fault };
  }

  carryOut({ api: id, change }: Extract<Op, { type: 'change_api' }>): void {
    if (change.type === 'set') {
      const before = this.all.find((one) => one.settings.id === id);
      const next: ApiView = {
        settings: { id, setup: change.setup, enabled: false },
        title: null,
        tools: before?.tools ?? [],
        left_out: [],
        pending_digest: null,
      };
      this.all = [...this.all.filter((one) => one.settings.id !== id), next].sort((one, other) =>
        one.settings.id.localeCompare(other.settings.id),
      );
      return;
    }
    const api = this.all.find((one) => one.settings.id === id);
    if (!api) throw new Refused({ message: `There is no service \`${id}\`.`, hint: 'Look at the list.', context: [] });
    switch (change.type) {
      case 'remove':
        this.all = this.all.filter((one) => one !== api);
        return;
      case 'approve':
        if (api.pending_digest !== change.digest)
          throw new Refused({
            message: `The operations of \`${id}\` are not what was looked at, so nothing was approved.`,
            hint: 'Look at them again.',
            context: [],
          });
        api.tools = api.tools
          .filter((tool) => tool.pin !== 'gone')
          .map((tool) => ({ ...tool, pin: 'pinned', changes: [] }));
        api.pending_digest = null;
        return;
      case 'read':
        this.#read(api);
        return;
      case 'switch':
        if (change.enabled) this.#read(api);
        api.settings.enabled = change.enabled;
    }
  }

  #read(api: ApiView): void {
    const why = this.broken[api.settings.id];
    if (why !== undefined)
      throw new Refused({
        message: `The document of \`${api.settings.id}\` cannot be read: ${why}.`,
        hint: 'Correct it, then try again.',
        context: [],
      });
    api.title ??= 'Pets 1';
    if (api.tools.length === 0)
      api.tools = [operation(`${api.settings.id}__list`, 'GET', '/', 'Lists all.', 'external')];
  }
}
