// The schema of a waiting call's arguments, in the names that the call used. Pure.

import type { CallView, ToolView } from '../../../ipc/bindings';

/** The schema of the arguments; none where the tool is not there any more. Members have the names of the alias that was called. */
export function argumentSchema(tools: readonly ToolView[], { tool, call }: Pick<CallView, 'tool' | 'call'>): unknown {
  const record = tools.find((one) => one.record.identity.tool_id === tool)?.record;
  if (!record) return undefined;
  const alias = record.identity.aliases.find((one) => one.name === call.name);
  const names = new Map((alias?.arguments ?? []).map(([theirs, ours]) => [ours, theirs]));
  return names.size === 0 ? record.schemas.model_input_schema : renamed(record.schemas.model_input_schema, names);
}

function renamed(schema: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof schema !== 'object' || schema === null || !('properties' in schema)) return schema;
  const called = (name: string) => names.get(name) ?? name;
  const properties = Object.fromEntries(
    Object.entries(schema.properties as object).map(([name, member]) => [called(name), member as unknown]),
  );
  const required =
    'required' in schema && Array.isArray(schema.required) ? { required: schema.required.map(called) } : {};
  return { ...schema, properties, ...required };
}
