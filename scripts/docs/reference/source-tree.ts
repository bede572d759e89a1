import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** A file of src/, by its path from the root of the repository. */
export interface Source {
  readonly path: string;
  readonly tree: ts.SourceFile;
}

let all: readonly Source[] | undefined;

/** Every TypeScript file below src/, parsed once a process. */
export function sources(): readonly Source[] {
  all ??= readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => parsed(`src/${name}`));
  return all;
}

function parsed(path: string): Source {
  const text = readFileSync(root + path, 'utf8');
  return { path, tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) };
}

/** @throws Error where there is no such file any more */
export function sourceOf(path: string): Source {
  const source = sources().find((one) => one.path === path);
  if (source === undefined) throw new Error(`${path} is gone`);
  return source;
}

/** The node and all below it but tokens, in the order of the text. */
export function nodesOf(node: ts.Node): readonly ts.Node[] {
  const found: ts.Node[] = [];
  const take = (one: ts.Node) => {
    found.push(one);
    ts.forEachChild(one, take);
  };
  take(node);
  return found;
}

/** The initializer of `const <name>` of a file, without `as const` and `satisfies`. */
export function initializerOf(tree: ts.SourceFile, name: string): ts.Expression | undefined {
  for (const node of nodesOf(tree)) {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.name.text === name)
      return node.initializer && bare(node.initializer);
  }
  return undefined;
}

export function bare(expression: ts.Expression): ts.Expression {
  const wrapped =
    ts.isAsExpression(expression) ||
    ts.isSatisfiesExpression(expression) ||
    ts.isParenthesizedExpression(expression);
  return wrapped ? bare(expression.expression) : expression;
}

/** The members of `const <name> = {…}`. @throws Error where there is no such object any more */
export function membersOf(path: string, name: string): readonly ts.PropertyAssignment[] {
  const object = initializerOf(sourceOf(path).tree, name);
  if (object === undefined || !ts.isObjectLiteralExpression(object))
    throw new Error(`${path} has no object ${name}`);
  return object.properties.filter(ts.isPropertyAssignment);
}

/** The words of `type <name> = 'one' | 'two'`. @throws Error where there is no such type any more */
export function wordsOf(path: string, name: string): readonly string[] {
  const type = sourceOf(path).tree.statements.find(
    (one): one is ts.TypeAliasDeclaration => ts.isTypeAliasDeclaration(one) && one.name.text === name,
  );
  const words = type === undefined ? [] : nodesOf(type.type).filter(ts.isStringLiteral);
  if (words.length === 0) throw new Error(`${path} has no words ${name}`);
  return words.map(({ text }) => text);
}

/** What the comment before a node says, as one line. @throws Error where there is none */
export function documentationOf(node: ts.Node): string {
  const [comment] = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  const text = comment && ts.getTextOfJSDocComment(comment.comment);
  if (!text) throw new Error(`no comment says what ${node.getText()} is`);
  return text.replace(/\s+/g, ' ');
}
