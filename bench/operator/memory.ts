import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { http } from '../../test/support/http.ts';
import type { Kubernetes } from '../../test/support/kubernetes.ts';
import type { Replica } from '../../test/support/operator-cluster.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { residentOf } from '../agent/resident.ts';
import type { Row } from '../harness/bench.ts';
import { storm } from './storm.ts';

const settleMs = 20_000;

/** Resident memory of an operator now, its anonymous part, and the peak since the last call; in MiB. */
export function memoryRow(name: string, { pid }: Replica): Row {
  const { all, own, peak } = residentOf(pid);
  forgetPeak(pid);
  return { name, cells: [all, own, peak] };
}

/** Once nothing has happened for a while. */
export async function settledRow(name: string, replica: Replica): Promise<Row> {
  await sleep(settleMs);
  return memoryRow(name, replica);
}

/** While so many large reviews come at the same moment, with what became of them. */
export async function measureStorm(replica: Replica, pod: object, count: number): Promise<Row> {
  const { answered, others, seconds } = await storm(replica, pod, count);
  return memoryRow(
    `${count} large reviews at once: ${answered} answered, ${others} not, ${seconds.toFixed(1)} s`,
    replica,
  );
}

/** After an API server that was away: what it has forgotten of its past makes the operator list everything anew. */
export async function measureRelist(kubernetes: Kubernetes, replica: Replica): Promise<Row> {
  await kubernetes.pause();
  await kubernetes.resume();
  await waitFor('all watches', async () => (await connected(replica)).every((value) => value === 1), {
    timeoutMs: 120_000,
  });
  return memoryRow('everything listed again', replica);
}

async function connected({ started }: Replica): Promise<number[]> {
  const { text } = await http(`http://${started['metrics']}/metrics`);
  const values = [...text.matchAll(/^svc_cluster_watch_connected\{.*\} (\d)$/gm)];
  return values.map(([, value]) => Number(value));
}

/** The kernel counts the peak from now on (proc(5), clear_refs). */
function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
