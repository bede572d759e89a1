import { startVersityGw } from '../test/support/versitygw.ts';
import type { Bench, Row, Table } from './harness/bench.ts';
import { type Contender, type Measured, measure, withoutKeyServer } from './proxy/contender.ts';
import { bareStore, rcloneCrypt, svcProxy } from './proxy/contenders.ts';

const kib = 1024;
const mib = 1024 * kib;
const bucket = 'bench';

interface Round {
  readonly title: string;
  readonly size: number;
  readonly requests: number;
  readonly objects: number;
  readonly clients: number;
}

const rounds: readonly Round[] = [
  { title: '4 KiB, 16 clients', size: 4 * kib, requests: 6000, objects: 1000, clients: 16 },
  { title: '64 MiB, 2 clients', size: 64 * mib, requests: 24, objects: 8, clients: 2 },
  { title: '1 GiB, 1 client', size: 1024 * mib, requests: 2, objects: 1, clients: 1 },
];

export const name = 'proxy-throughput';
export const summary = 'The proxy beside the bare store and rclone serve s3 over crypt';

export const run: Bench['run'] = async (say) => {
  const store = await startVersityGw({ keepAlive: true });
  await store.createBucket(bucket);
  const contenders: Contender[] = [];
  try {
    contenders.push(bareStore(store));
    contenders.push(await svcProxy(store));
    contenders.push(await svcProxy(store, ['--upstream-signing', 'unsigned']));
    contenders.push(await rcloneCrypt(store));
    const tables: Table[] = [];
    for (const round of rounds) tables.push(await table(round, contenders, say));
    return tables;
  } finally {
    for (const contender of contenders) await contender.stop();
    await store.stop();
  }
};

async function table(
  round: Round,
  contenders: readonly Contender[],
  say: (text: string) => void,
): Promise<Table> {
  const measured: { name: string; put: Measured; get: Measured }[] = [];
  for (const [index, contender] of contenders.entries()) {
    say(`${round.title}: ${contender.name}`);
    const work = { ...round, bucket, prefix: `${index}-${round.size}-` };
    await measure(contender, {
      ...work,
      method: 'PUT',
      requests: Math.min(round.requests, 2 * round.objects),
    });
    const put = await measure(contender, { ...work, method: 'PUT' });
    const get = await measure(contender, { ...work, method: 'GET' });
    measured.push({ name: contender.name, put, get });
  }
  const [bare] = measured;
  const rows = measured.map(({ name, put, get }) => row(round, name, put, get, bare ?? { put, get }));
  return { title: round.title, columns: columns(round), rows, notes: notes(round) };
}

const isSmall = ({ size }: Round) => size < mib;

function columns(round: Round): string[] {
  const cost = isSmall(round) ? 'CPU ms/request' : 'CPU s/GiB';
  const rate = isSmall(round) ? 'requests/s' : 'MiB/s';
  return [`PUT ${rate}`, `of bare`, cost, `GET ${rate}`, 'of bare', cost, 'peak MiB'];
}

function row(
  round: Round,
  name: string,
  put: Measured,
  get: Measured,
  bare: { put: Measured; get: Measured },
): Row {
  const cells = [put, get].flatMap((one, index) => {
    const reference = index === 0 ? bare.put : bare.get;
    return [rate(round, one), withoutKeyServer(reference) / withoutKeyServer(one), cost(round, one)];
  });
  return { name, cells: [...cells, get.peak] };
}

function rate(round: Round, { seconds }: Measured): number {
  return isSmall(round) ? round.requests / seconds : (round.requests * round.size) / mib / seconds;
}

function cost(round: Round, { cpu }: Measured): number {
  return isSmall(round)
    ? (cpu * 1000) / round.requests
    : cpu / ((round.requests * round.size) / (1024 * mib));
}

function notes(round: Round): string[] {
  const goal = isSmall(round)
    ? 'Goals: 0.55 of bare, PUT and GET; 0.40 ms CPU a request.'
    : 'Goals: PUT 0.9 and GET 0.45 of bare; 1.2 and 1.5 CPU-s/GiB.';
  return [
    goal,
    'Ratios to the bare store have the CPU time of the key server taken out; load, store and proxy share the cores.',
  ];
}
