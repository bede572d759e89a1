import { setTimeout } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type NameServer, startNameServer } from '../../../support/name-server.ts';
import { patient } from '../../../support/patience.ts';
import { repetitions } from '../../../support/repetitions.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { reviewOf } from '../webhook/support/review-of.ts';
import { usualPod } from '../webhook/support/worst-pods.ts';
import { type LimitedOperator, startLimitedOperator } from './limited-operator.ts';

const test = suite('the operator in 128 MiB, whose name server gives other addresses each time');
export const timeout = 300_000;

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** So many that all addresses together reach their bound, and those of each namespace theirs. */
const namespaces = numbers(16).map((number) => `names-${number}`);
const configs = 2;
const hosts = 64;
const addressesOfAnswer = 256;
/** For IPv4 and IPv6. */
const questions = 2 * namespaces.length * configs * hosts;

let asked = 0;
/** No two answers have an address in common. */
function lie(): readonly string[] {
  const from = addressesOfAnswer * asked++;
  return numbers(addressesOfAnswer).map((at) => {
    const bits = from + at;
    return `100.${64 + ((bits >> 16) & 63)}.${(bits >> 8) & 255}.${bits & 255}`;
  });
}

let names: NameServer;
let limited: LimitedOperator;
test.before(async () => {
  names = await startNameServer(lie);
  limited = await startLimitedOperator({ under: names.under });
});
test.after(async () => {
  await limited?.stop();
  await names?.stop();
});

function fill(): void {
  for (const namespace of namespaces) {
    limited.api.put('/api/v1/namespaces', { metadata: { name: namespace } });
    for (const config of numbers(configs)) {
      const egress = numbers(hosts).map((host) => ({ host: `h${host}-${config}.${namespace}.example` }));
      const selector = { matchLabels: { app: `app-${config}` } };
      limited.api.put(`/apis/svc.io/v1alpha1/namespaces/${namespace}/serviceconfigs`, {
        ...{ metadata: { name: `config-${config}` } },
        spec: { selector, vault: { role: 'app' }, secretPaths: ['secret/a'], egress },
      });
    }
  }
}

const isApplied = (namespace: string) =>
  limited.api.get(
    `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies/svc-egress-${namespace}`,
  ) !== undefined;

const review = JSON.stringify(reviewOf(usualPod));

/** @returns what the slowest review took meanwhile, in ms */
async function slowestUntil(isOver: () => boolean): Promise<number> {
  let slowest = 0;
  while (!isOver()) {
    const began = performance.now();
    const { status, text } = await limited.review(review);
    assert.is(status, 200, text);
    slowest = Math.max(slowest, performance.now() - began);
    await setTimeout(20);
  }
  return slowest;
}

test('writes the policies of 2,048 names, asks again, and answers reviews meanwhile', async () => {
  fill();
  let isOver = false;
  const slowest = slowestUntil(() => isOver);
  try {
    await waitFor('every policy', () => namespaces.every(isApplied), { timeoutMs: patient(60_000) });
    const rounds = repetitions(1, 4);
    await waitFor('the names to be asked anew', () => asked >= (1 + rounds) * questions, {
      timeoutMs: patient(80_000 * rounds),
    });
  } finally {
    isOver = true;
  }
  assert.ok((await slowest) < patient(3_000), `${await slowest} ms`);
  assert.is(limited.killed(), 0);
  assert.equal(limited.operator.events('reconcile.failed'), []);
});

test.run();
