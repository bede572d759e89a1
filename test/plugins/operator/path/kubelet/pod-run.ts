import type { Container, LifecycleHandler } from '../../../../../src/cluster/kube/pod.ts';
import { runCommand } from '../../../../support/run-command.ts';
import type { CommandResult } from '../../../../support/types.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { type ContainerRun, startContainer } from './container.ts';
import { environmentOf } from './environment.ts';
import { expand } from './expand.ts';
import type { NodeImage } from './oci-config.ts';
import type { PodFacts } from './pod-facts.ts';

/** Starts what a pod's container says, as the kubelet and its runtime put it together. */
export async function startFor(facts: PodFacts, container: Container): Promise<ContainerRun> {
  const { kube, pod, runc, images, cgroup, volumes, sandbox, hosts } = facts;
  const image = images.get(container.image ?? '');
  if (image === undefined) throw new Error(`${container.name}: there is no image ${container.image}`);
  const env = await environmentOf(kube, pod, container);
  return startContainer(runc, {
    ...{ pod, container, image, env, volumes, hosts, pause: sandbox.pid },
    args: commandLine(container, image, env),
    cgroup: `${cgroup}/${container.name}`,
  });
}

function commandLine(
  { command = [], args = [] }: Container,
  image: NodeImage,
  env: ReadonlyMap<string, string>,
): string[] {
  const [words, rest] = [command, args].map((list) => list.map((word) => expand(word, env))) as [
    string[],
    string[],
  ];
  if (words.length > 0) return [...words, ...rest];
  return [...(image.entrypoint ?? []), ...(rest.length > 0 ? rest : (image.cmd ?? []))];
}

/** One look of a probe, or a hook. Status 0 is success. */
export async function handle(
  facts: PodFacts,
  run: ContainerRun,
  { exec, httpGet }: LifecycleHandler,
): Promise<CommandResult> {
  if (exec?.command) return run.exec(exec.command);
  if (httpGet === undefined) throw new Error(`${run.name}: this kubelet does not know such a handler`);
  return get(facts, Number(httpGet.port), httpGet.path ?? '/');
}

/** Asks for a path at a port of the pod's address. */
export function get({ pod, sandbox, busybox }: PodFacts, port: number, path: string): Promise<CommandResult> {
  const url = `http://${pod.status?.podIP}:${port}${path}`;
  const enter = [`--net=/proc/${sandbox.pid}/ns/net`, busybox, 'wget', '-q', '-O', '-', url];
  return runCommand('nsenter', enter, '/');
}

/** Starts the init containers: each waits for the end of the one before it, or until a sidecar has started. */
export async function startInitContainers(
  facts: PodFacts,
  onStart: (run: ContainerRun) => void,
): Promise<void> {
  for (const container of facts.pod.spec.initContainers ?? []) {
    const run = await startFor(facts, container);
    onStart(run);
    if (container.restartPolicy === 'Always') await started(facts, run, container);
    else await succeeded(run);
  }
}

async function succeeded(run: ContainerRun): Promise<void> {
  const { code } = await run.exited;
  if (code !== 0) throw new Error(`init container ${run.name} ended with ${code}\n${run.output()}`);
}

async function started(facts: PodFacts, run: ContainerRun, { startupProbe }: Container): Promise<void> {
  if (startupProbe === undefined) return;
  const probe = async () => run.ended || (await handle(facts, run, startupProbe)).status === 0;
  await waitFor(`the start-up probe of ${run.name}`, probe, { details: run.output });
  if (run.ended) throw new Error(`sidecar ${run.name} ended\n${run.output()}`);
}
