import { messageOf } from '../../../core/errors.ts';
import { printable } from '../../../runtime/cli/report-text.ts';
import type { KubeClient, KubeObject } from '../../../runtime/kube/client.ts';
import { reflect } from '../../../runtime/kube/reflect.ts';
import { sleep, within } from '../../../runtime/lifecycle/wait.ts';
import { createLogger } from '../../../runtime/logging/create-logger.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { AuditCall, AuditTerms } from '../terms.ts';
import { type ClusterObjects, type Collection, collections, operatorState } from './collections.ts';
import { evaluate } from './evaluate.ts';
import { auditedNodes, type ClusterReport, clusterReport } from './report.ts';
import { createWatchView } from './watch-view.ts';

/** Changes are gathered for so long; and without any the operator may have come or gone. */
const settleMs = 1_000;
const lookMs = 15_000;

/**
 * Shows what changes until the signal is aborted, or until nobody reads it any more: then it resolves with the exit
 * status of what was known last. What was known stays while the API server is away.
 * @throws the signal's reason
 */
export async function watchCluster(
  client: KubeClient,
  first: ClusterReport,
  call: AuditCall,
  terms: AuditTerms,
  signal: AbortSignal,
): Promise<number> {
  const log = await createLogger({ component: 'audit', level: 'error' });
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, stop.signal]);
  let changed = Promise.withResolvers<void>();
  const onChange = () => changed.resolve();
  const cluster = followCluster(client, log, onChange, ended);
  const show = createWatchView(call, terms, () => stop.abort());
  let known: Known = { report: first };
  process.on('SIGWINCH', onChange);
  try {
    show(known.report);
    for (;;) {
      await within(changed.promise, performance.now() + lookMs, ended, () => undefined).catch(() => {});
      await sleep(settleMs, ended);
      changed = Promise.withResolvers<void>();
      known = await look(client, cluster, known, call, terms, ended);
      show(known.report, known.problem);
    }
  } catch (error) {
    // the terminal has written ^C, behind which a shell would go on
    if (signal.aborted && call.stdout.isTTY) call.stdout.write('\n');
    if (signal.aborted || !stop.signal.aborted) throw error;
    return known.report.outcome.exitStatus;
  } finally {
    process.off('SIGWINCH', onChange);
    stop.abort();
    await cluster.closed;
  }
}

interface Known {
  readonly report: ClusterReport;
  /** Why it is not newer, as a sentence. */
  readonly problem?: string;
}

async function look(
  client: KubeClient,
  cluster: FollowedCluster,
  before: Known,
  { flags }: AuditCall,
  terms: AuditTerms,
  signal: AbortSignal,
): Promise<Known> {
  const own = flags['operator-namespace'];
  const now = Date.now();
  const operator = await operatorState(client, own, signal, now).catch(messageOf);
  signal.throwIfAborted();
  if (typeof operator === 'string') {
    const since = new Date(now).toISOString();
    return { problem: `Nothing newer is known since ${since}: ${printable(operator)}.`, ...before };
  }
  if (!cluster.synced) return { report: before.report };
  const found = {
    workloads: evaluate(cluster.objects, operator, own),
    nodes: auditedNodes(cluster.objects, operator, flags.namespace),
  };
  return { report: clusterReport(client.server, found, flags, terms) };
}

/** What is known of the cluster now, following the API server until the signal is aborted. */
interface FollowedCluster {
  readonly objects: ClusterObjects;
  /** Everything that a cluster must have was listed. */
  readonly synced: boolean;
  readonly closed: Promise<void>;
}

function followCluster(
  client: KubeClient,
  log: Logger,
  onChange: () => void,
  signal: AbortSignal,
): FollowedCluster {
  const all = Object.entries<unknown>(collections()) as [string, Collection<KubeObject, unknown>][];
  const handlers = { onAdd: onChange, onChange, onDelete: onChange, onListed: onChange };
  const followed = all.map(([name, { path, project, optional = false }]) => {
    const reflector = reflect({ client, log, signal, path, project, ...handlers });
    return { name, optional, reflector };
  });
  const needed = followed.filter(({ optional }) => !optional);
  return {
    objects: Object.fromEntries(
      followed.map(({ name, reflector }) => [name, reflector]),
    ) as unknown as ClusterObjects,
    get synced() {
      return needed.every(({ reflector }) => reflector.synced);
    },
    closed: Promise.all(followed.map(({ reflector }) => reflector.closed)).then(() => {}),
  };
}
