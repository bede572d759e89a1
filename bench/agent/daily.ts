import { setTimeout as sleep } from 'node:timers/promises';
import { flood } from '../../test/plugins/agent/load/support/flood.ts';
import { type NativeRig, startNativeRig } from '../../test/plugins/agent/load/support/native-rig.ts';
import { cpuOf } from '../../test/support/cpu-time.ts';
import { http } from '../../test/support/http.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Row, Table } from '../harness/bench.ts';
import { type Resident, residentOf } from './resident.ts';

const herd = 4_096;
const pods = 30;
const rate = { perSecond: 10_000, seconds: 10 };
const settleMs = 8_000;

/** What the agent itself costs on this machine, one stage of a node's day after the other. */
export async function measureAgent(say: (progress: string) => void): Promise<Table[]> {
  const rig = await startNativeRig({ pods });
  try {
    return await stages(rig, say);
  } finally {
    await rig.stop();
  }
}

async function stages(rig: NativeRig, say: (progress: string) => void): Promise<Table[]> {
  const { agent, operator } = rig;
  const rows: Row[] = [];
  const look = async (name: string) => {
    const [idle, began] = [cpuOf(agent.pid), performance.now()];
    await sleep(settleMs);
    const cpu = (cpuOf(agent.pid) - idle) / ((performance.now() - began) / 1_000);
    rows.push(memoryRow(name, residentOf(agent.pid), cpu));
    say(name);
  };
  await look('operator connected, 30 pods followed');
  const place = await rig.place();
  await place.protect();
  const parent = await place.start(rig.bypass, ['herd', '--wait', '--count', String(herd)]);
  await parent.next();
  parent.send('');
  const { pids } = await parent.next<{ pids: number[] }>();
  await look(`the same with ${herd} protected processes`);
  const toldBefore = operator.hitCount();
  const record = await flood(
    {
      pid: agent.pid,
      metrics: async () => (await http(`${agent.health}/metrics`)).text,
      output: agent.output,
    },
    { bypass: rig.bypass, pid: pids[0] as number, ...rate },
  );
  await waitFor('the operator to know', () => operator.hitCount() >= record.counted, { timeoutMs: 20_000 });
  await look(`the same after ${record.attempts} attempts`);
  return [
    {
      title: 'Memory of the agent',
      columns: ['resident MiB', 'anonymous', 'peak', 'CPU ms/s at rest'],
      rows: [...rows, { name: 'aim', cells: [112, undefined, 112, undefined] }],
    },
    {
      title: `Attempts, ${rate.perSecond} a second for ${rate.seconds} s`,
      columns: ['attempts', 'counted', 'told to the operator', 'lost', 'CPU ms/s'],
      rows: [
        {
          name: 'tier 3, natively',
          cells: [
            ...[record.attempts, record.counted, operator.hitCount() - toldBefore, record.lost],
            record.cpuMs / (record.milliseconds / 1_000),
          ],
        },
      ],
    },
  ];
}

function memoryRow(name: string, { all, own, peak }: Resident, cpu: number): Row {
  return { name, cells: [all, own, peak, cpu] };
}
