import ts from 'typescript';
import { meaningOf } from './scope.ts';
import { bare } from './source-tree.ts';

/** What names of a function stand for at one of its calls. */
export type Terms = ReadonlyMap<string, ts.Expression | undefined>;

const unknown = '…';

/** The text that an expression amounts to, with … for what the sources do not say; undefined where that is all. */
export function textOf(expression: ts.Expression | undefined, given: Terms = new Map()): string | undefined {
  const text = expression && written(bare(expression), given).replace(/…(?:\s*…)+/g, unknown);
  return text === undefined || /^…?$/.test(text.trim()) ? undefined : text.replace(/\s+/g, ' ').trim();
}

function written(expression: ts.Expression, given: Terms): string {
  if (ts.isStringLiteralLike(expression)) return expression.text;
  if (ts.isTemplateExpression(expression)) return ofTemplate(expression, given);
  if (ts.isBinaryExpression(expression) && expression.operatorToken.kind === ts.SyntaxKind.PlusToken)
    return `${written(expression.left, given)}${written(expression.right, given)}`;
  if (ts.isConditionalExpression(expression))
    return either([expression.whenTrue, expression.whenFalse], given);
  if (ts.isIdentifier(expression)) return ofName(expression, given);
  if (ts.isElementAccessExpression(expression)) return ofTable(expression.expression, given);
  return unknown;
}

function ofTemplate({ head, templateSpans }: ts.TemplateExpression, given: Terms): string {
  const spans = templateSpans.map(({ expression, literal }) => {
    const inner = ts.isIdentifier(expression) ? ofName(expression, given) : unknown;
    return `${inner}${literal.text}`;
  });
  return `${head.text}${spans.join('')}`;
}

function ofName(name: ts.Identifier, given: Terms): string {
  const term = given.get(name.text);
  if (term !== undefined) return written(bare(term), new Map());
  const value = meaningOf(name);
  return value === undefined ? unknown : written(bare(value), given);
}

/** The texts of a table, such as `steps[reason]`. */
function ofTable(table: ts.Expression, given: Terms): string {
  const object = ts.isIdentifier(table) ? meaningOf(table) : undefined;
  if (object === undefined || !ts.isObjectLiteralExpression(bare(object))) return unknown;
  const { properties } = bare(object) as ts.ObjectLiteralExpression;
  return either(
    properties.filter(ts.isPropertyAssignment).map(({ initializer }) => initializer),
    given,
  );
}

function either(values: readonly ts.Expression[], given: Terms): string {
  const texts = new Set(values.map((value) => written(bare(value), given)));
  return texts.has(unknown) ? unknown : [...texts].join(' / ');
}
