import ts from 'typescript';
import { accessOutcomes } from '../../../src/runtime/protocols/protection/bpf-layouts.ts';
import { textOf } from './expression-text.ts';
import { fieldsOf } from './log-fields.ts';
import { eventNames } from './log-names.ts';
import { nodesOf, type Source, sources, wordsOf } from './source-tree.ts';

const allLevels = ['debug', 'info', 'warn', 'error'] as const;

/** One place of the sources that writes an event. */
export interface LogEvent {
  readonly name: string;
  /** One, or those between which the place chooses. */
  readonly levels: readonly string[];
  /** Of the file that says the name. */
  readonly path: string;
  /** Names of its fields; … where the place does not say all of them. */
  readonly fields: readonly string[];
}

/** Words that a name may end with, by what comes before them. */
const endings: ReadonlyMap<string, readonly string[]> = new Map([
  ['hit.', accessOutcomes],
  ['proxy.vault.', wordsOf('src/keyserver/contract.ts', 'VaultFailure')],
]);

let all: readonly LogEvent[] | undefined;

/** What `log.<level>('<event>', {…})` writes anywhere; looked for once a process. */
export function logEvents(): readonly LogEvent[] {
  all ??= sources().flatMap((source) => nodesOf(source.tree).flatMap((node) => writtenBy(node, source)));
  return all;
}

function writtenBy(node: ts.Node, source: Source): LogEvent[] {
  if (!ts.isCallExpression(node)) return [];
  const [event, fields] = node.arguments;
  const levels = levelsOf(node.expression);
  if (event === undefined || levels.length === 0) return [];
  return eventNames(event, source, endings).map((said) => ({ ...said, levels, fields: fieldsOf(fields) }));
}

/** Of `log.warn` and of `log[level]`; empty where no log is called. */
function levelsOf(callee: ts.Expression): readonly string[] {
  if (ts.isPropertyAccessExpression(callee) && isLog(callee.expression)) return known([callee.name.text]);
  if (ts.isElementAccessExpression(callee) && isLog(callee.expression))
    return known(textOf(callee.argumentExpression)?.split(' / ') ?? []);
  return [];
}

/** `log`, `this.#log`, `limitedLog`, `log()`, `earlyLogger(env)`. */
const isLog = (expression: ts.Expression): boolean =>
  /(?:\blog|[a-z]Log|Logger\([^()]*\))(?:\(\))?$/.test(expression.getText());

const known = (words: readonly string[]): readonly string[] =>
  words.filter((word) => allLevels.some((level) => level === word));
