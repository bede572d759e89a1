import { SvcError } from '../../../core/errors.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { Pen } from '../demo/report.ts';
import { rotationOf } from './protection.ts';
import { withoutLinuxText, wrappedText, wrappedTryText, wrapperFailureText } from './report.ts';
import type { SecretsSource } from './secrets-source.ts';
import { type WrappedTryLines, wrappedTryLines } from './try-lines.ts';
import { startWrappedDemo, type WrappedDemo, type WrappedTrip } from './wrapped-demo.ts';
import { lookEvery } from './wrapper-environment.ts';
import type { WrapperOptions, WrapperProcess } from './wrapper-process.ts';

export interface ShowOptions {
  /** It is to be shown and then to end: a failure is the outcome. */
  readonly once: boolean;
  readonly say: (text: string) => void;
  readonly log: Logger;
  readonly pen: Pen;
  readonly signal: AbortSignal;
  /** `process.platform`, unless a test says otherwise. */
  readonly platform?: string;
}

/** The part of `svc dev` that is about the wrapper. */
export interface ShownWrapper {
  /** For scripts; says why where there is no wrapper. */
  readonly facts: object;
  /** Empty where there is no wrapper. */
  readonly tryText: readonly string[];
  readonly tryLines: WrappedTryLines | undefined;
  /** From now on shows what the demo says, and tells when the wrapper ends by itself. */
  follow(): void;
  end(): Promise<void>;
}

/**
 * Starts a demo server under the wrapper and shows what it gets.
 * @throws SvcError DEV_WRAPPER when it fails and was to be shown once; else the failure is shown
 */
export async function showWrapper(source: SecretsSource, options: ShowOptions): Promise<ShownWrapper> {
  const { say, pen, signal, once, platform = process.platform } = options;
  if (platform !== 'linux') {
    say(withoutLinuxText(platform, pen));
    return without({ leftOut: `The wrapper needs Linux, and this is ${platform}` });
  }
  const following = follower(options);
  try {
    const demo = await startWrappedDemo(source, { signal, onLine: following.onLine });
    say(wrappedText(demo.trip, source, pen));
    return shown(source, demo, () => following.begin(demo.wrapper));
  } catch (error) {
    if (signal.aborted) return without({ leftOut: 'It was told to end' });
    if (once || !(error instanceof SvcError)) throw error;
    say(wrapperFailureText(error.message, pen));
    return without({ leftOut: error.message });
  }
}

const without = (facts: object): ShownWrapper => ({
  facts,
  tryText: [],
  tryLines: undefined,
  follow: () => undefined,
  end: async () => undefined,
});

function shown(source: SecretsSource, { trip, wrapper }: WrappedDemo, follow: () => void): ShownWrapper {
  const tryLines = wrappedTryLines(source, trip.demo);
  return {
    facts: factsOf(trip, wrapper),
    tryText: [wrappedTryText(tryLines)],
    tryLines,
    follow,
    end: () => wrapper.end(),
  };
}

function factsOf(trip: WrappedTrip, { pid, applicationPid }: WrapperProcess): object {
  const { demo, health, protection, answers, environment, rotated } = trip;
  const rotation = rotationOf(protection);
  return {
    demo,
    health,
    pid,
    applicationPid,
    ...protection,
    rotation,
    lookEvery,
    answers,
    environment,
    rotated,
  };
}

interface Follower {
  readonly onLine: WrapperOptions['onLine'];
  begin(wrapper: WrapperProcess): void;
}

/** Before it begins, the report shows what matters of the lines. */
function follower({ say, log, pen, signal }: ShowOptions): Follower {
  let following = false;
  return {
    onLine(line) {
      if (!following || signal.aborted) return;
      if (typeof line === 'string') return say(pen.paint('dim', line));
      log.warn('dev.wrapper.says', { wrapper_event: String(line['event']), error: String(line['error']) });
    },
    begin(wrapper) {
      following = true;
      void wrapper.ended.then((how) => {
        if (!signal.aborted) log.error('dev.wrapper.ended', endedFields(how));
      });
    },
  };
}

const endedFields = (how: string) => ({
  error: `The wrapper ended ${how}, and the demo with it; the key server, the store and the proxy go on`,
  nextStep: 'Start `svc dev` again to have them back.',
});
