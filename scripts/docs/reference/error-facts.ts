import ts from 'typescript';
import { constructionsIn, optionOf } from './error-constructions.ts';
import { type Terms, textOf } from './expression-text.ts';
import { nodesOf, type Source, sources } from './source-tree.ts';
import { statusesOf } from './status-of.ts';

/** One place of the sources where an error of that code is made; what differs from time to time is …. */
export interface ErrorFact {
  readonly code: string;
  readonly message?: string | undefined;
  readonly nextStep?: string | undefined;
  /** None: that of a failure. */
  readonly statuses: readonly number[];
}

/** Errors whose code is written where they are made. Families with codes of a type are in error-families.ts. */
export function errorFacts(): readonly ErrorFact[] {
  return sources().flatMap((source) => [...constructed(source), ...failuresIn(source)]);
}

/** So many messages of one place are told one by one. */
const mostMessages = 4;

/** @throws Error where it is not found which codes a place can give */
function constructed({ path, tree }: Source): ErrorFact[] {
  return constructionsIn(tree).flatMap((made) => {
    const [code, message, options] = made.arguments ?? [];
    if (code === undefined || isCopy(code)) return [];
    const terms = [...callersOf(made), ...rowsOf(code)];
    const few = terms.length > 0 && (terms.length <= mostMessages || !ts.isStringLiteral(code));
    const facts = (few ? terms : [new Map()]).flatMap(
      (given: Terms) => factOf(code, message, options, given) ?? [],
    );
    if (facts.length === 0) throw new Error(`${path}: which codes can this have? ${made.getText()}`);
    return facts;
  });
}

function factOf(
  code: ts.Expression,
  message: ts.Expression | undefined,
  options: ts.Expression | undefined,
  given: Terms,
): ErrorFact | undefined {
  const name = ts.isIdentifier(code) ? given.get(code.text) : code;
  if (name === undefined || !ts.isStringLiteral(name)) return undefined;
  return {
    code: name.text,
    message: textOf(message, given),
    nextStep: textOf(optionOf(options, 'nextStep'), given),
    statuses: statusesOf(optionOf(options, 'exitStatus'), given),
  };
}

/** An error made anew from another one keeps its code: it is found where that one is made. */
function isCopy(code: ts.Expression): boolean {
  const isMember = (node: ts.Node) => ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent);
  return ts.isPropertyAccessExpression(code) || (ts.isIdentifier(code) && bindingsOf(code).some(isMember));
}

const bindingsOf = (name: ts.Identifier): ts.BindingElement[] =>
  nodesOf(functionAround(name)).filter(
    (node): node is ts.BindingElement => ts.isBindingElement(node) && node.name.getText() === name.text,
  );

const functionAround = (node: ts.Node): ts.Node =>
  ts.findAncestor(node, ts.isFunctionLike) ?? node.getSourceFile();

/** A function that is given what differs makes one for each call of it in its file. */
function callersOf(made: ts.Node): Terms[] {
  const maker = ts.findAncestor(made, ts.isFunctionLike);
  const names = maker?.parameters.map(({ name }) => name.getText()) ?? [];
  const called = maker && nameOf(maker);
  return nodesOf(made.getSourceFile())
    .filter(ts.isCallExpression)
    .filter(({ expression }) => called !== undefined && expression.getText() === called)
    .map((call) => new Map(names.map((name, at) => [name, call.arguments[at]])));
}

function nameOf(maker: ts.SignatureDeclaration): string | undefined {
  const { parent } = maker;
  return ts.isVariableDeclaration(parent) ? parent.name.getText() : maker.name?.getText();
}

/** `const [code, message, …] = …` takes them from one of the lists of the file that begin with a code. */
function rowsOf(code: ts.Expression): Terms[] {
  const [binding] = ts.isIdentifier(code) ? bindingsOf(code) : [];
  if (binding === undefined || !ts.isArrayBindingPattern(binding.parent)) return [];
  const names = binding.parent.elements.map((element) => element.getText());
  return nodesOf(code.getSourceFile())
    .filter(ts.isArrayLiteralExpression)
    .map(({ elements }) => new Map(names.map((name, at) => [name, elements[at]])));
}

/** `{ code: 'USAGE', nextStep: …, exitStatus: … }`: what a command makes of an error that is not ours. */
function failuresIn({ tree }: Source): ErrorFact[] {
  return nodesOf(tree)
    .filter(ts.isObjectLiteralExpression)
    .flatMap((object) => {
      const names = object.properties.map(({ name }) => name?.getText() ?? '');
      if (!['code', 'nextStep', 'exitStatus'].every((name) => names.includes(name))) return [];
      const code = optionOf(object, 'code');
      return (code && factOf(code, optionOf(object, 'message'), object, new Map())) ?? [];
    });
}
