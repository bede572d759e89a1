import ts from 'typescript';
import { checkStatus } from '../../../src/core/check-outcome.ts';
import { exitStatus } from '../../../src/core/errors.ts';
import { programStatus } from '../../../src/runtime/native/spawn.ts';
import type { Terms } from './expression-text.ts';
import { meaningOf } from './scope.ts';
import { bare } from './source-tree.ts';

const named: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  exitStatus,
  checkStatus,
  programStatus,
};

/** The exit status that an expression amounts to; undefined where the sources do not say it. */
export function statusOf(
  expression: ts.Expression | undefined,
  given: Terms = new Map(),
): number | undefined {
  if (expression === undefined) return undefined;
  const value = bare(expression);
  if (ts.isNumericLiteral(value)) return Number(value.text);
  if (ts.isPropertyAccessExpression(value)) return named[value.expression.getText()]?.[value.name.text];
  if (ts.isBinaryExpression(value)) return statusOf(value.right, given);
  return ts.isIdentifier(value) ? statusOf(given.get(value.text) ?? meaningOf(value)) : undefined;
}
