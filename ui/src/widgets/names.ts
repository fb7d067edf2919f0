// Names of code, such as `due_date` or `dueDate`, in words for people. Pure.

/** A name in words, and the name itself where the words do not tell it. */
export interface WordedName {
  words: string;
  /** None if the words are the name but for a capital. */
  code: string | null;
}

/** The name of a tool or member that was written for programs, with a remark of who has it: `send_message (chat)`. */
const CODE = /^([A-Za-z][A-Za-z0-9]*(?:[_.-][A-Za-z0-9]+)*)( \([^()]+\))?$/;

/** Puts a name in words: "Send message (chat)" for `send_message (chat)`. What is no name of code stays as it is. */
export function inWords(name: string): WordedName {
  const [, code, remark = ''] = CODE.exec(name) ?? [];
  if (code === undefined) return { words: name, code: null };
  const apart = code
    .replaceAll(/[_.-]+/g, ' ')
    .replaceAll(/([a-z0-9])([A-Z])/g, (_, before: string, after: string) => `${before} ${after.toLowerCase()}`);
  const words = apart.slice(0, 1).toUpperCase() + apart.slice(1);
  return { words: words + remark, code: words.toLowerCase() === code.toLowerCase() ? null : code };
}

/** What a member is called: by its title where it has one, else by its name in words. */
export function labelOf(name: string, title: string): WordedName {
  return title && title !== name ? { words: title, code: name } : inWords(name);
}
