import { connect } from 'node:net';
import { concurrently } from '../../../runtime/lifecycle/wait.ts';
import { bareHost } from '../../../runtime/net/host-names.ts';
import { counted } from '../../../runtime/units.ts';
import {
  type Check,
  type CheckContext,
  type CheckFailure,
  type CheckResult,
  failed,
  notEvaluated,
  passed,
  Skipped,
  skipped,
} from '../check.ts';
import { askPod, askSample, problemOf } from '../cluster/ask-pod.ts';
import {
  assertInstalled,
  installedCheck,
  leaderOf,
  operatorMetrics,
  operatorOf,
  samplesOf,
  sumOf,
} from '../cluster/operator.ts';
import { protectedPodsOf, type SeenPod } from '../cluster/pods.ts';
import { capped } from '../cluster/read.ts';
import { checkOf, clusterCheck, storeCheck, vaultCheck } from '../make-check.ts';
import { toldOf } from './agent.ts';

const maxAsked = 100;
const atOnce = 16;

/** A check of the pods whose proxy can be asked. */
const proxiesCheck = checkOf('cluster', async (context) => {
  const { labelled } = await protectedPodsOf(context);
  const proxies = labelled.filter(({ running, proxyPort }) => running && proxyPort !== undefined);
  if (proxies.length === 0) throw new Skipped('No pod with the proxy runs');
  return proxies;
});

const proxiesToStore = proxiesCheck('SVC-NET-004', 'error', {
  timeoutMs: 60_000,
  title: 'Proxies reach the object store on 443 (requests of their callers have succeeded)',
  cause:
    'The policy svc-egress-…-store does not name the store, its address has changed, or the proxy has no credentials. Up to 100 proxies are asked for their counts of responses.',
  fix: "Set svc/proxy-upstream or AWS_REGION so that the policy knows the store, and read the proxy's log.",
  async run(proxies, context) {
    const found = await concurrently(proxies.slice(0, maxAsked), atOnce, (pod) => askProxy(context, pod));
    const [first] = found;
    if (first !== undefined && found.every(({ problem }) => problem !== undefined))
      return notEvaluated(`No proxy could be asked, such as ${first.key}: ${first.problem}`);
    const failures = found.flatMap(failuresOf);
    if (failures.length > 0) return failed(...capped(failures));
    const used = found.filter(({ succeeded }) => succeeded > 0);
    if (used.length > 0) return passed(counted(used.length, 'proxy', 'proxies'));
    return skipped('No proxy has answered a request yet');
  },
});

interface Asked {
  readonly key: string;
  readonly succeeded: number;
  readonly broken: number;
  /** Why the pod could not be asked. */
  readonly problem: string | undefined;
}

function failuresOf({ key: subject, succeeded, broken, problem }: Asked): readonly CheckFailure[] {
  if (problem !== undefined)
    return [{ subject, level: 'warning', message: `It could not be asked: ${problem}.` }];
  if (succeeded > 0 || broken === 0) return [];
  return [{ subject, message: `All of its ${broken} requests failed with 500 to 599.` }];
}

/** The proxy's successful and failed requests, from its metrics. */
async function askProxy(context: CheckContext, pod: SeenPod): Promise<Asked> {
  const answer = await askPod(context, pod, pod.proxyPort ?? 0, 'metrics');
  const samples = answer.kind === 'ok' ? samplesOf(answer.text, 'svc_proxy_requests_total') : [];
  const count = (first: string) =>
    samples
      .filter(({ labels }) => labels['status']?.startsWith(first))
      .reduce((sum, { value }) => sum + value, 0);
  return { key: pod.key, succeeded: count('2'), broken: count('5'), problem: problemOf(answer) };
}

const proxiesToSecretsServer = proxiesCheck('SVC-NET-005', 'error', {
  timeoutMs: 60_000,
  title: 'Proxies reach the secrets server on 443 (they are ready)',
  cause:
    'A network policy or firewall, the certificate of the secrets server, or a role that does not accept the proxy.',
  fix: 'Read the log of the proxy: it names what it could not reach, or who refused it.',
  run(proxies, context) {
    return askSample(context, proxies, {
      portOf: ({ proxyPort }) => proxyPort,
      path: 'readyz',
      otherwise: 'Its proxy is not ready: it has no session at the secrets server.',
      silent: 'Its proxy does not answer, and the pod is not ready.',
    });
  },
});

const podsToSecretsServer = clusterCheck('SVC-NET-001', 'error', {
  timeoutMs: 60_000,
  title: 'Application pods reach the secrets server on 443 (their wrappers have fetched secrets)',
  cause:
    'A network policy or firewall between the pods and the secrets server, its name or certificate, or a role that does not accept them. Up to three pods of each namespace are asked through the API server.',
  fix: 'Read the log of the pod: the wrapper names what it could not reach, or who refused it. svc netpol writes the policy that permits the connection.',
  async run(context) {
    const { labelled } = await protectedPodsOf(context);
    const pods = labelled.filter(({ running, wrapperPorts }) => running && wrapperPorts.length > 0);
    if (pods.length === 0) return skipped('No protected pod runs');
    return askSample(context, pods, {
      portOf: ({ wrapperPorts }) => wrapperPorts[0],
      path: 'healthz',
      otherwise: 'Its wrapper has not fetched its secrets.',
      silent: 'Its wrapper does not answer, and the pod is not ready.',
    });
  },
});

const agentsToOperator = clusterCheck('SVC-NET-006', 'error', {
  timeoutMs: 60_000,
  title: 'Agents reach the operator on 8199 (each of them reports)',
  cause:
    'A network policy or firewall on port 8199, or agents without the certificate in the Secret svc-agent-tls, which the operator makes, or without a token of their pod. An agent reports every 15 seconds. Each agent is asked whether the operator responds, and the operator how many agents report.',
  fix: 'See operator.* in the log of an agent, and node.* in that of the operator.',
  async run(context) {
    const [operator, agents] = await Promise.all([operatorOf(context), toldOf(context)]);
    if (operator === undefined || agents.length === 0) return skipped('There is no operator, or no agent');
    const unheard = agents
      .filter(({ facts }) => facts?.isHeard === false)
      .map(({ pod }) => ({
        subject: pod.node ?? pod.key,
        message: 'The operator does not answer its agent.',
      }));
    if (unheard.length > 0) return failed(...capped(unheard));
    // the operator's count includes agents that do not report their connection, or cannot be asked
    const heard = sumOf(await operatorMetrics(context), 'svc_nodes');
    if (heard === undefined) return notEvaluated('The operator does not say which agents report');
    if (heard >= agents.length) return passed(counted(heard, 'agent'));
    const message = `It gets reports from ${heard} of ${agents.length} running agents.`;
    return failed({ subject: `${operator.namespace}/${operator.name}`, message });
  },
});

const operatorToApiServer = clusterCheck('SVC-NET-002', 'error', {
  title: 'The operator reaches the API server (it renews its lease, or is ready)',
  cause:
    'networkPolicy.apiServer of the chart lists addresses or ports that are not those of the API server.',
  fix: 'Set networkPolicy.apiServer to the addresses and ports that kubectl get endpointslices kubernetes shows.',
  async run(context) {
    const [operator, leader] = await Promise.all([operatorOf(context), leaderOf(context)]);
    assertInstalled(operator);
    // a replica becomes ready only after listing the cluster through the API server
    if (leader === undefined ? operator.ready > 0 : leader.fresh) return passed();
    const message =
      leader === undefined
        ? 'No replica is ready, and none has written a lease.'
        : `No replica has renewed the lease since ${leader.renewTime || 'it was made'}.`;
    return failed({ subject: `${operator.namespace}/${operator.name}`, message });
  },
});

const metric = 'svc_image_lookups_total';

const operatorToRegistries = installedCheck('SVC-NET-003', 'warning', {
  title: 'The operator reaches image registries (it has looked images up)',
  cause:
    'networkPolicy.registries of the chart, a firewall, or a registry that wants a mirror or a pull secret. Only lookups since the leading replica started are known.',
  fix: 'See image.* in the log of the operator; set operator.registryMirrors, or svc/command in the pods.',
  async run(operator, context) {
    const page = await operatorMetrics(context);
    const count = (outcome: string) => sumOf(page, metric, { outcome }) ?? 0;
    const [found, broken] = [count('found'), count('failed') + count('stale')];
    if (found > 0) return passed(counted(found, 'look-up'));
    if (broken === 0) return skipped('The operator has not had to look an image up yet');
    const subject = `${operator.namespace}/${operator.name}`;
    return failed({ subject, message: `None of its ${broken} lookups got a usable answer.` });
  },
});

const secretsServerConnects = vaultCheck('SVC-NET-050', 'error', {
  title: 'The secrets server accepts connections from here',
  cause: 'DNS does not resolve its name here, nothing listens on the port, or a firewall is in between.',
  fix: 'Permit connections from application pods and proxies to the secrets server, on port 443 or that of VAULT_ADDR.',
  run: ({ address }, _context, signal) => tryConnection(address, signal),
});

const objectStoreConnects = storeCheck('SVC-NET-051', 'error', {
  title: 'The object store accepts connections from here',
  cause: 'DNS does not resolve its name here, nothing listens on the port, or a firewall is in between.',
  fix: 'Permit connections from proxies to the object store, on port 443 or that of --upstream.',
  run: async (context, signal) => tryConnection((await context.store()).address, signal),
});

const attemptMs = 5_000;

/** Opens a TCP connection from here, and closes it again. */
async function tryConnection(address: URL, signal: AbortSignal): Promise<CheckResult> {
  const subject = `${address.hostname}:${portOf(address)}`;
  const refusal = await refusalAt(address, signal);
  return refusal === undefined ? passed(subject) : failed({ subject, message: `No connection: ${refusal}.` });
}

/** @returns why there is no connection, such as ECONNREFUSED; undefined if there is one */
function refusalAt(url: URL, signal: AbortSignal): Promise<string | undefined> {
  const host = bareHost(url);
  return new Promise((resolve) => {
    const socket = connect({ host, port: portOf(url), timeout: attemptMs });
    const end = (refusal: string | undefined) => {
      socket.destroy();
      resolve(refusal);
    };
    socket.once('connect', () => end(undefined));
    socket.once('timeout', () => end('no answer in time'));
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    signal.addEventListener('abort', () => end('no answer in time'), { once: true });
  });
}

const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'https:' ? 443 : 80));

/** One check for each connection that the specification requires, judged by what the components report. */
const fromCluster: readonly Check[] = [
  podsToSecretsServer,
  operatorToApiServer,
  operatorToRegistries,
  proxiesToStore,
  proxiesToSecretsServer,
  agentsToOperator,
];

/** The last two: connections from where the command runs, with or without a cluster. */
export const connectivityChecks: readonly Check[] = [
  ...fromCluster,
  secretsServerConnects,
  objectStoreConnects,
];
