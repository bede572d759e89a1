import ts from 'typescript';
import { exitStatus } from '../../../src/runtime/errors.ts';
import { programStatus } from '../../../src/runtime/native/spawn.ts';
import { checkStatus } from '../../../src/runtime/report/check-outcome.ts';
import type { Terms } from './expression-text.ts';
import { meaningOf } from './scope.ts';
import { bare } from './source-tree.ts';

const named: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  exitStatus,
  checkStatus,
  programStatus,
};

/** The exit statuses that an expression may amount to; none where the sources do not say it. */
export function statusesOf(
  expression: ts.Expression | undefined,
  given: Terms = new Map(),
): readonly number[] {
  if (expression === undefined) return [];
  const value = bare(expression);
  if (ts.isNumericLiteral(value)) return [Number(value.text)];
  if (ts.isPropertyAccessExpression(value))
    return [named[value.expression.getText()]?.[value.name.text] ?? []].flat();
  if (ts.isBinaryExpression(value)) return statusesOf(value.right, given);
  if (ts.isConditionalExpression(value))
    return [value.whenTrue, value.whenFalse].flatMap((branch) => statusesOf(branch, given));
  return ts.isIdentifier(value) ? statusesOf(given.get(value.text) ?? meaningOf(value)) : [];
}
