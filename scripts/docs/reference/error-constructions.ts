import ts from 'typescript';
import { meaningOf } from './scope.ts';
import { bare, nodesOf } from './source-tree.ts';

export type Construction = ts.NewExpression | ts.CallExpression;

/** `new SvcError(…)`, and `super(…)` of a class that has one code. */
export const constructionsIn = (tree: ts.SourceFile): readonly Construction[] =>
  nodesOf(tree).filter(isConstruction);

function isConstruction(node: ts.Node): node is Construction {
  if (ts.isNewExpression(node)) return node.expression.getText() === 'SvcError';
  if (!ts.isCallExpression(node) || node.expression.kind !== ts.SyntaxKind.SuperKeyword) return false;
  const [first] = node.arguments;
  return first !== undefined && ts.isStringLiteral(first) && /^[A-Z_]+$/.test(first.text);
}

/** A member of the options, written out where they are given or in the constant that they are. */
export function optionOf(options: ts.Node | undefined, name: string): ts.Expression | undefined {
  for (const node of options === undefined ? [] : nodesOf(options)) {
    if (ts.isPropertyAssignment(node) && node.name.getText() === name) return bare(node.initializer);
    if (ts.isShorthandPropertyAssignment(node) && node.name.text === name) return node.name;
    const constant = ts.isIdentifier(node) && isWhole(node) ? meaningOf(node) : undefined;
    if (constant !== undefined && ts.isObjectLiteralExpression(constant)) return optionOf(constant, name);
  }
  return undefined;
}

/** The options themselves, in one of the forms in which a constant is handed on. */
const isWhole = ({ parent }: ts.Identifier): boolean =>
  ts.isSpreadAssignment(parent) || ts.isConditionalExpression(parent) || ts.isCallOrNewExpression(parent);
