import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { certificatesIn } from '../../../../src/runtime/net/certificates.ts';
import type { Replica } from '../../../support/operator-cluster.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createAdmissionClient } from './support/admissions.ts';
import { admits, startBed } from './support/bed.ts';
import {
  agedServer,
  derOf,
  dueState,
  readState,
  servedBy,
  writeState,
  writtenBundles,
} from './support/certificates.ts';
import { shown, startLoad } from './support/load.ts';

const test = suite('certificates are renewed under load');
export const timeout = 300_000;

const perSecond = 50;
/** More than the API server keeps connections, so that it dials and verifies anew. */
const burst = 80;

let bed: Awaited<ReturnType<typeof startBed>>;

test.before(async () => {
  bed = await startBed({ replicas: 3 });
});

test.after(() => bed?.stop());

async function noneFailsWhile(work: () => Promise<unknown>): Promise<void> {
  const load = startLoad(bed.kubernetes, bed.namespace, perSecond);
  const client = createAdmissionClient(bed.kubernetes, bed.namespace);
  try {
    await sleep(1_000);
    await work();
    const many = await Promise.all(Array.from({ length: burst }, () => client.admit()));
    assert.equal(
      many.filter(({ injected }) => !injected),
      [],
    );
  } finally {
    client.close();
    const tally = await load.stop();
    console.log(shown(tally));
    assert.equal(tally.failed, [], shown(tally));
    assert.ok(tally.all > perSecond);
  }
}

/** All replicas serve another certificate than that; resolves with the Secret's state. */
async function servedAnew(replicas: readonly Replica[], former: string) {
  return waitFor('a new certificate, served by all', async () => {
    const state = await readState(bed.kubernetes);
    const served = await Promise.all(replicas.map(servedBy));
    const isCurrent = served.every((one) => one === derOf(state.server.cert));
    return isCurrent && state.server.cert !== former && state;
  });
}

test('a server certificate whose time has come is replaced', async () => {
  const state = await readState(bed.kubernetes);
  const server = await agedServer(state.authority, 0.7);
  await noneFailsWhile(async () => {
    await writeState(bed.kubernetes, { ...state, server });
    const next = await servedAnew(bed.replicas, server.cert);
    assert.is(next.authority.cert, state.authority.cert);
  });
});

test('a new authority is known before anything of it is served, and takes over', async () => {
  const { kubernetes, namespace } = bed;
  await Promise.all(bed.replicas.map((replica) => replica.end('SIGTERM')));
  const due = await dueState();
  await writeState(kubernetes, due);
  const replicas = await Promise.all([bed.add(), bed.add(), bed.add()]);
  const announced = await waitFor('a new authority', async () => {
    const state = await readState(kubernetes);
    const isWritten = (pem: string) => pem.includes(state.authority.cert.trim());
    const bundles = await writtenBundles(kubernetes);
    return state.previous === due.authority.cert && bundles.every(isWritten) && state;
  });
  await admits(kubernetes, namespace);
  const served = await Promise.all(replicas.map(servedBy));
  assert.equal(new Set(served), new Set([derOf(due.server.cert)]), 'the former one keeps serving');
  await noneFailsWhile(async () => {
    // ten minutes would pass; a certificate whose life is nearly over does not wait for them
    const server = await agedServer(due.authority, 0.95);
    await writeState(kubernetes, { ...announced, server });
    const state = await servedAnew(replicas, server.cert);
    assert.is(state.authority.cert, announced.authority.cert);
    assert.is(certificatesIn((await writtenBundles(kubernetes))[0] ?? '').length, 2);
  });
});

test.run();
