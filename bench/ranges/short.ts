import { startRequestLog } from '../../test/support/request-log.ts';
import { startSvcProxy } from '../../test/support/svc-proxy.ts';
import type { Row, Table } from '../harness/bench.ts';
import { disturbance, type Measured, measure, middle, rateWithoutKeyServer } from '../proxy/contender.ts';
import { type Bed, bucket, type ContenderName } from '../proxy/contenders.ts';
import { type LoadProcess, startLoadProcess } from '../proxy/load-process.ts';

const mib = 1024 * 1024;
const size = 64 * mib;
const rangeBytes = 4096;
/** Across the border of two segments, the dearest place. */
const range = `bytes=${32 * mib - 100}-${32 * mib - 100 + rangeBytes - 1}`;
const rounds = 3;
const formats = { svc: '1', 'svc, `--format 2`': '2' } as const;

/** Of an object in one piece: short enough for many rounds, and in format 1 for the whole of it to be read each time. */
export async function shortTable(bed: Bed, say: (text: string) => void): Promise<Table> {
  const load = startLoadProcess();
  try {
    const bare = await measureRanges(bed, load, 'bare store', say);
    const rows: Row[] = [rowOf('bare store', bare, bare, rangeBytes)];
    const all = [...bare];
    for (const proxy of ['svc', 'svc, `--format 2`'] as const) {
      const measured = await measureRanges(bed, load, proxy, say);
      all.push(...measured);
      rows.push(rowOf(proxy, measured, bare, await bytesUpstream(bed, formats[proxy])));
    }
    const aim: Row = { name: 'aim, `--format 2`', cells: [2 * (65_536 + 16), 0.6, 0.5, undefined] };
    return {
      title: 'A range of 4 KiB out of 64 MiB in one piece, 16 clients',
      columns: [
        'bytes from the store, first read',
        'requests, of the bare store',
        'CPU ms a request',
        'peak MiB',
      ],
      rows: [...rows, aim],
      disturbance: disturbance(all),
    };
  } finally {
    await load.stop();
  }
}

async function measureRanges(
  bed: Bed,
  load: LoadProcess,
  contenderName: ContenderName,
  say: (text: string) => void,
): Promise<Measured[]> {
  say(`ranges, ${contenderName}`);
  const contender = await bed.start(contenderName);
  const objects = { bucket, prefix: `ranges-${contenderName.length}-`, objects: 1, size } as const;
  await measure(load, contender, { ...objects, method: 'PUT', requests: 1, clients: 1 });
  const ranges = { ...objects, method: 'GET', range, clients: 16 } as const;
  await measure(load, contender, { ...ranges, requests: 50 });
  const measured: Measured[] = [];
  for (let round = 0; round < rounds; round++)
    measured.push(await measure(load, contender, { ...ranges, seconds: 4 }));
  await contender.stop();
  return measured;
}

const rowOf = (label: string, own: readonly Measured[], bare: readonly Measured[], bytes: number): Row => ({
  name: label,
  cells: [
    bytes,
    middle(own, rateWithoutKeyServer) / middle(bare, rateWithoutKeyServer),
    middle(own, ({ cpu, requests }) => (cpu * 1000) / requests),
    middle(own, ({ peak }) => peak),
  ],
});

/** Of a proxy that has not read the object before. */
async function bytesUpstream(bed: Bed, format: '1' | '2'): Promise<number> {
  const log = await startRequestLog(bed.http.endpoint);
  const vault = { addr: bed.bao.url, token: await bed.bao.policyToken() };
  const upstream = { ...bed.http, endpoint: log.url };
  const proxy = await startSvcProxy({ upstream, vault, env: { SVC_PROXY_FORMAT: format } });
  try {
    const object = `${proxy.url}/${bucket}/ranges-once`;
    await fetch(object, { method: 'PUT', body: Buffer.alloc(size) });
    log.clear();
    const answer = await fetch(object, { headers: { range } });
    if (answer.status !== 206 || (await answer.arrayBuffer()).byteLength !== rangeBytes)
      throw new Error(`the range was answered ${answer.status}`);
    return log.fetchedBytes();
  } finally {
    await proxy.stop();
    await log.stop();
  }
}
