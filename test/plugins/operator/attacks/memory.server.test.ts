import { setTimeout } from 'node:timers/promises';
import { connect } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { patient } from '../../../support/patience.ts';
import { repetitions } from '../../../support/repetitions.ts';
import type { SmallApiServer } from '../../../support/small-api-server.ts';
import type { HttpResult } from '../../../support/types.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { reviewOf } from '../webhook/support/review-of.ts';
import {
  largeAnswers,
  largestPod,
  nestedReview,
  usualPod,
  worstPods,
} from '../webhook/support/worst-pods.ts';
import { attackAsAgents, holdAsAgents } from './agent-reports.ts';
import { type LimitedOperator, startLimitedOperator } from './limited-operator.ts';

const test = suite('the operator in 128 MiB, whatever it is sent');
export const timeout = 300_000;

let limited: LimitedOperator;
test.before(async () => {
  limited = await startLimitedOperator();
});
test.after(() => limited?.stop());

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const review = (pod: object): string => JSON.stringify(reviewOf(pod));
const bodies = Object.values(worstPods).map((make) => review(make(largestPod)));

/** Its status; that of a connection which the operator has closed is 0. */
const post = (body: string): Promise<Pick<HttpResult, 'status' | 'text'>> =>
  limited.review(body).catch((error) => ({ status: 0, text: String(error) }));

/** Asks for a usual pod all the while. @returns what the slowest took, in ms */
async function askedMeanwhile(work: Promise<unknown>): Promise<number> {
  let busy = true;
  void work.finally(() => {
    busy = false;
  });
  let slowest = 0;
  while (busy) {
    const began = performance.now();
    const { status, text } = await post(review(usualPod));
    assert.is(status, 200, text);
    slowest = Math.max(slowest, performance.now() - began);
    await setTimeout(20);
  }
  await work;
  return slowest;
}

/** Characters of a refusal: 50 errors, and names of 100 characters. */
const shortMessage = 20_000;
const generousMs = () => patient(5_000);

/** Each by itself takes long: at night. By day they come at once. */
const alone = repetitions(0, 1) > 0 ? Object.entries(worstPods) : [];
for (const [name, make] of alone) {
  test(`${name}: one is answered, and so are others meanwhile`, async () => {
    const answered = post(review(make(largestPod)));
    const slowest = await askedMeanwhile(answered);
    const { status, text } = await answered;
    assert.is(status, 200);
    if (text.includes('"allowed":false')) assert.ok(text.length < shortMessage, text);
    assert.ok(slowest < generousMs(), `${slowest} ms`);
    assert.is(limited.killed(), 0);
  });
}

test('the largest reviews of every kind at once, and texts that are nested without end', async () => {
  const sent = numbers(repetitions(1, 3)).flatMap(() => [...bodies, nestedReview(largestPod)]);
  const all = sent.map(post);
  const slowest = await askedMeanwhile(Promise.all(all));
  for (const { status, text } of await Promise.all(all)) {
    assert.ok([200, 400, 503].includes(status), `${status} ${text.slice(0, 200)}`);
    if (text.includes('"allowed":false')) assert.ok(text.length < shortMessage, text.slice(0, 200));
  }
  assert.ok(slowest < generousMs(), `${slowest} ms`);
  assert.is(limited.killed(), 0);
});

for (const [name, pod] of Object.entries(largeAnswers)) {
  test(`${name}: small reviews with large answers`, async () => {
    const body = review(pod);
    const answers = await Promise.all(numbers(repetitions(8, 48)).map(() => post(body)));
    // 0: answers that were not read in time
    for (const { status, text } of answers)
      assert.ok([0, 200, 503].includes(status), `${status} ${text.slice(0, 200)}`);
    assert.ok(answers.some(({ status }) => status === 200));
    assert.is(limited.killed(), 0);
  });
}

/** Requests of 40 callers whose bodies do not end. @returns ends them */
function holdBodies(body: string): () => void {
  const [host, port] = (limited.operator.started['webhook'] as string).split(':');
  const head = 'POST /mutate HTTP/1.1\r\nHost: webhook\r\nTransfer-Encoding: chunked\r\n\r\n';
  const sockets = numbers(40).map(() => {
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false });
    socket.on('error', () => {}).on('secureConnect', () => socket.write(head + body));
    return socket.resume();
  });
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}

const chunk = (size: number): string => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`;

for (const [name, body] of [
  ['chunks of one byte', chunk(1).repeat(200_000)],
  ['the smallest chunks that may be', chunk(1).repeat(990) + chunk(65).repeat(1_500)],
] as const)
  test(`reviews in ${name}, of which all but one wait for memory`, async () => {
    const end = holdBodies(body);
    const slowest = await askedMeanwhile(setTimeout(3_000)).finally(end);
    assert.ok(slowest < generousMs(), `${slowest} ms`);
    assert.is(limited.killed(), 0);
  });

const short = (count: number, from: number) =>
  numbers(count).map((index) => `a${from.toString(36)}.${index.toString(36)}`);
const empty = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '']));

/** Pods as large as etcd takes. */
const stored: Readonly<Record<string, object>> = {
  'empty arguments': { args: Array(600_000).fill('') },
  // six characters of JSON each
  'text that JSON escapes': { args: Array(14).fill('<'.repeat(100_000)) },
};

/** A hundred of a kind once ended the operator; mappings are so long that fewer fill half of its room. */
const countOf = (path: string): number => (path.endsWith('/secretmappings') ? repetitions(40, 100) : 100);

/** Each is within the bounds of one object. */
const many: Readonly<Record<string, (number: number) => object>> = {
  'api/v1/namespaces/full/pods': (number) => ({
    metadata: { labels: empty(short(5_000, number)) },
    spec: {
      containers: [
        { name: 'app', image: 'app:1', env: short(3_000, number).map((name) => ({ name: `_${name}` })) },
      ],
    },
  }),
  'apis/networking.k8s.io/v1/namespaces/full/networkpolicies': () => ({
    spec: {
      ...{ podSelector: {}, policyTypes: ['Egress'] },
      egress: Array(5_300).fill({ to: [{ podSelector: {} }] }),
    },
  }),
  'apis/svc.io/v1alpha1/namespaces/full/secretmappings': (number) => ({
    spec: {
      secrets: numbers(32).map((index) => ({
        path: `secret/${index}`,
        variables: Object.fromEntries(
          numbers(64).map((at) => [`${number}-${at}-${'a'.repeat(230)}`, `V${at}`]),
        ),
      })),
    },
  }),
  'apis/svc.io/v1alpha1/namespaces/full/serviceconfigs': (number) => ({
    spec: {
      selector: { matchLabels: { app: `app-${number}` } },
      ...{ vault: { role: 'app' }, secretPaths: short(1_000, number).map((name) => name.padEnd(150, 'p')) },
    },
  }),
};

function fill(api: SmallApiServer): void {
  for (const more of Object.values(stored)) {
    const containers = [{ ...usualPod.spec.containers[0], ...more }];
    api.put('/api/v1/namespaces/other/pods', { metadata: { name: 'large' }, spec: { containers } });
  }
  api.put('/api/v1/namespaces', { metadata: { name: 'full' } });
  for (const [path, make] of Object.entries(many)) {
    for (const number of numbers(countOf(path))) {
      const object = make(number) as { metadata?: object };
      api.put(`/${path}`, { ...object, metadata: { ...object.metadata, name: `full-${number}` } });
    }
  }
}

test('a namespace full of objects does not end it, nor keep it from starting; what is not kept fails closed', async () => {
  fill(limited.api);
  await waitFor(
    'it to follow them',
    async () => limited.operator.events('cluster.object.too_large').length > 0,
  );
  assert.is(limited.killed(), 0);
  await limited.restart();
  assert.is(limited.killed(), 0);
  assert.equal(limited.operator.events('kube.watch.failed'), []);
  const resources = () =>
    new Set(limited.operator.events('cluster.object.too_large').map(({ resource }) => resource));
  await waitFor('something of every kind to be left out', async () => resources().size === 4);
  assert.equal([...resources()].sort(), ['networkpolicies', 'pods', 'secretmappings', 'serviceconfigs']);
  const names = numbers(32)
    .map((at) => `full-${at}`)
    .join();
  const annotations = { 'svc/inject': 'true', 'svc/vault-role': 'app', 'svc/secret-mapping': names };
  const asks = { ...usualPod, metadata: { name: 'asks', annotations } };
  const { status, text } = await post(JSON.stringify(reviewOf(asks, { namespace: 'full' })));
  assert.is(status, 200, text);
  assert.match(text, /SecretMapping full-\d+\): is too large for the operator to keep/);
});

test('reviews of plain pods in that namespace read its configurations anew, and do not end it', async () => {
  const plain = JSON.stringify(reviewOf(usualPod, { namespace: 'full' }));
  const statuses = await Promise.all(numbers(repetitions(20, 40)).map(() => post(plain)));
  for (const { status, text } of statuses)
    assert.ok([0, 200, 503].includes(status), `${status} ${text.slice(0, 200)}`);
  assert.is(limited.killed(), 0);
});

/** Agents that send the longest reports, until there is no room for their states. */
async function fillStates(): Promise<void> {
  const agents = await attackAsAgents(limited, 100);
  try {
    const times = repetitions(1, 4);
    const reports = agents.report(times);
    await Promise.all(numbers(repetitions(15, 45)).map((index) => post(bodies[index % bodies.length] ?? '')));
    const statuses = await reports;
    const sum = [...statuses.values()].reduce((total, count) => total + count, 0);
    assert.is(sum, 100 * times);
  } finally {
    agents.close();
  }
}

/** Namespaces that fill the room of all objects between them. */
function fillRoom(api: SmallApiServer): void {
  for (const namespace of numbers(20)) {
    api.put('/api/v1/namespaces', { metadata: { name: `crowd-${namespace}` } });
    for (const number of numbers(12)) {
      const labels = empty(short(600, namespace * 1_000 + number));
      const spec = { containers: [{ name: 'app', image: 'app:1' }] };
      api.put(`/api/v1/namespaces/crowd-${namespace}/pods`, {
        ...{ metadata: { name: `pod-${number}`, labels }, spec },
      });
    }
  }
}

const isCrowded = () =>
  limited.operator
    .events('cluster.object.too_large')
    .some(({ namespace }) => String(namespace).startsWith('crowd-'));

test('all at once: objects, states, agents with unfinished reports, and the largest reviews', async () => {
  await fillStates();
  assert.is(limited.killed(), 0);
  fillRoom(limited.api);
  await waitFor('it to have no room for more objects', async () => isCrowded());
  const agents = await holdAsAgents(limited, 256, repetitions(1_000, 50));
  try {
    for (const _ of numbers(repetitions(1, 3))) {
      const answers = await Promise.all(bodies.map(post));
      for (const { status, text } of answers)
        assert.ok([0, 200, 503].includes(status), `${status} ${text.slice(0, 200)}`);
      assert.is(limited.killed(), 0);
    }
    // even while agents connect again and again
    assert.is((await post(review(usualPod))).status, 200);
  } finally {
    agents.close();
  }
  assert.is(limited.killed(), 0);
});

test.run();
