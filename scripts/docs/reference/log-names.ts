import ts from 'typescript';
import { bare, nodesOf, type Source, sources } from './source-tree.ts';

interface Said {
  readonly name: string;
  readonly path: string;
}

/** Words that a name may end with, by what comes before them. */
type Endings = ReadonlyMap<string, readonly string[]>;

/**
 * The names that an expression may stand for, each with the file that says it: a text, a template that ends with one
 * of some words, a variable, or a parameter, whose callers say it.
 * @throws Error where it is not found which these are
 */
export function eventNames(event: ts.Expression, source: Source, endings: Endings): Said[] {
  const value = bare(event);
  if (ts.isStringLiteralLike(value)) return [{ name: value.text, path: source.path }];
  if (ts.isTemplateExpression(value)) return ofTemplate(value, source, endings);
  const names = ts.isIdentifier(value) ? ofIdentifier(value, source, endings) : [];
  if (names.length === 0) throw new Error(`${source.path}: which events can this be? ${event.getText()}`);
  return names;
}

/** A name that the file also says in full is written there, and not by the template. */
function ofTemplate(template: ts.TemplateExpression, source: Source, endings: Endings): Said[] {
  const { head } = template;
  const { path, tree } = source;
  if (head.text === '') return ofBeginning(template, source);
  const words = endings.get(head.text);
  if (words === undefined) throw new Error(`${path}: which words may come after ${head.text}?`);
  const names = words.map((word) => head.text + word);
  return names.filter((name) => !tree.text.includes(`'${name}'`)).map((name) => ({ name, path }));
}

/** A name that begins with a member of an object that callers give. @throws Error where no caller says it */
function ofBeginning({ templateSpans: [span] }: ts.TemplateExpression, source: Source): Said[] {
  const member = span?.expression.getText() ?? '';
  const maker = ts.findAncestor(span, (node) => ts.isFunctionDeclaration(node)) as ts.FunctionDeclaration;
  const names = callsOf(maker.name?.getText() ?? '', source).flatMap(({ call, from }) =>
    call.arguments
      .flatMap((given) => (ts.isObjectLiteralExpression(given) ? given.properties : []))
      .filter(ts.isPropertyAssignment)
      .filter(({ name, initializer }) => name.getText() === member && ts.isStringLiteral(initializer))
      .map(({ initializer }) => ({
        name: (initializer as ts.StringLiteral).text + span?.literal.text,
        path: from.path,
      })),
  );
  if (names.length === 0) throw new Error(`${source.path}: who calls with ${member}?`);
  return names;
}

function ofIdentifier(name: ts.Identifier, source: Source, endings: Endings): Said[] {
  const maker = ts.findAncestor(name, ts.isFunctionLike);
  const at = maker?.parameters.findIndex((parameter) => parameter.name.getText() === name.text) ?? -1;
  if (maker?.name === undefined || at < 0) return assigned(name, source);
  const called = maker.name.getText();
  return callsOf(called, source).flatMap(({ call, from }) => {
    const given = call.arguments[at];
    return given === undefined ? [] : eventNames(given, from, endings);
  });
}

/** The texts that a variable of the file is ever given. */
function assigned({ text }: ts.Identifier, { path, tree }: Source): Said[] {
  return nodesOf(tree).flatMap((node) => {
    const isFirst = ts.isVariableDeclaration(node) && node.name.getText() === text;
    const isLater = ts.isBinaryExpression(node) && node.left.getText() === text;
    const value = isFirst ? node.initializer : isLater ? node.right : undefined;
    return value !== undefined && ts.isStringLiteral(value) ? [{ name: value.text, path }] : [];
  });
}

/** In its own file, and in those that import it. */
function callsOf(name: string, home: Source): { call: ts.CallExpression; from: Source }[] {
  return sources()
    .filter((source) => source === home || imports(source, name))
    .flatMap((from) =>
      nodesOf(from.tree)
        .filter(ts.isCallExpression)
        .filter(({ expression }) => lastNameOf(expression) === name)
        .map((call) => ({ call, from })),
    );
}

const imports = ({ tree }: Source, name: string): boolean =>
  tree.statements
    .filter(ts.isImportDeclaration)
    .some((one) => nodesOf(one).some((node) => ts.isImportSpecifier(node) && node.name.text === name));

const lastNameOf = (callee: ts.Expression): string =>
  ts.isPropertyAccessExpression(callee) ? callee.name.text : callee.getText();
