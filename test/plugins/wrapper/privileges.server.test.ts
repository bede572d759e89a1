import { readFileSync, readlinkSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { LogLine } from '../../support/log-lines.ts';
import { family } from '../../support/process-memory.ts';
import type { WrapperRun } from '../../support/svc-wrapper.ts';
import { waitFor } from '../../support/wait-for.ts';
import { shown } from './support/bed.ts';
import {
  type ConfinedBed,
  checkPrefix,
  memlock,
  ordinaryUser,
  rootWithoutLock,
  startConfinedBed,
  userNamespace,
} from './support/confined.ts';

checkPrefix(ordinaryUser, rootWithoutLock, userNamespace);

const privileges = suite('the wrapper and what its user may do');
let bed: ConfinedBed;

privileges.before(async () => {
  bed = await startConfinedBed();
});
privileges.after.each(() => bed?.endRuns());
privileges.after(() => bed?.stop());

interface Case {
  readonly limit: number;
  readonly exec: boolean;
  readonly lock: boolean;
  readonly memfd: boolean;
  readonly delivery: 'both' | 'env' | 'fd';
}

/** What a run comes to: a refusal, or what the log says of memory and what the application got. */
type RunOutcome =
  | { readonly status: number | null; readonly code: string; readonly says: RegExp }
  | {
      readonly mode: string;
      readonly memory: string;
      readonly locked: boolean;
      readonly told: boolean;
      readonly env: boolean;
      readonly fd: boolean;
    };

const kib = 1024;
const limits = [8192 * kib, 64 * kib, 0];
const yesOrNo = [true, false];
const deliveries = ['both', 'env', 'fd'] as const;
const every = yesOrNo.flatMap((memfd) =>
  deliveries.flatMap((delivery) => yesOrNo.map((exec) => ({ memfd, delivery, exec }))),
);
/** Each two values of two settings once, where the third decides nothing. */
const eachPair = every.filter(
  ({ memfd, delivery, exec }) =>
    [memfd === exec, memfd !== exec, memfd === exec][deliveries.indexOf(delivery)],
);
/** A lock that is required and refused ends the start before the other settings are looked at. */
const cases: readonly Case[] = limits.flatMap((limit) => [
  ...eachPair.map((rest) => ({ limit, lock: true, ...rest })),
  ...(limit === 64 * kib ? eachPair : every).map((rest) => ({ limit, lock: false, ...rest })),
]);

const refused = (code: string, says: RegExp): RunOutcome => ({ status: 71, code, says });

/** The table of the documentation. Without memory to lock there is no memfd_secret either. */
function expected({ limit, lock, memfd, delivery }: Case): RunOutcome {
  if (lock)
    return refused(
      'MEMORY_LOCK_REFUSED',
      new RegExp(`CAP_IPC_LOCK is not effective.* limit is ${limit} bytes`),
    );
  if (limit > 0) {
    const got = { env: delivery !== 'fd', fd: delivery !== 'env' };
    return { mode: 'partial', memory: 'memfd_secret', locked: true, told: false, ...got };
  }
  if (memfd) return refused('MEMORY_LOCK_REFUSED', /secret memory.*EAGAIN/);
  if (delivery === 'fd') return refused('MEMFD_SECRET_UNAVAILABLE', /SVC_DELIVERY=fd/);
  const told = delivery === 'both';
  return { mode: 'none', memory: 'anonymous', locked: false, told, env: true, fd: false };
}

async function outcomeOf(
  { limit, exec, lock, memfd, delivery }: Case,
  says: RegExp | undefined,
): Promise<RunOutcome> {
  const env = {
    SVC_REQUIRE_MLOCK: `${lock}`,
    SVC_REQUIRE_MEMFD_SECRET: `${memfd}`,
    SVC_DELIVERY: delivery,
    SVC_EXEC: `${exec}`,
    SHOWN: 'KEY,SVC_SECRET_FD',
  };
  const run = await bed.confined([...memlock(limit), ...ordinaryUser], { env });
  try {
    if (says !== undefined) return await refusal(run, says);
    const { pid, env: got, descriptor } = await shown(run);
    if (exec) assertAlone(run, pid);
    const [locking, fetched] = [line(run, 'memory.lock'), line(run, 'secrets.fetched')];
    const told = run.events('descriptor.unavailable').length === 1;
    const { memory, locked } = fetched;
    const has = { env: got['KEY'] === 'one', fd: descriptor['KEY'] === 'one' };
    assert.is(got['SVC_SECRET_FD'] !== null, has.fd);
    return { mode: locking['mode'], memory, locked, told, ...has } as RunOutcome;
  } finally {
    await run.stop();
  }
}

async function refusal(run: WrapperRun, says: RegExp): Promise<RunOutcome> {
  await waitFor('the refusal', () => run.ended, { timeoutMs: 20_000, details: run.output });
  const { code: status } = await run.exited;
  assert.not.match(run.output(), /^APP/m);
  const { code, error, nextStep } = line(run, 'start.failed');
  assert.match(error, says);
  assert.ok(nextStep);
  return { status, code, says };
}

const line = (run: WrapperRun, event: string): LogLine => run.events(event)[0] ?? { event: '', level: '' };

/** SVC_EXEC: the process is the application and nothing else is there. */
function assertAlone(run: WrapperRun, pid: number): void {
  assert.is(pid, run.pid);
  assert.is(readlinkSync(`/proc/${pid}/exe`), readlinkSync('/proc/self/exe'));
  const arguments_ = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  assert.equal(arguments_.slice(0, 2), [...bed.application]);
  assert.equal(family(pid), [pid]);
  assert.is(run.events('health.listening').length, 0);
}

for (const limit of limits)
  privileges(
    `an ordinary user with ${limit / kib} KiB to lock gets what is required, or 71 and the reason`,
    async () => {
      const all = cases.filter((one) => one.limit === limit);
      while (all.length > 0) await Promise.all(all.splice(0, 4).map(check));
    },
  );

async function check(one: Case): Promise<void> {
  const outcome = expected(one);
  assert.equal(
    await outcomeOf(one, 'says' in outcome ? outcome.says : undefined),
    outcome,
    JSON.stringify(one),
  );
}

privileges('root with the capability locks everything, whatever the limit', async () => {
  for (const limit of limits) {
    const run = await bed.confined(memlock(limit), { env: { SVC_REQUIRE_MEMFD_SECRET: 'true' } });
    await run.says(/^APP/m);
    const { lock, dumpable, core_limit, secret_memory } = await run.event('protection');
    assert.equal([lock, dumpable, core_limit, secret_memory], ['all', false, '1', 'memfd_secret']);
  }
});

privileges('root without the capability is refused the lock, and told so', async () => {
  const under = [...memlock(64 * kib), ...rootWithoutLock];
  await refusal(await bed.confined(under), /CAP_IPC_LOCK is not effective.* limit is 65536 bytes/);
  const run = await bed.confined(under, { env: { SVC_REQUIRE_MLOCK: 'false' } });
  assert.is((await shown(run)).descriptor['KEY'], 'one');
  assert.match((await run.event('memory.lock'))['reason'], /CAP_IPC_LOCK is not effective/);
});

privileges('the capability of a user namespace counts for nothing, and that is said', async () => {
  const under = [...memlock(64 * kib), ...userNamespace];
  await refusal(await bed.confined(under), /refused it .*user namespace/);
  const run = await bed.confined(under, { env: { SVC_REQUIRE_MLOCK: 'false' } });
  assert.is((await shown(run)).descriptor['KEY'], 'one');
  const { mode, reason } = await run.event('memory.lock');
  assert.is(mode, 'partial');
  assert.match(reason, /user namespace/);
});

privileges('secrets that are larger than the limit: no descriptor, and that is told or refused', async () => {
  await bed.kv.put('large', { LARGE: 'x'.repeat(100 * kib) });
  const options = { paths: ['secret/large'], env: { SVC_REQUIRE_MLOCK: 'false', SHOWN: 'LARGE' } };
  const under = [...memlock(64 * kib), ...ordinaryUser];
  const run = await bed.confined(under, options);
  const { env, descriptor } = await shown(run);
  assert.equal([env['LARGE']?.length, descriptor], [100 * kib, {}]);
  assert.is(run.events('descriptor.unavailable').length, 1);
  const strict = { ...options, env: { ...options.env, SVC_DELIVERY: 'fd' } };
  await refusal(await bed.confined(under, strict), /no memfd_secret memory/);
});

privileges.run();
