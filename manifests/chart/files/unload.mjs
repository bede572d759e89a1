// Runs before the release is uninstalled: has the DaemonSet svc-ebpf take the agents' programs off every node, and
// waits until it has. In place of the agent each pod then runs `svc run agent --unload` and idles until it is deleted.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const TOKEN = process.argv[2] ?? '/var/run/secrets/kubernetes.io/serviceaccount/token';
const LIMIT_MS = 240_000;
const INTERVAL_MS = 2_000;
const {
  KUBERNETES_SERVICE_HOST: host,
  KUBERNETES_SERVICE_PORT: port,
  POD_NAMESPACE: namespace,
} = process.env;
const address = host.includes(':') ? `[${host}]` : host;
const url = `https://${address}:${port}/apis/apps/v1/namespaces/${namespace}/daemonsets/svc-ebpf`;

async function request(method, body) {
  const answer = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${readFileSync(TOKEN, 'utf8').trim()}`,
      'content-type': 'application/merge-patch+json',
    },
    signal: AbortSignal.timeout(10_000),
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok)
    throw Object.assign(new Error(`${method} svc-ebpf: ${answer.status}`), { status: answer.status });
  return answer.json();
}

/** The pod with its agent as an init container that unloads, and one that does nothing. */
function unloading({ spec }) {
  const [agent] = spec.template.spec.containers;
  const { name, image, imagePullPolicy, resources, env, securityContext, volumeMounts } = agent;
  const same = { image, imagePullPolicy, resources };
  const idle = { ...same, name, command: ['node', '-e', 'setInterval(() => {}, 1e9)'] };
  const args = ['run', 'agent', '--unload'];
  const unload = { ...same, name: 'unload', args, env, securityContext, volumeMounts };
  return {
    spec: {
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } },
      template: {
        spec: {
          initContainers: [unload],
          containers: [idle],
        },
      },
    },
  };
}

function done({ metadata, status }) {
  const {
    observedGeneration,
    desiredNumberScheduled: desired,
    updatedNumberScheduled = 0,
    numberReady,
  } = status;
  return (
    observedGeneration >= metadata.generation && updatedNumberScheduled >= desired && numberReady >= desired
  );
}

/** What the API server does not answer in time is asked again. */
async function persistently(ask, until) {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (error.status === 404) return undefined;
      if (Date.now() > until) throw error;
    }
    await sleep(INTERVAL_MS);
  }
}

async function main() {
  const until = Date.now() + LIMIT_MS;
  const found = await persistently(() => request('GET'), until);
  if (found === undefined) return 'There is no DaemonSet svc-ebpf.';
  let current = await persistently(() => request('PATCH', unloading(found)), until);
  while (current !== undefined && !done(current)) {
    if (Date.now() > until) throw new Error(`Nodes did not follow: ${JSON.stringify(current.status)}`);
    await sleep(INTERVAL_MS);
    current = await persistently(() => request('GET'), until);
  }
  return `The programs are off ${current?.status.desiredNumberScheduled ?? 0} nodes.`;
}

try {
  process.stdout.write(`${await main()}\n`);
} catch (error) {
  process.stderr.write(`${error.message}. Next: helm uninstall --no-hooks goes on without.\n`);
  process.exitCode = 1;
}
