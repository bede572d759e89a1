import { healthPage } from '../../../runtime/health/lean-health-server.ts';
import type { Observation } from '../observation.ts';

/** A number that stands where svc-init puts the seconds which the token has left when it is asked. */
const standIn = 9007199254740109;

/** Behind a byte 1 stands the letter of a figure that svc-init fills in by itself. */
const figures: readonly (readonly [pattern: RegExp, letter: string])[] = [
  [/(?<=^svc_wrapper_application_up ).*$/m, 'u'],
  [/(?<=^svc_wrapper_application_starts_total ).*$/m, 's'],
  [/(?<=^svc_wrapper_workers_total\{result="ended"\} ).*$/m, 'w'],
  [/(?<=^svc_wrapper_workers_total\{result="failed"\} ).*$/m, 'f'],
  [/(?<=^svc_wrapper_locked_bytes ).*$/m, 'l'],
  [/(?<=^svc_wrapper_unlocked_bytes ).*$/m, 'm'],
  [new RegExp(String(standIn), 'g'), 't'],
];

/** The condition of /healthz while the last worker has failed. */
const workerCondition = 'worker';
const workerFailed = 'the last check of token and secrets did not come to its end; it is repeated';

/**
 * The bodies that svc-init shows until the next worker: /healthz, the same after a worker that failed, /readyz of an
 * application that runs, is being restarted, has ended, and /metrics.
 * @param secondsLeft of the token; only whether it has an end counts here
 */
export async function renderPages(
  observation: Observation,
  secondsLeft: number | undefined,
): Promise<readonly Buffer[]> {
  const { health, workers } = observation;
  observation.watchToken(() => (Number.isFinite(secondsLeft) ? standIn : secondsLeft));
  for (const result of ['ended', 'failed']) workers.inc({ result }, 0);
  const page = async (path: string) => withFigures((await healthPage('GET', path, observation)).body);
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
  return [alive, failed, ready, restarting, ended, await page('/metrics')];
}

function withFigures(text: string): Buffer {
  return Buffer.from(
    figures.reduce((rest, [pattern, letter]) => rest.replace(pattern, `\u0001${letter}`), text),
  );
}
