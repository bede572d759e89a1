import { exitStatus, SvcError } from '../../runtime/errors.ts';
import { within } from '../../runtime/lifecycle/wait.ts';

/** A part takes a second or two; after this time it counts as stalled. */
const patienceMs = 25_000;

/**
 * Waits for a part of the demonstration.
 * @param name as in `The round trip takes …`
 * @param standing describes the current state, for the timeout error
 * @throws SvcError DEV_STALLED, or what the part itself throws
 */
export function stage<T>(
  name: string,
  work: Promise<T>,
  standing: () => string = () => '',
  limitMs = patienceMs,
): Promise<T> {
  return within(work, performance.now() + limitMs, undefined, () => stalled(name, limitMs, standing()));
}

const stalled = (name: string, limitMs: number, standing: string): SvcError =>
  new SvcError('DEV_STALLED', `${name} takes longer than ${limitMs / 1_000} seconds${standing}`, {
    nextStep: 'Try again; if it recurs, report it with the output so far.',
    exitStatus: exitStatus.internal,
  });
