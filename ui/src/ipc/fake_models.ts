// The model of a session and its effort, as the engine offers them and takes a choice.

import type { AgentOption, Effort, EventBody, SessionView } from './bindings';

const efforts: readonly Effort[] = ['low', 'medium', 'high'];

const upper = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/** Returns the options of a session; none where there is no other model. */
export function modelOptions({ model, effort }: SessionView, models: readonly string[]): AgentOption[] {
  if (models.length === 0) return [];
  const value = `${model.provider}/${model.model}`;
  const others = models.map((name) => ({ value: `openai/${name}`, name, description: 'OpenAI' }));
  const present = { value, name: model.model || model.provider };
  return [
    {
      id: 'model',
      name: 'Model',
      description: 'Answers from the next turn on',
      value,
      values: others.some((one) => one.value === value) ? others : [present, ...others],
    },
    {
      id: 'effort',
      name: 'Effort',
      description: 'How much the model reasons before it answers',
      value: effort ?? 'default',
      values: [
        { value: 'default', name: 'Default', description: 'As the model or its provider has it' },
        ...efforts.map((one) => ({ value: one, name: upper(one) })),
      ],
    },
  ];
}

/** Returns what is recorded of a choice. */
export function modelChange({ model, effort }: SessionView, option: string, value: string): EventBody {
  if (option === 'effort') {
    const chosen = efforts.find((one) => one === value);
    return { type: 'model_changed', model, ...(chosen && { effort: chosen }) };
  }
  const [provider = '', ...name] = value.split('/');
  return { type: 'model_changed', model: { provider, model: name.join('/') }, ...(effort && { effort }) };
}
