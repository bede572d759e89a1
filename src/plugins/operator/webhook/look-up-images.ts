import type { ImageCommand, InjectionPlan, PodSecurityLevel } from '../../../core/injection/contract.ts';
import { imagesOfUnknownUser } from '../../../core/injection/mutate/images-of-unknown-user.ts';
import { imagesToLookUp } from '../../../core/injection/mutate/images-to-look-up.ts';
import type { ImageCommands, LookupOptions } from '../images/contract.ts';
import type { AdmissionRequest } from './review.ts';

/** A registry that is slow keeps no pod waiting for what it can do without. */
const optionalMs = 2_000;

/**
 * What the pod's images run. Those whose command is needed have to be found; where only the user is wanted, a registry
 * that is away costs the pod the lock on its memory, not its start.
 * @throws ImageLookupError
 */
export async function lookUpImages(
  { pod, namespace }: AdmissionRequest,
  plan: InjectionPlan,
  podSecurity: PodSecurityLevel,
  images: ImageCommands,
  limits: LookupOptions,
): Promise<ReadonlyMap<string, ImageCommand>> {
  const needed = imagesToLookUp(pod, plan);
  const wanted = imagesOfUnknownUser(pod, plan, podSecurity).filter((image) => !needed.includes(image));
  const briefly = { ...limits, timeoutMs: Math.min(limits.timeoutMs, optionalMs) };
  const [found, ...more] = await Promise.all([
    images.commandsOf(pod, namespace, needed, limits),
    ...wanted.map((image) => images.commandsOf(pod, namespace, [image], briefly).catch(() => none)),
  ]);
  return new Map([found, ...more].flatMap((each) => [...each]));
}

const none: ReadonlyMap<string, ImageCommand> = new Map();
