// Finds state that is written back across a wait: a field of `this` that gets what was read of the object before an `await`.
// Whatever changed the field while the function waited would be lost. Used by a test over the sources of the store.

import ts from 'typescript';

/** A write that may undo a change made during the wait. */
interface StaleWrite {
  line: number;
  text: string;
}

/** The stale writes of a source, in order. */
export function staleWrites(source: string): StaleWrite[] {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
  const found: StaleWrite[] = [];
  const visit = (node: ts.Node): void => {
    if (isWrite(node) && isStale(node)) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
      found.push({ line: line + 1, text: node.getText(file) });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** `this.x = …`, `this.#x ??= …`, `this.x.y = …`. */
function isWrite(node: ts.Node): node is ts.BinaryExpression {
  if (!ts.isBinaryExpression(node)) return false;
  const { kind } = node.operatorToken;
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment && readsThis(node.left);
}

function isStale(write: ts.BinaryExpression): boolean {
  return waitsAfterReading(write) || [...namesIn(write.right)].some((name) => isOutdated(name, write));
}

/** Whether one assignment reads of `this`, then waits, then writes: `this.x = f(this.x, await g())`, `this.x += await g()`. */
function waitsAfterReading(write: ts.BinaryExpression): boolean {
  const waits = collect(write.right, ts.isAwaitExpression);
  if (waits.length === 0) return false;
  if (write.operatorToken.kind !== ts.SyntaxKind.EqualsToken) return true;
  const reads = collect(write.right, isThis).filter((read) => !isCallee(read));
  return waits.some((wait) => reads.some((read) => read.end < wait.expression.pos));
}

/** Whether a name stands for something that was read of `this` before the last wait in front of the write. */
function isOutdated(name: ts.Identifier, write: ts.Node): boolean {
  const declared = declarationOf(name);
  if (!declared?.initializer || !readsState(declared.initializer, new Set())) return false;
  const scope = functionOf(write);
  // Written by a function that runs later than the one that read.
  if (scope !== functionOf(declared)) return true;
  const waits = collect(scope, ts.isAwaitExpression);
  return waits.some(
    (wait) => wait.pos > declared.initializer!.pos && wait.end <= write.pos && !contains(declared, wait),
  );
}

/** Whether an expression reads of `this` other than by waiting for an answer; through other names as well. */
function readsState(expression: ts.Node, seen: Set<ts.Node>): boolean {
  const awaited = collect(expression, ts.isAwaitExpression);
  const own = (node: ts.Node) => !awaited.some((wait) => contains(wait, node));
  if (collect(expression, isThis).some(own)) return true;
  return [...namesIn(expression)].filter(own).some((name) => {
    const declared = declarationOf(name);
    if (!declared?.initializer || seen.has(declared)) return false;
    return readsState(declared.initializer, seen.add(declared));
  });
}

const isThis = (node: ts.Node): node is ts.ThisExpression => node.kind === ts.SyntaxKind.ThisKeyword;
const readsThis = (node: ts.Node) => collect(node, isThis).length > 0;
const contains = (outer: ts.Node, inner: ts.Node) => outer.pos <= inner.pos && inner.end <= outer.end;

/** Whether a `this` only names the object whose method is called, as in `await this.host.ask()`. */
function isCallee(node: ts.Node): boolean {
  let at = node;
  while (ts.isPropertyAccessExpression(at.parent) && at.parent.expression === at) at = at.parent;
  return ts.isCallExpression(at.parent) && at.parent.expression === at && ts.isAwaitExpression(at.parent.parent);
}

/** The nodes of a kind in the same function, in order. */
function collect<Kind extends ts.Node>(root: ts.Node, is: (node: ts.Node) => node is Kind): Kind[] {
  const found: Kind[] = [];
  const visit = (node: ts.Node): void => {
    if (is(node)) found.push(node);
    if (node === root || !ts.isFunctionLike(node)) ts.forEachChild(node, visit);
  };
  visit(root);
  return found;
}

function namesIn(node: ts.Node): Set<ts.Identifier> {
  const isValue = (at: ts.Node): at is ts.Identifier =>
    ts.isIdentifier(at) &&
    !(ts.isPropertyAccessExpression(at.parent) && at.parent.name === at) &&
    !(ts.isPropertyAssignment(at.parent) && at.parent.name === at);
  return new Set(collect(node, isValue));
}

/** The variable that a name stands for, if the same source declares it in an enclosing block. */
function declarationOf(name: ts.Identifier): ts.VariableDeclaration | undefined {
  for (let at: ts.Node = name.parent; at; at = at.parent) {
    const statements = ts.isBlock(at) || ts.isSourceFile(at) ? at.statements : [];
    for (const statement of statements) {
      if (!ts.isVariableStatement(statement) || statement.pos > name.pos) continue;
      const found = statement.declarationList.declarations.find((one) => declares(one.name, name.text));
      if (found) return found;
    }
  }
  return undefined;
}

function declares(binding: ts.BindingName, name: string): boolean {
  if (ts.isIdentifier(binding)) return binding.text === name;
  return binding.elements.some((element) => ts.isBindingElement(element) && declares(element.name, name));
}

function functionOf(node: ts.Node): ts.Node {
  let at = node.parent;
  while (!ts.isFunctionLike(at) && !ts.isSourceFile(at)) at = at.parent;
  return at;
}
