import type { KubeClient } from '../../src/cluster/kube/client.ts';
import { http } from '../../test/support/http.ts';
import type { Replica } from '../../test/support/operator-cluster.ts';
import type { Row, Table } from '../harness/bench.ts';
import { quantile } from '../harness/quantile.ts';
import { type Buckets, bucketsIn, histogramQuantile, since } from './histogram.ts';
import { type Subject, unprotected } from './pods.ts';
import { createNamespace } from './populate.ts';
import { createWebhookCaller, reviewOf, type WebhookCaller } from './webhook-caller.ts';

/** Of its own: a pod without annotations is none of the webhook's there. */
const namespace = 'admission';
const histogram = 'svc_webhook_duration_seconds';
const rounds = 10;
const callsPerRound = 200;
const pairsPerRound = 40;

/** What one kind of pod took, in ms; a list holds a value a round. */
interface Times {
  readonly inside: readonly Spread[];
  readonly call: readonly Spread[];
  readonly without: readonly number[];
  readonly create: readonly number[];
}

interface Spread {
  readonly p50: number;
  readonly p99: number;
}

interface Rig {
  readonly client: KubeClient;
  readonly replica: Replica;
  readonly caller: WebhookCaller;
}

/** The webhook by itself, over a connection that is kept, and as part of creating a pod. */
export async function measureAdmission(
  client: KubeClient,
  replica: Replica,
  subjects: readonly Subject[],
  say: (progress: string) => void,
): Promise<Table[]> {
  const caller = createWebhookCaller(replica.started['webhook'] ?? '', await authority(client));
  const rig = { client, replica, caller };
  await createNamespace(client, namespace);
  try {
    const all = [];
    for (const subject of subjects) {
      say(`admission: ${subject.name}`);
      all.push({ name: subject.name, times: await measure(rig, subject) });
    }
    return [
      callTable(all.map(({ name, times }) => callRow(name, times))),
      createTable(all.map(({ name, times }) => createRow(name, times))),
    ];
  } finally {
    caller.close();
  }
}

/** PEM of the authority that the webhook's certificate is of. */
export async function authority(client: KubeClient): Promise<string> {
  const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/svc-operator';
  const { webhooks } = await client.request<{ webhooks: { clientConfig: { caBundle: string } }[] }>({ path });
  return Buffer.from(webhooks[0]?.clientConfig.caBundle ?? '', 'base64').toString();
}

async function measure(rig: Rig, { pod }: Subject): Promise<Times> {
  const review = reviewOf(await asAdmitted(rig.client, pod, namespace), namespace);
  for (let call = 0; call < callsPerRound; call++) await rig.caller.call(review);
  const times = {
    inside: [] as Spread[],
    call: [] as Spread[],
    without: [] as number[],
    create: [] as number[],
  };
  for (let round = 0; round < rounds; round++) {
    const { inside, call } = await callRound(rig, review);
    times.inside.push(inside);
    times.call.push(call);
    for (let pair = 0; pair < pairsPerRound; pair++) {
      times.without.push(await create(rig.client, unprotected(pod)));
      times.create.push(await create(rig.client, pod));
    }
  }
  return times;
}

async function callRound({ replica, caller }: Rig, review: string) {
  const before = await bucketsOf(replica);
  const calls: number[] = [];
  for (let call = 0; call < callsPerRound; call++) calls.push(await caller.call(review));
  const inside = since(before, await bucketsOf(replica));
  const insideMs = (part: number) => histogramQuantile(inside, part) * 1_000;
  return { inside: { p50: insideMs(0.5), p99: insideMs(0.99) }, call: spreadOf(calls) };
}

async function bucketsOf({ started }: Replica): Promise<Buckets> {
  const { text } = await http(`http://${started['metrics']}/metrics`);
  return bucketsIn(text, histogram);
}

function spreadOf(values: readonly number[]): Spread {
  return { p50: quantile(values, 0.5), p99: quantile(values, 0.99) };
}

const pods = `/api/v1/namespaces/${namespace}/pods`;

/** The pod with what the API server adds before it asks. */
export async function asAdmitted(client: KubeClient, pod: object, namespace: string): Promise<object> {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const body = unprotected(pod);
  const admitted = await client.request<{ metadata: object }>({
    ...{ method: 'POST', path, query: { dryRun: 'All' }, body },
  });
  const { annotations } = (pod as { metadata: { annotations: object } }).metadata;
  return { ...admitted, metadata: { ...admitted.metadata, annotations } };
}

/** Milliseconds of a creation that changes nothing. */
async function create(client: KubeClient, body: object): Promise<number> {
  const began = performance.now();
  await client.request({ method: 'POST', path: pods, query: { dryRun: 'All' }, body });
  return performance.now() - began;
}

const least = (spreads: readonly Spread[], of: keyof Spread) => Math.min(...spreads.map((one) => one[of]));
const middle = (spreads: readonly Spread[], of: keyof Spread) =>
  quantile(
    spreads.map((one) => one[of]),
    0.5,
  );

function callRow(name: string, { inside, call }: Times): Row {
  const cells = [inside, call].flatMap((one) =>
    (['p50', 'p99'] as const).flatMap((part) => [middle(one, part), least(one, part)]),
  );
  return { name, cells };
}

function callTable(rows: Row[]): Table {
  const each = ['p50', 'best', 'p99', 'best'];
  return {
    title: "A review, in ms: by the operator's clock, and over a persistent connection",
    columns: [...each.map((name) => `own ${name}`), ...each],
    rows: [
      ...rows,
      { name: 'aim', cells: [1, undefined, 20, undefined, undefined, undefined, undefined, undefined] },
    ],
    notes: [`${rounds} rounds of ${callsPerRound}; the median round, and the best one.`],
  };
}

function createRow(name: string, { without, create: withIt }: Times): Row {
  const [bare, asked] = [spreadOf(without), spreadOf(withIt)];
  return {
    name,
    cells: [bare.p50, bare.p99, asked.p50, asked.p99, asked.p50 - bare.p50, asked.p50 / bare.p50],
  };
}

function createTable(rows: Row[]): Table {
  return {
    title: 'Creating a pod (dry run) at the API server, in ms',
    columns: ['bare p50', 'bare p99', 'with the webhook p50', 'p99', 'p50 more', 'p50 ratio'],
    rows,
    notes: [
      `${rounds * pairsPerRound} of each, in turns; a bare one asks for nothing, so that no webhook is called.`,
    ],
  };
}
