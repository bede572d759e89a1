import { readdirSync } from 'node:fs';
import { median } from '../../bench/harness/median.ts';
import { formatTable } from '../../bench/harness/table.ts';
import type { RegistrarPlace } from '../plugins/agent/bypass/driver/registrar-place.ts';
import { type NativeRig, startNativeRig } from '../plugins/agent/load/support/native-rig.ts';
import { sumOf } from '../plugins/agent/load/support/samples.ts';
import { makeEvents } from '../support/bypass/load.ts';
import { http } from '../support/http.ts';
import { residentMemory } from '../support/process-memory.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Part, Report } from './part.ts';
import { inMib } from './support/figures.ts';

const pods = 30;
const herd = 200;
const hitsASecond = 2_000;
/** What may be more at the end than after the first quarter. */
const memoryGrowth = 8 * 1024 ** 2;
const filesGrowth = 4;
/** The specification's request. */
const residentBound = 128 * 1024 ** 2;

interface ProcessSample {
  readonly resident: number;
  readonly files: number;
}

interface Soaked {
  readonly samples: ProcessSample[];
  attempts: number;
  registrations: number;
}

/** An agent to which processes come and go, register and are read, with an operator that goes away now and then. */
export const agentSoak: Part = {
  name: 'agent-soak',
  summary: 'the node agent under registrations, forks and hits: nothing lost, no growth',
  async run(report, { minutes }) {
    const rig = await startNativeRig({ pods });
    try {
      const soaked: Soaked = { samples: [], attempts: 0, registrations: 0 };
      const end = performance.now() + minutes * 60_000;
      while (performance.now() < end) await turn(rig, soaked);
      await judge(report, rig, soaked);
    } finally {
      await rig.stop();
    }
  },
};

async function turn(rig: NativeRig, soaked: Soaked): Promise<void> {
  const { agent, operator, bypass } = rig;
  const place = await rig.place();
  const refused = await place.protect();
  if (refused !== undefined) throw new Error(`A registration was refused: ${refused.message}`);
  soaked.registrations += 1;
  const pid = await growHerd(place, bypass);
  const away = soaked.registrations % 4 === 0;
  if (away) operator.down();
  const { attempts } = await makeEvents(bypass, pid, hitsASecond, 2);
  if (away) await operator.up();
  soaked.attempts += attempts;
  await place.end();
  soaked.samples.push(sampleOf(agent.pid));
}

async function growHerd(place: RegistrarPlace, bypass: string): Promise<number> {
  const parent = await place.start(bypass, ['herd', '--wait', '--count', String(herd)]);
  await parent.next();
  parent.send('');
  const { pids } = await parent.next<{ pids: number[] }>();
  return pids[0] as number;
}

const sampleOf = (pid: number): ProcessSample => ({
  resident: residentMemory(pid).now,
  files: readdirSync(`/proc/${pid}/fd`).length,
});

async function judge(report: Report, { agent, operator }: NativeRig, soaked: Soaked): Promise<void> {
  const { samples, attempts, registrations } = soaked;
  const [quarter, last] = [middle(samples, 0.25), middle(samples, 1)];
  const metrics = async () => (await http(`${agent.health}/metrics`)).text;
  await waitFor('the operator to know', () => operator.hitCount() >= attempts).catch(() => false);
  const counted = sumOf(await metrics(), 'svc_agent_hits_total');
  report.say(`${registrations} registrations, ${registrations * herd} forks, ${attempts} hits`);
  const cells = ({ resident, files }: ProcessSample) => [inMib(resident), files];
  const rows = [
    { name: 'first quarter', cells: cells(quarter) },
    { name: 'end', cells: cells(last) },
  ];
  report.say(formatTable({ title: 'The agent', columns: ['resident', 'descriptors'], rows }));
  report.check('every hit is counted', counted >= attempts, `${counted} of ${attempts}`);
  report.check('every counted hit is told', operator.hitCount() === counted, `${operator.hitCount()}`);
  const lost = sumOf(await metrics(), 'svc_agent_lost_total');
  report.check('nothing is lost', lost === 0, `${lost}`);
  const grown = last.resident - quarter.resident;
  report.check(`memory grows by at most ${inMib(memoryGrowth)}`, grown <= memoryGrowth, inMib(grown));
  report.check('descriptors do not grow', last.files - quarter.files <= filesGrowth);
  const { peak } = residentMemory(agent.pid);
  report.check(`it stays within ${inMib(residentBound)}`, peak <= residentBound, `peak ${inMib(peak)}`);
  const left = async () => Number(/^svc_agent_protected_processes (\d+)$/m.exec(await metrics())?.[1]);
  await waitFor('an empty table', async () => (await left()) === 0).catch(() => false);
  report.check('no process is left in the table', (await left()) === 0, `${await left()}`);
}

/** The middle values of a fifth of the samples that ends at `fraction` of them. */
function middle(samples: readonly ProcessSample[], fraction: number): ProcessSample {
  const end = Math.max(1, Math.ceil(samples.length * fraction));
  const some = samples.slice(Math.max(0, end - Math.ceil(samples.length / 5)), end);
  return {
    resident: median(some.map(({ resident }) => resident)),
    files: median(some.map(({ files }) => files)),
  };
}
