import type { Container } from '../../kubernetes/pod.ts';
import type { PodProtection } from '../contract.ts';
import { settingOf } from '../environment.ts';
import type { Judgement, Rule } from '../judgement.ts';
import { worstWrapper } from '../wrappers.ts';

const of = 7;

/** Secrets lie in memory that the kernel itself cannot read. */
export const secretMemory: Rule = {
  name: 'secret-memory',
  of,
  judge: (subject) => worstWrapper(subject, { measured: byReport, configured: byVariables }),
};

const remedy =
  'Run it on nodes with memfd_secret (Linux 5.14, secretmem.enable=1) and set SVC_REQUIRE_MEMFD_SECRET.';

const outOfReach: Judgement = { points: of, because: 'Secrets lie in memfd_secret memory.' };
const hidden: Judgement = {
  points: 3,
  because: 'Secrets lie in locked memory without dumps, which the kernel can read.',
  remedy,
};
const plain: Judgement = { points: 0, because: 'Secrets lie in ordinary memory.', remedy };
const unknown: Judgement = { points: 0, because: 'In what memory secrets lie is not known.', remedy };

function byReport({ secretMemory }: PodProtection['reports'][number]): Judgement | undefined {
  if (secretMemory === undefined || secretMemory.kind === 'unspecified') return undefined;
  if (secretMemory.kind === 'memfd_secret') return outOfReach;
  return secretMemory.locked && secretMemory.undumped ? hidden : plain;
}

/** With either of the two the wrapper does not run without memfd_secret. */
function byVariables(container: Container): Judgement {
  const needed = settingOf(container, 'SVC_REQUIRE_MEMFD_SECRET');
  const way = settingOf(container, 'SVC_DELIVERY');
  const certain = (needed.known && needed.value === 'true') || (way.known && way.value === 'fd');
  return certain ? required : unknown;
}

const required: Judgement = {
  points: of,
  because: 'The wrapper does not run unless it has memfd_secret memory.',
};
