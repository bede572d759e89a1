import type { Delivery } from '../../runtime/protocols/protection/report.ts';
import type { Container } from '../kube/pod.ts';
import type { Judgement, PodProtection, ScoreRule } from './contract.ts';
import { settingOf, worstWrapper } from './wrapper-reports.ts';

const coreDumpsPoints = 5;

/** A crash leaves no copy of the memory. Only a limit of 1 also prevents dumps into a pipe; 0 does not. */
export const coreDumps: ScoreRule = {
  name: 'core-dumps',
  of: coreDumpsPoints,
  judge: (subject) => worstWrapper(subject, { measured: coreDumpsByReport, configured: coreDumpsByVariable }),
};

const coreDumpsRemedy = 'Leave SVC_CORE_LIMIT at 1, and do not let the application raise it.';

const dumpsOff: Judgement = { points: coreDumpsPoints, because: 'Core dumps are off for files and pipes.' };
const dumpsPiped: Judgement = {
  points: 2,
  because: 'Core dumps into a pipe are still possible.',
  remedy: coreDumpsRemedy,
};
const dumpsPossible: Judgement = { points: 0, because: 'Core dumps are possible.', remedy: coreDumpsRemedy };

function coreDumpsByReport({
  wrapper,
  application,
}: PodProtection['reports'][number]): Judgement | undefined {
  if (wrapper === undefined || application === undefined) return undefined;
  return byLimits([wrapper.coreLimit, application.coreLimit]);
}

function coreDumpsByVariable(container: Container): Judgement {
  const setting = settingOf(container, 'SVC_CORE_LIMIT');
  if (!setting.known)
    return { points: 0, because: 'The core dump limit is not known.', remedy: coreDumpsRemedy };
  const { value = '1' } = setting;
  return byLimits([/^\d+$/.test(value) ? Number(value) : undefined]);
}

/** Limits in bytes; undefined is unlimited. */
function byLimits(limits: readonly (number | undefined)[]): Judgement {
  if (limits.every((limit) => limit === 1)) return dumpsOff;
  return limits.every((limit) => limit !== undefined && limit <= 1) ? dumpsPiped : dumpsPossible;
}

const memoryLockPoints = 8;

/** The wrapper's memory cannot be swapped out. */
export const memoryLock: ScoreRule = {
  name: 'memory-lock',
  of: memoryLockPoints,
  judge: (subject) =>
    worstWrapper(subject, { measured: memoryLockByReport, configured: memoryLockByVariable }),
};

const memoryLockRemedy =
  'Run the container as root in a namespace of the privileged level, so that it gets IPC_LOCK, or raise the memory-lock limit of the node.';

const locked: Judgement = { points: memoryLockPoints, because: "All of the wrapper's memory is locked." };
const partial: Judgement = {
  points: 3,
  because: "Some of the wrapper's memory could be swapped out.",
  remedy: memoryLockRemedy,
};
const unlocked: Judgement = {
  points: 0,
  because: "None of the wrapper's memory is locked.",
  remedy: memoryLockRemedy,
};

function memoryLockByReport({ wrapper }: PodProtection['reports'][number]): Judgement | undefined {
  if (wrapper === undefined || wrapper.lockMode === 'unspecified') return undefined;
  if (wrapper.swappedBytes > 0)
    return { points: 0, because: 'Memory of the wrapper was swapped out.', remedy: memoryLockRemedy };
  return { all: locked, partial, none: unlocked }[wrapper.lockMode];
}

/** With SVC_REQUIRE_MLOCK (the default), the wrapper does not run without locked memory. */
function memoryLockByVariable(container: Container): Judgement {
  const setting = settingOf(container, 'SVC_REQUIRE_MLOCK');
  if (setting.known && (setting.value ?? 'true') === 'true') return lockRequired;
  return {
    points: 0,
    because: 'The wrapper also runs where its memory cannot be locked.',
    remedy: memoryLockRemedy,
  };
}

const lockRequired: Judgement = {
  points: memoryLockPoints,
  because: 'The wrapper does not run unless its memory is locked.',
};

const secretMemoryPoints = 7;

/** Secrets are in memory that the kernel itself cannot read. */
export const secretMemory: ScoreRule = {
  name: 'secret-memory',
  of: secretMemoryPoints,
  judge: (subject) =>
    worstWrapper(subject, { measured: secretMemoryByReport, configured: secretMemoryByVariables }),
};

const secretMemoryRemedy =
  'Run it on nodes with memfd_secret (Linux 5.14, secretmem.enable=1) and set SVC_REQUIRE_MEMFD_SECRET.';

const outOfReach: Judgement = { points: secretMemoryPoints, because: 'Secrets are in memfd_secret memory.' };
const hidden: Judgement = {
  points: 3,
  because: 'Secrets are in locked memory without dumps, which the kernel can read.',
  remedy: secretMemoryRemedy,
};
const plain: Judgement = {
  points: 0,
  because: 'Secrets are in ordinary memory.',
  remedy: secretMemoryRemedy,
};
const secretMemoryUnknown: Judgement = {
  points: 0,
  because: 'The kind of memory of secrets is not known.',
  remedy: secretMemoryRemedy,
};

function secretMemoryByReport({ secretMemory }: PodProtection['reports'][number]): Judgement | undefined {
  if (secretMemory === undefined || secretMemory.kind === 'unspecified') return undefined;
  if (secretMemory.kind === 'memfd_secret') return outOfReach;
  return secretMemory.locked && secretMemory.undumped ? hidden : plain;
}

/** With either variable, the wrapper does not run without memfd_secret. */
function secretMemoryByVariables(container: Container): Judgement {
  const needed = settingOf(container, 'SVC_REQUIRE_MEMFD_SECRET');
  const way = settingOf(container, 'SVC_DELIVERY');
  const certain = (needed.known && needed.value === 'true') || (way.known && way.value === 'fd');
  return certain ? secretMemoryRequired : secretMemoryUnknown;
}

const secretMemoryRequired: Judgement = {
  points: secretMemoryPoints,
  because: 'The wrapper does not run unless it has memfd_secret memory.',
};

const deliveryPoints = 10;

/** A descriptor of secret memory keeps secrets out of the environment; `both` leaves the choice to the application. */
export const delivery: ScoreRule = {
  name: 'delivery',
  of: deliveryPoints,
  judge: (subject) =>
    worstWrapper(subject, { measured: ({ delivery }) => byWay[delivery], configured: deliveryByVariable }),
};

const deliveryRemedy =
  'Have the application read the descriptor through the SDK, and set svc/delivery to fd.';

const byWay: Readonly<Record<Delivery, Judgement | undefined>> = {
  fd: { points: deliveryPoints, because: 'Secrets are delivered only by the protected descriptor.' },
  both: {
    points: 5,
    because: 'Secrets are delivered by the protected descriptor and the environment.',
    remedy: deliveryRemedy,
  },
  env: { points: 3, because: 'Secrets are delivered by the environment.', remedy: deliveryRemedy },
  unspecified: undefined,
};

const deliveryUnknown: Judgement = {
  points: 0,
  because: 'How secrets are delivered is not known.',
  remedy: deliveryRemedy,
};

/** By default the wrapper delivers both ways. */
function deliveryByVariable(container: Container): Judgement {
  const setting = settingOf(container, 'SVC_DELIVERY');
  if (!setting.known) return deliveryUnknown;
  const way = setting.value ?? 'both';
  return (Object.hasOwn(byWay, way) ? byWay[way as Delivery] : undefined) ?? deliveryUnknown;
}
