import ts from 'typescript';
import { nodesOf } from './source-tree.ts';

/** What a name stands for: the initializer of its constant or parameter; undefined where that is not known. */
export function meaningOf(name: ts.Identifier): ts.Expression | undefined {
  let around: ts.Node = name;
  while (around.parent !== undefined) {
    around = around.parent;
    if (!ts.isFunctionLike(around) && !ts.isSourceFile(around)) continue;
    const declared = declarationIn(around, name.text);
    if (declared !== undefined) return declared.initializer;
  }
  return undefined;
}

function declarationIn(scope: ts.Node, name: string) {
  for (const node of nodesOf(scope)) {
    const declares = ts.isVariableDeclaration(node) || ts.isParameter(node);
    if (declares && node.name.getText() === name && scopeOf(node) === scope) return node;
  }
  return undefined;
}

const scopeOf = (node: ts.Node): ts.Node | undefined =>
  ts.findAncestor(node.parent, (one) => ts.isFunctionLike(one) || ts.isSourceFile(one));
