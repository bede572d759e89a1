import type { Bench, Row, Table } from './harness/bench.ts';
import { median } from './harness/median.ts';
import {
  type Contender,
  disturbance,
  type Measured,
  measure,
  middle,
  rateWithoutKeyServer,
} from './proxy/contender.ts';
import { bucket, type ContenderName, startBed } from './proxy/contenders.ts';
import { type LoadProcess, startLoadProcess } from './proxy/load-process.ts';

const kib = 1024;
const mib = 1024 * kib;
const gib = 1024 * mib;
const rounds = 3;

interface Size {
  readonly title: string;
  readonly bytes: number;
  readonly objects: number;
  readonly clients: number;
  /** Of each measurement, which ends with the last request begun in this time. */
  readonly seconds: number;
  readonly contenders: readonly ContenderName[];
  readonly aims: readonly Row[];
}

const both: readonly ContenderName[] = ['bare store', 'svc', 'bare store, https', 'svc, https upstream'];

const sizes: Readonly<Record<string, Size>> = {
  small: {
    ...{ title: '4 KiB, 16 clients', bytes: 4 * kib, objects: 1000, clients: 16, seconds: 2.5 },
    contenders: [
      ...both,
      'svc, `--format 2`',
      'svc, `--join-key-calls=false`',
      'svc, https upstream, `--join-key-calls=false`',
      'svc, `--workers 2`',
      'rclone serve s3 over crypt',
      'rclone serve s3 over crypt, https upstream',
    ],
    aims: [{ name: 'aim', cells: [undefined, 0.55, 0.32, undefined, 0.5, 0.3, 100] }],
  },
  medium: {
    ...{ title: '1 MiB, 4 clients', bytes: mib, objects: 64, clients: 4, seconds: 2.5 },
    contenders: [
      ...both,
      'svc, `--format 2`',
      'svc, `--join-key-calls=false`',
      'rclone serve s3 over crypt',
      'rclone serve s3 over crypt, https upstream',
    ],
    aims: [{ name: 'aim', cells: [undefined, undefined, 2.6, undefined, undefined, 1.5, 100] }],
  },
  large: {
    ...{ title: '64 MiB, 2 clients', bytes: 64 * mib, objects: 8, clients: 2, seconds: 2.5 },
    contenders: [
      ...both,
      'svc, `--format 2`',
      'svc, `--join-key-calls=false`',
      'svc, `--upstream-signing unsigned`',
      'rclone serve s3 over crypt',
      'rclone serve s3 over crypt, https upstream',
    ],
    aims: [
      { name: 'aim', cells: [undefined, undefined, 2.1, 763, undefined, 1.15, 100] },
      { name: 'aim, unsigned or https', cells: [undefined, undefined, 1.3] },
    ],
  },
  huge: {
    ...{ title: '1 GiB, 1 client', bytes: gib, objects: 1, clients: 1, seconds: 1 },
    contenders: [...both, 'svc, `--format 2`', 'rclone serve s3 over crypt'],
    aims: [],
  },
};

export const name = 'proxy-throughput';
export const summary = 'The proxy beside the bare store and rclone serve s3 over crypt';
export const parts = Object.keys(sizes);

export const run: Bench['run'] = async (say, chosen) => {
  const [bed, load] = [await startBed(), startLoadProcess()];
  try {
    const contenders = new Map<ContenderName, Contender>();
    const tables: Table[] = [];
    for (const part of chosen) {
      const size = sizes[part] as Size;
      for (const name of size.contenders)
        if (!contenders.has(name)) contenders.set(name, await bed.start(name));
      const field = size.contenders.map((name) => contenders.get(name) as Contender);
      tables.push(...tablesOf(size, await compete(size, field, load, (text) => say(`${part}: ${text}`))));
    }
    return tables;
  } finally {
    await load.stop();
    await bed.stop();
  }
};

interface Figures {
  readonly contender: Contender;
  /** A measurement a round. */
  readonly put: Measured[];
  readonly get: Measured[];
}

/** In each round everyone has a turn, so that a busy moment of the machine meets all. Before the first one all warm up. */
async function compete(
  size: Size,
  contenders: readonly Contender[],
  load: LoadProcess,
  say: (text: string) => void,
): Promise<Figures[]> {
  const field = contenders.map((contender): Figures => ({ contender, put: [], get: [] }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, { contender, put, get }] of field.entries()) {
      say(`${round === 0 ? 'warm-up' : `round ${round}`}: ${contender.name}`);
      const { bytes, objects, clients, seconds } = size;
      const work = { bucket, prefix: `${index}-${bytes}-`, size: bytes, objects, clients };
      if (round === 0) {
        await measure(load, contender, { ...work, method: 'PUT', requests: objects });
        await measure(load, contender, { ...work, method: 'GET', seconds: seconds / 2 });
        continue;
      }
      put.push(await measure(load, contender, { ...work, method: 'PUT', seconds }));
      get.push(await measure(load, contender, { ...work, method: 'GET', seconds }));
    }
  }
  return field;
}

function tablesOf(size: Size, field: readonly Figures[]): Table[] {
  const isSmall = size.bytes < mib;
  const [rate, cost] = isSmall ? ['/s', 'CPU ms'] : [' MiB/s', 'CPU-s/GiB'];
  const units = isSmall ? 1000 : gib / size.bytes;
  const bareOf = ({ tls }: Contender) =>
    field.find(({ contender }) => contender.store === undefined && contender.tls === tls) as Figures;
  const cellsOf = (own: readonly Measured[], bare: readonly Measured[]) => [
    middle(own, ({ requests, seconds }) => (requests / seconds) * (isSmall ? 1 : size.bytes / mib)),
    median(
      own.map((one, round) => rateWithoutKeyServer(one) / rateWithoutKeyServer(bare[round] as Measured)),
    ),
    middle(own, ({ cpu, requests }) => (cpu / requests) * units),
  ];
  const speed: Table = {
    title: size.title,
    columns: [`PUT${rate}`, 'of bare', cost, `GET${rate}`, 'of bare', cost, 'peak MiB'],
    rows: [
      ...field.map((figures) => {
        const { contender, put, get } = figures;
        const bare = bareOf(contender);
        const peak = Math.max(...[...put, ...get].map((one) => one.peak));
        return {
          name: contender.name,
          cells: [...cellsOf(put, bare.put), ...cellsOf(get, bare.get), peak],
        };
      }),
      ...size.aims,
    ],
  };
  const others = (own: readonly Measured[]) => [
    middle(own, ({ p50 }) => p50),
    middle(own, ({ p99 }) => p99),
    middle(own, ({ keyCpu, requests }) => (keyCpu / requests) * units),
    middle(own, ({ loadCpu, requests }) => (loadCpu / requests) * units),
  ];
  const around: Table = {
    title: `${size.title}: latency in ms, CPU of others`,
    columns: ['PUT', 'GET'].flatMap((method) => [
      `${method} p50`,
      'p99',
      `key server ${cost}`,
      `load ${cost}`,
    ]),
    rows: field.map(({ contender, put, get }) => ({
      name: contender.name,
      cells: [...others(put), ...others(get)],
    })),
    notes: [
      `Medians of ${rounds} rounds in turns of ${size.seconds} s. Ratios are to the bare store over the same protocol, the key server's CPU time taken out.`,
    ],
  };
  const quiet = disturbance(field.flatMap(({ put, get }) => [...put, ...get]));
  return [speed, around].map((table) => ({ ...table, disturbance: quiet }));
}
