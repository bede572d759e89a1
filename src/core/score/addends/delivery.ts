import type { Container } from '../../kubernetes/pod.ts';
import type { Delivery } from '../../protection/report.ts';
import { settingOf } from '../environment.ts';
import type { Judgement, Rule } from '../judgement.ts';
import { worstWrapper } from '../wrappers.ts';

const of = 10;

/** A descriptor of secret memory shows in no environment; `both` leaves the application the choice. */
export const delivery: Rule = {
  name: 'delivery',
  of,
  judge: (subject) =>
    worstWrapper(subject, { measured: ({ delivery }) => byWay[delivery], configured: byVariable }),
};

const remedy = 'Have the application read the descriptor through the SDK, and set svc/delivery to fd.';

const byWay: Readonly<Record<Delivery, Judgement | undefined>> = {
  fd: { points: of, because: 'Secrets come by the protected descriptor alone.' },
  both: { points: 5, because: 'Secrets come by the protected descriptor and by the environment.', remedy },
  env: { points: 3, because: 'Secrets come by the environment.', remedy },
  unspecified: undefined,
};

const unknown: Judgement = { points: 0, because: 'How secrets are delivered is not known.', remedy };

/** The wrapper delivers both ways unless it is told otherwise. */
function byVariable(container: Container): Judgement {
  const setting = settingOf(container, 'SVC_DELIVERY');
  if (!setting.known) return unknown;
  const way = setting.value ?? 'both';
  return (Object.hasOwn(byWay, way) ? byWay[way as Delivery] : undefined) ?? unknown;
}
