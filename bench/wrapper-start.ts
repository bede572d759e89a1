import { kvStore } from '../test/support/kv.ts';
import { startNodeAgent } from '../test/support/node-agent.ts';
import { startOpenBao } from '../test/support/openbao.ts';
import { temporaryFolder } from '../test/support/temporary.ts';
import type { Bench, Row } from './harness/bench.ts';
import { median } from './harness/median.ts';
import type { Starter } from './wrapper/contender.ts';
import { type BenchEnvironment, baoAgent, bare, tini, wrapper } from './wrapper/contenders.ts';
import { everyTwoSeconds, intervalMs, measureDelivery, tellsItsSecret } from './wrapper/delivery.ts';
import { measureStart, type Start } from './wrapper/measure.ts';
import { measurePasses, often } from './wrapper/passes.ts';
import { shippedFolder } from './wrapper/shipped-folder.ts';

const RUNS = 15;

export const name = 'wrapper-start';
export const summary =
  'What the wrapper costs: start, CPU, memory, beside none, tini and the agent of OpenBao';

export const run: Bench['run'] = async (say) => {
  const around = await surround();
  try {
    const starters = await contenders(around);
    say(`${RUNS} starts of each of ${starters.length}`);
    const rows = await measureAll(starters);
    const columns = [
      'start ms (median)',
      'most',
      'CPU ms',
      'private dirty MiB',
      'locked MiB',
      'resident MiB',
    ];
    const notes = [
      'Start: from before fork to the first output of /bin/sh -c date; TLS, Kubernetes login, mount and one path of OpenBao included.',
      'Where no Node stays, CPU is that of the main thread alone, memory that of svc-init and its health process.',
      'Aims: 60 ms above no wrapper (100 with the agent), never above 200; private dirty 10 MB for the shipped folder.',
    ];
    return [
      { title: 'Starting an application with secrets', columns, rows, notes },
      await passesOf(around, say),
      await deliveriesOf(around, say),
    ];
  } finally {
    await around.stop();
  }
};

const stays = { SVC_RESIDENT: 'true' };
const bothForms = (env: NodeJS.ProcessEnv): readonly (readonly [string, NodeJS.ProcessEnv])[] => [
  ['stays (SVC_RESIDENT=true)', { ...env, ...stays }],
  ['leaves', env],
];
const passesADay = (24 * 60) / 5;

/** What a renewal costs a wrapper that stays, and one that leaves in between. */
async function passesOf(around: BenchEnvironment, say: (text: string) => void) {
  const { entry } = around;
  say('renewals of a wrapper that stays, and of one that leaves');
  const rows: Row[] = [];
  for (const [title, env] of bothForms(often)) {
    const { cpu, peak } = await measurePasses(wrapper(around, title, { entry, env }));
    rows.push({ name: title, cells: [cpu, (cpu * passesADay) / 1000, peak / 1024] });
  }
  const columns = ['CPU ms a renewal', 'CPU s a day, every 5 minutes', 'resident MiB at most'];
  const notes = ['Ten renewals, a second apart, with a check of the secrets; of the shipped folder.'];
  return { title: 'Renewing', columns, rows, notes };
}

/** From a changed secret to the application that has it. */
async function deliveriesOf(around: BenchBed, say: (text: string) => void) {
  const { entry } = around;
  say('changed secrets');
  const rows: Row[] = [];
  for (const [title, env] of bothForms(everyTwoSeconds)) {
    const starter = wrapper(around, title, { entry, env, application: tellsItsSecret });
    const delays = await measureDelivery(starter, around.put);
    rows.push({
      name: title,
      cells: [median(delays), Math.max(...delays), Math.max(...delays) - intervalMs],
    });
  }
  const columns = ['ms, median', 'most', 'beyond the interval'];
  const notes = [
    'RENEWAL_INTERVAL 2 s, 20 changes at random moments, SVC_ROTATION=restart; of the shipped folder.',
  ];
  return { title: 'From a changed secret to its delivery', columns, rows, notes };
}

interface BenchBed extends BenchEnvironment {
  /** Stores another password. */
  put(password: string): Promise<unknown>;
  stop(): Promise<void>;
}

async function surround(): Promise<BenchBed> {
  const bao = await startOpenBao({ tls: true });
  const kv = await kvStore(bao);
  const put = (password: string) => kv.put('app', { PASSWORD: password, USER: 'app' });
  await put('a-password-of-the-benchmark');
  const auth = await bao.enableKubernetesAuth({ policies: [kv.policy], role: 'app' });
  const agent = await startNodeAgent();
  const folder = temporaryFolder('bench-wrapper');
  const shipped = shippedFolder();
  const stop = async () => {
    shipped.remove();
    await agent.stop();
    await bao.stop();
    await folder.remove();
  };
  return { bao, auth, agent, folder: folder.path, entry: shipped.entry, put, stop };
}

async function contenders(around: BenchEnvironment): Promise<Starter[]> {
  const { entry } = around;
  const exec = { env: { SVC_EXEC: 'true' }, stays: false };
  const agent = { env: { SVC_EBPF_AGENT_ADDR: around.agent.address, SVC_POD_UID: 'bench' } };
  return [
    bare(),
    await tini(),
    wrapper(around, `svc-wrapper, Node ${process.versions.node}`, {}),
    wrapper(around, 'svc-wrapper, shipped folder', { entry }),
    wrapper(around, 'the same, SVC_RESIDENT=true', { entry, env: stays }),
    wrapper(around, 'the same, SVC_EXEC=true', { entry, ...exec }),
    wrapper(around, 'the same, with a node agent', { entry, ...agent }),
    await baoAgent(around),
  ];
}

/** Takes turns, so that a busy moment of the machine meets everybody. */
async function measureAll(starters: readonly Starter[]): Promise<Row[]> {
  const starts = starters.map((): Start[] => []);
  for (const starter of starters) await measureStart(starter);
  for (let turn = 0; turn < RUNS; turn++) {
    for (const [index, starter] of starters.entries()) starts[index]?.push(await measureStart(starter));
  }
  return starters.map(({ name }, index) => row(name, starts[index] ?? []));
}

function row(name: string, starts: readonly Start[]): Row {
  const walls = starts.map(({ wall }) => wall);
  const memories = starts.flatMap(({ memory }) => memory ?? []);
  const mebibytes = (pick: (memory: (typeof memories)[number]) => number) =>
    memories.length === 0 ? undefined : median(memories.map(pick)) / 1024;
  return {
    name,
    cells: [
      median(walls),
      Math.max(...walls),
      median(starts.map(({ cpu }) => cpu)),
      mebibytes(({ privateDirty }) => privateDirty),
      mebibytes(({ locked }) => locked),
      mebibytes(({ resident }) => resident),
    ],
  };
}
