import { createCpuCgroup } from '../test/support/limit-cgroup.ts';
import { family } from '../test/support/process-memory.ts';
import type { Bench, Row } from './harness/bench.ts';
import { median } from './harness/median.ts';
import { type Contender, disturbance, type Measured, measure, middle } from './proxy/contender.ts';
import { bucket, startBed } from './proxy/contenders.ts';
import { startLoadProcess } from './proxy/load-process.ts';

export const name = 'proxy-workers';
export const summary =
  'What --workers 2 brings where a process of the proxy may take a quarter of a processor';

const rounds = 3;
const seconds = 3;
const quarter = 0.25;
const work = { bucket, prefix: 'workers-', size: 4096, objects: 300, clients: 32 };

interface Figures {
  readonly contender: Contender;
  readonly put: Measured[];
  readonly get: Measured[];
}

/**
 * Store, key server and load take most of a small machine, so that a second worker has nothing left to run on. Here each
 * process is held to a part of a processor, and what it cannot do shows.
 */
export const run: Bench['run'] = async (say) => {
  const [bed, load] = [await startBed(), startLoadProcess()];
  const cgroups: ReturnType<typeof createCpuCgroup>[] = [];
  try {
    const field: Figures[] = [];
    for (const contender of [await bed.start('svc'), await bed.start('svc, `--workers 2`')]) {
      say(`warm-up: ${contender.name}`);
      await measure(load, contender, { ...work, method: 'PUT', requests: 6000 });
      await measure(load, contender, { ...work, method: 'GET', requests: 6000 });
      for (const pid of family(contender.pid)) cgroups.push(createCpuCgroup(pid, quarter));
      field.push({ contender, put: [], get: [] });
    }
    for (let round = 1; round <= rounds; round += 1) {
      for (const { contender, put, get } of field) {
        say(`round ${round}: ${contender.name}`);
        put.push(await measure(load, contender, { ...work, method: 'PUT', seconds }));
        get.push(await measure(load, contender, { ...work, method: 'GET', seconds }));
      }
    }
    const [one] = field;
    return [
      {
        title: '4 KiB, 32 clients, each process held to a quarter of a processor',
        columns: ['PUT/s', 'of one', 'CPU ms', 'GET/s', 'of one', 'CPU ms', 'peak MiB'],
        rows: field.map((figures) => rowOf(figures, one as Figures)),
        notes: [`Medians of ${rounds} rounds in turns of ${seconds} s.`],
        disturbance: disturbance(field.flatMap(({ put, get }) => [...put, ...get])),
      },
    ];
  } finally {
    await load.stop();
    await bed.stop();
    for (const cgroup of cgroups) await cgroup.remove();
  }
};

const rate = ({ requests, seconds }: Measured) => requests / seconds;

function rowOf({ contender, put, get }: Figures, one: Figures): Row {
  const cells = (own: readonly Measured[], reference: readonly Measured[]) => [
    middle(own, rate),
    median(own.map((measured, round) => rate(measured) / rate(reference[round] as Measured))),
    middle(own, ({ cpu, requests }) => (cpu / requests) * 1000),
  ];
  const peak = Math.max(...[...put, ...get].map((measured) => measured.peak));
  return { name: contender.name, cells: [...cells(put, one.put), ...cells(get, one.get), peak] };
}
