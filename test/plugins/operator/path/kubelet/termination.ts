import { setTimeout as sleep } from 'node:timers/promises';
import type { Container } from '../../../../../src/cluster/kube/pod.ts';
import type { ContainerRun } from './container.ts';
import type { PodFacts } from './pod-facts.ts';
import { handle } from './pod-run.ts';

type Containers = ReadonlyMap<string, ContainerRun>;

/** Ordinary containers at the same time, then sidecars, the last one first. */
export async function endAll(facts: PodFacts, running: Containers): Promise<void> {
  const { containers, initContainers = [] } = facts.pod.spec;
  await Promise.all(containers.map((container) => end(facts, running, container)));
  for (const container of initContainers.toReversed()) {
    if (container.restartPolicy === 'Always') await end(facts, running, container);
  }
  await facts.sandbox.stop();
}

async function end(facts: PodFacts, running: Containers, container: Container): Promise<void> {
  const run = running.get(container.name);
  if (run === undefined || run.ended) return;
  const { preStop } = container.lifecycle ?? {};
  if (preStop !== undefined) await handle(facts, run, preStop);
  run.signal('SIGTERM');
  const over = new AbortController();
  const grace = (facts.pod.spec.terminationGracePeriodSeconds ?? 30) * 1_000;
  const timer = sleep(grace, undefined, { signal: over.signal }).then(
    () => run.signal('SIGKILL'),
    () => undefined,
  );
  await run.exited;
  over.abort();
  await timer;
}
