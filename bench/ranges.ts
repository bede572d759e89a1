import type { Bench, Table } from './harness/bench.ts';
import { startBed } from './proxy/contenders.ts';
import { hugeTable } from './ranges/huge.ts';
import { parquetTable } from './ranges/parquet.ts';
import { shortTable } from './ranges/short.ts';

export const name = 'ranges';
export const summary = 'What 4 KiB of 64 MiB and of 5 GiB cost, and a column of a Parquet file, by format';
export const parts = ['short', 'huge', 'parquet'];

export const run: Bench['run'] = async (say, chosen) => {
  const bed = await startBed();
  try {
    const tables: Table[] = [];
    if (chosen.includes('short')) tables.push(await shortTable(bed, say));
    if (chosen.includes('huge')) tables.push(await hugeTable(bed, say));
    if (chosen.includes('parquet')) tables.push(await parquetTable(bed, say));
    return tables;
  } finally {
    await bed.stop();
  }
};
