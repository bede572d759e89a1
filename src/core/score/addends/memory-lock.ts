import type { Container } from '../../kubernetes/pod.ts';
import type { PodProtection } from '../contract.ts';
import { settingOf } from '../environment.ts';
import type { Judgement, Rule } from '../judgement.ts';
import { worstWrapper } from '../wrappers.ts';

const of = 8;

/** The wrapper's memory cannot be swapped out. */
export const memoryLock: Rule = {
  name: 'memory-lock',
  of,
  judge: (subject) => worstWrapper(subject, { measured: byReport, configured: byVariable }),
};

const remedy =
  'Run the container as root in a namespace of the privileged level, so that it is given IPC_LOCK, or raise the memory-lock limit of the node.';

const locked: Judgement = { points: of, because: "All of the wrapper's memory is locked." };
const partial: Judgement = {
  points: 3,
  because: "Some of the wrapper's memory could be swapped out.",
  remedy,
};
const unlocked: Judgement = { points: 0, because: "None of the wrapper's memory is locked.", remedy };

function byReport({ wrapper }: PodProtection['reports'][number]): Judgement | undefined {
  if (wrapper === undefined || wrapper.lockMode === 'unspecified') return undefined;
  if (wrapper.swappedBytes > 0)
    return { points: 0, because: 'Memory of the wrapper was swapped out.', remedy };
  return { all: locked, partial, none: unlocked }[wrapper.lockMode];
}

/** With SVC_REQUIRE_MLOCK, which is its default, the wrapper does not run without the lock. */
function byVariable(container: Container): Judgement {
  const setting = settingOf(container, 'SVC_REQUIRE_MLOCK');
  if (setting.known && (setting.value ?? 'true') === 'true') return required;
  return { points: 0, because: 'The wrapper runs without a lock of its memory where it gets none.', remedy };
}

const required: Judgement = { points: of, because: 'The wrapper does not run unless its memory is locked.' };
