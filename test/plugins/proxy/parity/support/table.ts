import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ObjectStore } from '../../../../support/types.ts';

/** A request that has to be answered alike by the store and through the proxy. */
export interface Row {
  readonly method: string;
  /** Path and query, encoded; `{bucket}` and the other variables of a side are put in here, in lines and in the body. */
  readonly path: string;
  /** Header lines in order; a name may stand more than once. */
  readonly lines: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  readonly signed: boolean;
  /** As it stands in the table. */
  readonly text: string;
  /** Where the proxy answers otherwise on purpose, or the store otherwise than S3: what the proxy answers, by store. */
  readonly through: Partial<Record<ObjectStore['kind'], string>>;
}

const folder = join(import.meta.dirname, '../rows');

/**
 * The tables in `rows/`, by name. A line is a request: `[unsigned] METHOD path | name: value | > body`. One below it
 * that begins with `!` says what the proxy answers where that differs, `! versitygw 404 NoSuchKey: why`, of one store
 * or of all; `#` begins a comment, and `@ versitygw` says that a table is for that store alone, because others answer
 * what is wrong in words and codes of their own.
 */
export function readTables(kind: ObjectStore['kind']): ReadonlyMap<string, readonly Row[]> {
  const tables = readdirSync(folder)
    .sort()
    .map((name) => [name.replace(/\.txt$/, ''), readFileSync(join(folder, name), 'utf8')] as const);
  const wanted = tables.filter(([, text]) => (/^@ (\w+)$/m.exec(text)?.[1] ?? kind) === kind);
  return new Map(wanted.map(([name, text]) => [name, readRows(text)]));
}

function readRows(text: string): Row[] {
  const rows: Row[] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('!')) Object.assign((rows.at(-1) as Row).through, exception(line));
    else if (line !== '' && !/^[#@]/.test(line)) rows.push(readRow(line));
  }
  return rows;
}

function readRow(text: string): Row {
  const [request = '', ...fields] = text.split(' | ');
  const [, unsigned, method = '', path = ''] = /^(unsigned )?([A-Z]+) (\S+)$/.exec(request) ?? [];
  if (path === '') throw new Error(`no request: ${text}`);
  const [body = ''] = fields.filter((field) => field.startsWith('> '));
  const lines = fields.filter((field) => !field.startsWith('> ')).map(readLine);
  const unescaped = body.slice(2).replaceAll('\\r\\n', '\r\n');
  return { method, path, lines, body: unescaped, signed: unsigned === undefined, text, through: {} };
}

function readLine(field: string): readonly [string, string] {
  const colon = field.indexOf(':');
  return [field.slice(0, colon), field.slice(colon + 1)];
}

function exception(line: string): Row['through'] {
  const [, store, answer = '', why] =
    /^! (?:(minio|versitygw) )?(\d{3}(?: \w+)?)(?:: (.+))$/.exec(line) ?? [];
  if (why === undefined) throw new Error(`no reason: ${line}`);
  if (store !== undefined) return { [store]: answer };
  return { minio: answer, versitygw: answer };
}
