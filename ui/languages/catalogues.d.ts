/** An entry of a catalogue. */
export interface Entry {
  msgid: string;
  msgid_plural: string;
  msgstr: string[];
  references: string[];
}
/** Returns the entries of a language's catalogue that the sources use. */
export function readCatalogue(language: string): Entry[];
/** Returns the English strings that a language's catalogue lacks. */
export function findMissing(language: string): string[];
/** Returns the languages whose catalogue has every string. */
export function findComplete(): string[];
/** Returns the strings of the sources, each once. */
export function readSources(): Promise<Set<string>>;
