import { type HostileBed, startHostileBed } from '../attacks/hostile/bed.ts';
import { call, closeCalls } from '../attacks/hostile/call.ts';
import { runCases, shownFailure } from '../attacks/hostile/run.ts';
import type { Part } from './part.ts';

/** What `npm test` does with 3,000 requests, with as many as one likes and from any seed. */
export const hostile: Part = {
  name: 'hostile',
  summary: 'a million requests with a store that lies and callers that cheat: the right bytes or an error',
  async run(report, { seed, requests, from, case: only }) {
    const bed = await startHostileBed();
    try {
      const silent = only === undefined ? silentStore(bed) : undefined;
      const begun = performance.now();
      const seconds = () => Math.round((performance.now() - begun) / 1000);
      const { failures, shown, tally } = await runCases(bed, {
        seed,
        requests,
        from,
        onProgress: (at) =>
          report.say(
            `${at.requests} requests, ${at.failures} failures, ${seconds()} s; goes on with --seed ${seed} --from ${at.from}`,
          ),
        onFailure: (failure) => report.say(shownFailure(seed, failure)),
        ...(only !== undefined && { only }),
      });
      if (shown.length > 0) report.say(shown.join('\n'));
      report.say(
        [...tally]
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(([what, count]) => `${what} ${count}`)
          .join(', '),
      );
      report.check(
        'the right bytes or an error, and nothing else',
        failures.length === 0,
        `${failures.length} cases failed`,
      );
      if (silent !== undefined)
        report.check('a store that falls silent is given up, and callers hear of it', await silent);
    } finally {
      closeCalls(bed.modes);
      await bed.stop();
    }
  },
};

/** The proxy waits a minute for a silent store, so that this goes on beside everything else. */
async function silentStore({ modes, store }: HostileBed): Promise<boolean> {
  const answers = modes.map(async (mode) => {
    const bucket = `silent-${mode.name}`;
    await call(mode, { method: 'PUT', bucket, key: 'a', body: Buffer.from('b') });
    const reply = { status: 200, headers: [], body: Buffer.alloc(0) };
    store.minds.set(bucket, { received: () => undefined, answer: () => ({ reply, silent: true }) });
    const wish = { bucket, key: 'a', patience: 180_000 };
    const outcomes = await Promise.all([
      call(mode, { ...wish, method: 'GET' }),
      call(mode, { ...wish, method: 'GET', headers: { range: 'bytes=0-0' } }),
      call(mode, { ...wish, method: 'PUT', body: Buffer.from('c') }),
    ]);
    return outcomes.every(({ status, hung }) => !hung && (status >= 500 || status === 0));
  });
  return (await Promise.all(answers)).every((one) => one);
}
