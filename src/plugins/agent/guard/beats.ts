export interface BeatOptions {
  /** Between the end of one beat and the next. */
  readonly intervalMs: number;
  /** Cheap, and looked at in between: whether the next beat is not to be waited for. What it throws, that beat will meet. */
  readonly isUrgent: () => boolean;
  /** Settles, whatever happens. */
  readonly beat: () => Promise<void>;
}

const glanceMs = 250;

/** A timer's error would end the agent. */
function answered(isUrgent: () => boolean): boolean {
  try {
    return isUrgent();
  } catch {
    return false;
  }
}

/** Beats, one after the other. @returns what ends them, and resolves when the last one has come to its end */
export function startBeats({ intervalMs, isUrgent, beat }: BeatOptions): () => Promise<void> {
  let running = Promise.resolve();
  let ended = false;
  let timer: NodeJS.Timeout | undefined;
  const glance = (leftMs: number) => {
    const pauseMs = Math.min(glanceMs, leftMs);
    timer = setTimeout(() => {
      if (leftMs > pauseMs && !answered(isUrgent)) glance(leftMs - pauseMs);
      else running = beat().then(() => (ended ? undefined : glance(intervalMs)));
    }, pauseMs);
  };
  glance(intervalMs);
  return async () => {
    ended = true;
    clearTimeout(timer);
    await running;
  };
}
