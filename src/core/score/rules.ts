import type { Container } from '../kubernetes/pod.ts';
import { coreDumps } from './addends/core-dumps.ts';
import { delivery } from './addends/delivery.ts';
import { egress } from './addends/egress.ts';
import { enforcement } from './addends/enforcement.ts';
import { memoryLock } from './addends/memory-lock.ts';
import { references } from './addends/references.ts';
import { secretMemory } from './addends/secret-memory.ts';
import { wrapper } from './addends/wrapper.ts';
import { settingOf } from './environment.ts';
import type { Judgement, Rule } from './judgement.ts';
import type { Subject } from './subject.ts';
import { worstWrapper } from './wrappers.ts';

const of = 5;

const remedy = 'Set VAULT_SKIP_VERIFY to false, and name private authorities in the operator.';

/** The agent of its node covers the pod's processes. */
const coverage: Rule = { name: 'coverage', of, judge };

/** The wrapper verifies the certificate of the secrets server. */
const verification: Rule = {
  name: 'verification',
  of,
  judge: (subject) => worstWrapper(subject, { measured: () => undefined, configured: byVariable }),
};

/** All parts of a score, in the order in which they are shown; their `of` sum to 100. */
export const rules: readonly Rule[] = [
  wrapper,
  delivery,
  memoryLock,
  secretMemory,
  coreDumps,
  enforcement,
  coverage,
  egress,
  references,
  verification,
];

function judge({ agent }: Subject): Judgement {
  if (agent === undefined) {
    return { points: 0, because: 'No node agent tells about this pod.', remedy: 'Run the node agent there.' };
  }
  if (agent.covered) return { points: of, because: "The node agent covers the pod's processes." };
  if (agent.uncoveredReason) {
    const because = `The node agent does not cover this pod: ${agent.uncoveredReason}`;
    return { points: 0, because, remedy: "Look at the agent's log and /readyz on this node." };
  }
  return {
    points: 0,
    because: 'The node agent does not cover this pod.',
    remedy: 'Have the pod protected, so that it is labelled or registers itself.',
  };
}

const on: Judgement = { points: of, because: 'The certificate of the secrets server is verified.' };

function byVariable(container: Container): Judgement {
  const setting = settingOf(container, 'VAULT_SKIP_VERIFY');
  if (setting.known && (setting.value ?? 'false') === 'false') return on;
  const state = setting.known ? 'is not verified' : 'may not be verified';
  return { points: 0, because: `The certificate of the secrets server ${state}.`, remedy };
}
