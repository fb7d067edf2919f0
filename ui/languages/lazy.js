// Lets the tables of the modules follow the language.
//
// wuchale puts a call in place of every string. Within a function that is right: the call is made again and again, and asks
// the catalogue that is shown then. A table of a module is read once, before anybody could choose a language:
//
//   const looks = { done: { icon: 'check', text: 'Done' } };
//
// So the property that holds the string, and only that one, becomes a getter:
//
//   const looks = { done: { icon: 'check', get text() { return _w_runtime_(7); } } };
//
// A string that stands at the level of a module and in no property cannot follow, and is an error that says where.

import MagicString from 'magic-string';
import { parseScript } from 'wuchale/adapter-vanilla';

/** The call that wuchale puts in place of a string. */
const CALL = '_w_runtime_';
/** What the server of a person at work puts beside the strings of a module: their latest state. */
const LATEST = '_w_hmrUpdate_';
/** Nodes whose content runs when they are called, and not when the module is read. */
const FUNCTIONS = new Set(['ArrowFunctionExpression', 'FunctionExpression', 'FunctionDeclaration', 'ClassBody']);

/** Children of a node of the syntax tree. */
function childrenOf(node) {
  return Object.values(node)
    .flat()
    .filter((child) => child && typeof child.type === 'string');
}

/** Tells whether reading a node asks the catalogue at once. */
function asksAtOnce(node) {
  if (FUNCTIONS.has(node.type) || (node.type === 'Property' && node.kind === 'get')) return false;
  if (node.type === 'Identifier') return node.name === CALL;
  return childrenOf(node).some(asksAtOnce);
}

/** Finds the innermost properties of tables that ask the catalogue. */
function findProperties(node, found) {
  if (FUNCTIONS.has(node.type)) return;
  if (node.type === 'Property' && node.value && asksAtOnce(node.value)) {
    const before = found.length;
    findProperties(node.value, found);
    const inner = found.slice(before);
    // What is not within an inner property would still be read once.
    if (inner.length > 0 && !asksOutside(node.value, inner)) return;
    found.length = before;
    found.push(node);
    return;
  }
  for (const child of childrenOf(node)) findProperties(child, found);
}

/** Tells whether a node asks the catalogue outside of some properties. */
function asksOutside(node, properties) {
  if (properties.includes(node) || FUNCTIONS.has(node.type)) return false;
  if (node.type === 'Identifier') return node.name === CALL;
  return childrenOf(node).some((child) => asksOutside(child, properties));
}

/** Turns the properties of a module's tables into getters; a string that could not follow the language is an error. */
export function followLanguage(code, file) {
  const [program] = parseScript(code);
  const found = [];
  for (const node of program.body) findProperties(node, found);
  const stuck = program.body.find((node) => asksOutside(node, found));
  if (stuck) {
    const where = code.slice(stuck.start, stuck.end).split('\n')[0];
    throw new Error(
      `${file}: a string would be read once, and not follow the language. Make a function of it: ${where}`,
    );
  }
  const out = new MagicString(code);
  // Imports come first wherever they stand.
  const latest = program.body.find(({ declarations }) => declarations?.[0].id.name === LATEST);
  out.appendRight(latest?.end ?? 0, `\nconst ${CALL} = _w_load_('script');\n`);
  for (const { key, value, computed } of found) {
    const name = code.slice(key.start, key.end);
    out.update(key.start - (computed ? 1 : 0), value.start, `get ${computed ? `[${name}]` : name}() { return `);
    out.appendRight(value.end, '; }');
  }
  return { code: out.toString(), map: out.generateMap({ hires: true }) };
}
