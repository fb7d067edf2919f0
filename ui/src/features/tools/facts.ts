// The ten partitions of a tool's interface as tables: every fact with its name, its value in words, and whether it was
// stated.

import { msg } from '../../widgets/msg';
import type { ToolInterface } from '../../ipc/bindings';
import { bytes, count, duration, plural } from '../../widgets/figures';
import { asSchema } from '../../widgets/form/schema';

/** A value as it is shown: words, or names letter for letter. */
export type Shown =
  { as: 'words'; text: string } | { as: 'code'; items: readonly string[] } | { as: 'nothing'; text: string };

/** One fact. */
export interface Fact {
  /** As the record has it: `safety.is_read_only`. */
  id: string;
  label: string;
  shown: Shown;
  /** Whether the fact was inferred, as it was not stated. */
  inferred: boolean;
  /**
   * The rule that holds whatever this fact says, where Countersign only shows the fact for information; none where
   * Countersign acts on it.
   */
  instead: string | null;
}

/** One partition. */
interface Partition {
  id: PartitionId;
  title: string;
  facts: readonly Fact[];
}

/** The ten partitions of the record. */
type PartitionId = Exclude<keyof ToolInterface, 'requires' | 'origin' | 'inferred'>;

type Facts<P extends PartitionId> = {
  [F in keyof ToolInterface[P]]: readonly [label: string, words: (value: ToolInterface[P][F]) => Shown];
};

const words = (text: string): Shown => ({ as: 'words', text });
const nothing = (text: string): Shown => ({ as: 'nothing', text });
const text = (value: string): Shown => (value === '' ? nothing('none') : words(value));
const code = (value: string): Shown => (value === '' ? nothing('none') : { as: 'code', items: [value] });
const codes = (items: readonly string[]): Shown => (items.length === 0 ? nothing('none') : { as: 'code', items });
const clauses = (items: readonly string[]): Shown =>
  items.length === 0 ? nothing('nothing more') : words(items.join('; '));
const yes = (value: boolean): Shown => words(value ? 'yes' : 'no');
const plain = (value: string | null): Shown =>
  value === null ? nothing('not said') : words(value.replaceAll('_', ' '));
const schema = (value: unknown): Shown => {
  if (value === null || value === undefined) return nothing('no fixed shape');
  const members = Object.keys(asSchema(asSchema(value)['properties'])).length;
  return words(members === 0 ? 'see Schema' : `${plural(members, ['# member', '# members'])}, see Schema`);
};

/** Every fact of every partition: one that has no name here does not compile. */
const table: { [P in PartitionId]: { title: string; facts: Facts<P> } } = {
  identity: {
    title: 'What it is called',
    facts: {
      tool_id: ['Id', code],
      name: ['Name', code],
      aliases: ['Also called', (aliases) => codes(aliases.map((alias) => alias.name))],
      namespace: ['Namespace', (value) => (value === '' ? nothing('none, it is built in') : code(value))],
      native_ids: [
        'In other protocols',
        (ids) => codes(Object.entries(ids).map(([protocol, id]) => `${protocol}: ${id}`)),
      ],
      user_facing_name: ['On a card', text],
    },
  },
  discovery: {
    title: 'How it is found',
    facts: {
      search_hint: ['Found by', text],
      description: ['What the model reads', text],
      capability_refs: ['Capabilities', codes],
      schema_visibility: [
        'Who sees its schema',
        (value) => words({ model: 'the model', host: 'the host alone' }[value]),
      ],
      should_defer: ['Left out at first', (value) => words(value ? 'yes, to be searched for' : 'no')],
      always_load: ['Always in the catalogue', yes],
    },
  },
  schemas: {
    title: 'What goes in and comes out',
    facts: {
      model_input_schema: ['The model gives', schema],
      runtime_input_schema: ['The tool gets', schema],
      output_schema: ['It gives', schema],
      strict: ['Held while it is written', (value) => words(value ? 'yes, where the provider can' : 'no')],
    },
  },
  availability: {
    title: 'When it can be used',
    facts: {
      is_enabled: ['Switched on', yes],
      requires_setup: ['Has to be set up', yes],
      required_credentials: ['Credentials', codes],
      model_requirements: ['The model must know', codes],
      feature_gate_refs: ['Depends on', codes],
    },
  },
  validation: {
    title: 'What is checked before',
    facts: {
      schema_validation: ['Against the schema', yes],
      value_validation: ['Of the values', clauses],
      io_preflight_validation: ['Looked at first', clauses],
      deny_before_io: ['Denied before anything is touched', yes],
    },
  },
  safety: {
    title: 'What is safe about it',
    facts: {
      mode: ['Mode given', plain],
      kind: ['Kind', plain],
      is_read_only: ['Changes nothing', yes],
      is_destructive: ['Removes something', yes],
      is_open_world: ['Reaches further than can be listed', yes],
      requires_user_interaction: ['Needs a person', yes],
      is_concurrency_safe: ['May run beside others', yes],
      sandbox_profile: ['A sandbox would grant', plain],
      classifier_input: ['Judged by', code],
    },
  },
  permission: {
    title: 'How a call is permitted',
    facts: {
      permission_profile_ref: ['Where no rule speaks', code],
      permission_matcher: ['Rules match', plain],
      permission_channel: ['A person is asked by', plain],
      decision_ref: ['The decision is kept as', code],
    },
  },
  execution: {
    title: 'How it runs',
    facts: {
      execution_profile_ref: ['Carried out by', (value) => words(carriers[value] ?? value)],
      timeout_ms: ['Ends at the latest after', (value) => words(duration(Number(value)).replace(/ 0 s$/, ''))],
      abort_semantics: [
        'Stopping it',
        (value) =>
          words(
            {
              abandons: 'leaves it to itself',
              ends_at_next_step: 'ends it at its next step',
              whole_or_nothing: 'lets it finish or undoes it',
              kills_process_group: 'ends its processes',
            }[value],
          ),
      ],
      interrupt_behavior: [
        'When you steer',
        (value) => words({ block: 'it runs to its end', cancel: 'it is stopped' }[value]),
      ],
      progress_schema: [
        'Tells of progress',
        (value) => (value === null || value === undefined ? words('no') : words('yes')),
      ],
      context_modifier_policy: [
        'Changes what later calls find',
        (value) =>
          words(
            {
              forbid: 'never',
              allow_serial_only: 'only when it runs alone',
              defer_until_batch_complete: 'once all beside it are done',
            }[value],
          ),
      ],
    },
  },
  result: {
    title: 'What becomes of its result',
    facts: {
      result_mapper: ['Made into', code],
      max_inline_chars: ['The agent reads at most', (value) => words(bytes(Number(value)))],
      persistence_policy_ref: [
        'The rest',
        (value) =>
          words(
            { sidecar: 'is kept in a file beside the session', never: 'is not kept, it can be asked for again' }[
              value
            ] ?? value,
          ),
      ],
      empty_result_policy: [
        'Without text',
        (value) => words({ marker: 'the agent is told that there is none', never_empty: 'does not happen' }[value]),
      ],
      redaction_policy_refs: ['Taken out before it is stored', codes],
    },
  },
  rendering: {
    title: 'How it is shown',
    facts: {
      ui_summary: ['In a line', code],
      activity_description: ['While it runs', code],
      progress_render_hint: ['Progress', plain],
      rejected_render_hint: ['When rejected', plain],
      error_render_hint: ['When it fails', plain],
      transcript_search_text: ['Found in the record by', code],
    },
  },
};

const carriers: Record<string, string> = {
  engine: 'the app itself',
  process: msg('a program'),
  model: 'the model, within its answer',
  delegate: msg('a sub-agent'),
  server: msg('a server'),
  person: msg('you'),
};

/**
 * The facts that Countersign shows for information and does not act on, each with what holds whatever it says. `tests/house/informational_facts.rs`
 * keeps this list to what the engine and the cards read.
 */
const information: { readonly [fact: string]: string } = {
  'availability.required_credentials': 'A call that lacks one says so itself.',
  'availability.model_requirements': 'Every model is offered it.',
  'availability.feature_gate_refs': 'You switch it on and off on this page.',
  'validation.value_validation': 'The tool checks it by itself.',
  'validation.io_preflight_validation': 'The tool looks at it by itself.',
  'safety.sandbox_profile': 'What is closed to a command is the same for each, and is set in the settings.',
  'permission.permission_profile_ref': 'Where no rule speaks, the mode of the call does.',
  'permission.permission_matcher': 'Rules are matched with every command, path and host of a call.',
  'permission.permission_channel': 'Questions are asked by a form, everything else by a card.',
  'permission.decision_ref': 'Every decision is recorded with its call.',
  'execution.abort_semantics': 'Whatever it says, a call that is stopped is told to end, and is left when it does not.',
  'rendering.ui_summary': 'A card shows the name of the tool and what the call acts on.',
  'rendering.activity_description': 'A call that runs shows the same line, and for how long.',
  'rendering.progress_render_hint': 'Live output is shown as text.',
  'rendering.rejected_render_hint': 'A rejected call keeps what its card showed.',
  'rendering.error_render_hint': 'A failed call shows its error and its output.',
  'rendering.transcript_search_text': 'Search finds the arguments of every call.',
};

/** The partitions in their order, with every fact. */
export function partitions(record: ToolInterface): Partition[] {
  const inferred = new Set(record.inferred);
  return (Object.keys(table) as PartitionId[]).map((id) => partition(record, id, inferred));
}

function partition<P extends PartitionId>(record: ToolInterface, id: P, inferred: ReadonlySet<string>): Partition {
  const { title, facts } = table[id];
  const names = Object.keys(facts) as (keyof ToolInterface[P] & string)[];
  return {
    id,
    title,
    facts: names.map((name) => {
      const [label, show] = facts[name];
      const said = `${id}.${name}`;
      return {
        id: said,
        label,
        shown: show(record[id][name]),
        inferred: inferred.has(said),
        instead: information[said] ?? null,
      };
    }),
  };
}

/** How many facts were said, of how many, and how many are for information. */
export function saidWords(record: ToolInterface): string {
  const all = partitions(record).flatMap((one) => one.facts);
  const said = all.filter((fact) => !fact.inferred).length;
  const shown = all.filter((fact) => fact.instead !== null).length;
  return `${count(said)} of ${count(all.length)} facts were said; the rest was inferred, on the safe side. Countersign acts on ${count(all.length - shown)}; the ${count(shown)} that are marked are for information only.`;
}
