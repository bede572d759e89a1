import ts from 'typescript';
import { nodesOf, sources } from './source-tree.ts';

const name = /^[A-Z][A-Z0-9_]+$/;

/** Every variable that a source asks an environment for by its name, wherever it stands. */
export function variablesRead(): ReadonlySet<string> {
  const found = sources().flatMap(({ tree }) => nodesOf(tree).flatMap(namesIn));
  return new Set(found.filter((text) => name.test(text)));
}

function namesIn(node: ts.Node): string[] {
  if (ts.isElementAccessExpression(node) && isEnvironment(node.expression))
    return ts.isStringLiteral(node.argumentExpression) ? [node.argumentExpression.text] : [];
  if (ts.isPropertyAccessExpression(node) && isEnvironment(node.expression)) return [node.name.text];
  if (
    ts.isVariableDeclaration(node) &&
    ts.isObjectBindingPattern(node.name) &&
    isEnvironment(node.initializer)
  )
    return node.name.elements.map(({ propertyName, name: own }) => (propertyName ?? own).getText());
  return [];
}

const isEnvironment = (expression: ts.Node | undefined): boolean =>
  /(?:^|\.)(?:env|environment)\??$/.test(expression?.getText() ?? '');

/** All texts of the sources that look like names of variables. */
export function variablesNamed(): ReadonlySet<string> {
  const literals = sources().flatMap(({ tree }) => nodesOf(tree).filter(ts.isStringLiteralLike));
  return new Set(literals.map(({ text }) => text).filter((text) => name.test(text)));
}
