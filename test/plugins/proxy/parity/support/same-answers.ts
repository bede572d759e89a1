import { isDeepStrictEqual } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ObjectStore } from '../../../../support/types.ts';
import { type Parity, type Side, send, startParity, told } from './sides.ts';
import { type Row, readTables } from './table.ts';

/** A suite that sends each row of the tables to a store and through the proxy in front of it, and compares what they answer. */
export function sameAnswers(kind: ObjectStore['kind']): void {
  const test = suite(`answers of ${kind} and through the proxy`);
  let parity: Parity;
  test.before(async () => {
    parity = await startParity(kind);
  });
  test.after(() => parity?.stop());
  for (const [name, rows] of readTables(kind))
    test(`${name} (${rows.length} requests)`, async () => {
      const differences = [];
      for (const row of rows) differences.push(...(await compare(parity, kind, row)));
      assert.is(differences.join('\n'), '');
    });
  test.run();
}

async function compare({ store, proxy }: Parity, kind: ObjectStore['kind'], row: Row): Promise<string[]> {
  const ask = async (side: Side) => told(await send(side, row), kind);
  const [direct, through] = [await ask(store), await ask(proxy)];
  const expected = row.through[kind];
  if (expected === undefined && isDeepStrictEqual(direct, through)) return [];
  const [before, after] = [direct, through].map(({ status, code }) =>
    code ? `${status} ${code}` : `${status}`,
  );
  if (expected !== undefined && after === expected && !isDeepStrictEqual(direct, through)) return [];
  const which = expected === undefined ? '' : ` (expected ${expected}, in place of ${before})`;
  return [
    `${row.text}${which}`,
    `    store ${JSON.stringify(direct)}`,
    `    proxy ${JSON.stringify(through)}`,
  ];
}
