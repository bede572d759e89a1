import type { Container } from '../../kubernetes/pod.ts';
import { settingOf } from '../environment.ts';
import type { Judgement, Rule } from '../judgement.ts';
import { worstWrapper } from '../wrappers.ts';

const of = 5;

/** The wrapper verifies the certificate of the secrets server. */
export const verification: Rule = {
  name: 'verification',
  of,
  judge: (subject) => worstWrapper(subject, { measured: () => undefined, configured: byVariable }),
};

const on: Judgement = { points: of, because: 'The certificate of the secrets server is verified.' };
const remedy = 'Set VAULT_SKIP_VERIFY to false, and name private authorities in the operator.';

function byVariable(container: Container): Judgement {
  const setting = settingOf(container, 'VAULT_SKIP_VERIFY');
  if (setting.known && (setting.value ?? 'false') === 'false') return on;
  const state = setting.known ? 'is not verified' : 'may not be verified';
  return { points: 0, because: `The certificate of the secrets server ${state}.`, remedy };
}
