import ts from 'typescript';
import { meaningOf } from './scope.ts';
import { bare, nodesOf, sources } from './source-tree.ts';

const unknown = '…';

/** The names of the members that an object has, written out or made by a function; … for what is not found. */
export function fieldsOf(expression: ts.Expression | undefined): readonly string[] {
  return expression === undefined ? [] : [...new Set(namesIn(bare(expression)))];
}

function namesIn(value: ts.Expression): readonly string[] {
  if (ts.isObjectLiteralExpression(value)) return value.properties.flatMap(ofMember);
  if (ts.isArrowFunction(value) && !ts.isBlock(value.body)) return fieldsOf(value.body);
  if (ts.isConditionalExpression(value)) return [value.whenTrue, value.whenFalse].flatMap(fieldsOf);
  if (ts.isBinaryExpression(value)) return fieldsOf(value.right);
  const made = ts.isIdentifier(value) ? meaningOf(value) : ts.isCallExpression(value) && resultOf(value);
  return made ? fieldsOf(made) : [unknown];
}

const ofMember = (member: ts.ObjectLiteralElementLike): readonly string[] =>
  ts.isSpreadAssignment(member) ? fieldsOf(member.expression) : [member.name.getText()];

/** What a function of the sources returns, where that is an object. */
function resultOf({ expression }: ts.CallExpression): ts.Expression | undefined {
  const name = expression.getText();
  for (const { tree } of sources()) {
    for (const statement of tree.statements) {
      if (ts.isFunctionDeclaration(statement) && statement.name?.text === name) return returned(statement);
    }
  }
  return undefined;
}

function returned(made: ts.FunctionDeclaration): ts.ObjectLiteralExpression | undefined {
  const results = nodesOf(made)
    .filter(ts.isReturnStatement)
    .flatMap(({ expression }) => (expression === undefined ? [] : bare(expression)));
  return results.find(ts.isObjectLiteralExpression);
}
