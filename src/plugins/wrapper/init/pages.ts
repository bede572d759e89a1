import { healthPage, refusal, responseText } from '../../../runtime/health/lean-health-server.ts';
import type { Observation } from '../observation.ts';

/** A placeholder with as many digits as a figure may have, for the token's remaining seconds that svc-init fills in. */
const standIn = 9007199254740109;
const figureWidth = String(standIn).length;

/** Figures that svc-init fills in, in the order of its `enum figure`. */
const figures: readonly RegExp[] = [
  /(?<=^svc_wrapper_application_up ).*$/m,
  /(?<=^svc_wrapper_application_starts_total ).*$/m,
  /(?<=^svc_wrapper_workers_total\{result="ended"\} ).*$/m,
  /(?<=^svc_wrapper_workers_total\{result="failed"\} ).*$/m,
  /(?<=^svc_wrapper_locked_bytes ).*$/m,
  /(?<=^svc_wrapper_unlocked_bytes ).*$/m,
  new RegExp(String(standIn), 'g'),
];

/** The figures of svc-init's own memory. */
const ownMemory: ReadonlySet<number> = new Set([4, 5]);

/** The condition of /healthz while the last worker has failed. */
const workerCondition = 'worker';
const workerFailed = 'the last check of token and secrets did not finish; it is repeated';

const longest = 32_768;

/**
 * The responses that svc-init gives until the next worker, as `struct pages` of init/health.h: /healthz, /healthz after
 * a failed worker, /readyz while the application runs, is being restarted and has ended, /metrics, and refusals.
 * @param secondsLeft of the token; here only the distinction between a number, Infinity and undefined counts
 * @param resident whether the worker stays: then none is counted, and its own memory counts instead of svc-init's
 * @throws RangeError if they exceed what svc-init holds
 */
export async function renderPages(
  observation: Observation,
  secondsLeft: number | undefined,
  resident: boolean,
): Promise<Buffer> {
  const { health, workers } = observation;
  observation.watchToken(() => (Number.isFinite(secondsLeft) ? standIn : secondsLeft));
  for (const result of resident ? [] : ['ended', 'failed']) workers.inc({ result }, 0);
  const page = async (path: string, method = 'GET') => {
    const { headers, body: text, ...answer } = await healthPage(method, path, observation);
    const body = withFigures(text, resident);
    const length = String(Buffer.byteLength(body));
    return responseText({ ...answer, headers: { ...headers, 'content-length': length }, body });
  };
  const alive = await page('/healthz');
  health.degraded(workerCondition, workerFailed);
  const failed = await page('/healthz');
  health.recovered(workerCondition);
  health.ready('application');
  const ready = await page('/readyz');
  health.notReady('application', 'is being restarted with new secrets');
  const restarting = await page('/readyz');
  health.notReady('application', 'has ended');
  const ended = await page('/readyz');
  const refusals = [await page('/'), await page('/healthz', 'POST'), ...[400, 431].map(refused)];
  return laidOut([alive, failed, ready, restarting, ended, await page('/metrics'), ...refusals]);
}

const refused = (status: number) => responseText(refusal(status));

/** A byte 1 and the figure's digit mark a placeholder. */
function withFigures(text: string, resident: boolean): string {
  return figures.reduce((rest, pattern, figure) => {
    if (resident && ownMemory.has(figure)) return rest;
    return rest.replace(pattern, `\u0001${figure}`.padEnd(figureWidth));
  }, text);
}

function laidOut(pages: readonly string[]): Buffer {
  const texts = pages.map((page) => Buffer.from(page));
  const ends = Buffer.alloc(4 * texts.length);
  let end = 0;
  for (const [index, text] of texts.entries()) {
    end += text.length;
    ends.writeUInt32LE(end, 4 * index);
  }
  if (end > longest) throw new RangeError(`The health pages have ${end} bytes: svc-init takes ${longest}`);
  return Buffer.concat([ends, ...texts]);
}
