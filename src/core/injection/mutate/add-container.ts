import type { Container } from '../../kubernetes/pod.ts';
import type { Context } from './context.ts';
import { covers } from './covers.ts';
import { isConfiguredImage } from './image-name.ts';
import { isAutomounted } from './token.ts';

/** What the API server and its own plugins fill in or see to; it makes no other program of a container. */
const filledIn = [
  'imagePullPolicy',
  'resizePolicy',
  'resources',
  'terminationMessagePath',
  'terminationMessagePolicy',
];
/** The same of its security context: some platforms have users and labels for each namespace. */
const filledInSecurity = ['runAsUser', 'runAsGroup', 'seLinuxOptions'];
const probes = ['readinessProbe', 'startupProbe'] as const;

/**
 * A container of the operator's own as it is to be. One that is there already, because the webhook is asked again or
 * the pod is a copy of one that has been through an older operator, is set anew, and keeps what is filled in and the same
 * image from a mirror that the operator is told of. All else goes: a variable or a mount of others would do to make
 * another program of it, with the token that it is given.
 */
export function ownContainer(
  there: Container,
  wanted: Container,
  { defaults, remarks }: Pick<Context, 'defaults' | 'remarks'>,
): Container {
  if (!isOurs(there, wanted)) {
    remarks.mistakes.push(`container ${wanted.name}: the name is kept for the operator's own container`);
  }
  const isSame = isConfiguredImage(there.image, wanted.image, defaults.imageMirrors);
  const settled = probes.filter((name) => name in wanted && covers(there[name], wanted[name]));
  const mounts = there.volumeMounts?.filter(isAutomounted) ?? [];
  return {
    ...wanted,
    ...picked(there, [...filledIn, ...settled, ...(isSame ? ['image'] : [])]),
    securityContext: { ...picked(there.securityContext, filledInSecurity), ...wanted.securityContext },
    volumeMounts: [...(wanted.volumeMounts ?? []), ...mounts],
  };
}

/** By how it starts; what follows the first word differs between versions. */
function isOurs(there: Container, wanted: Container): boolean {
  return there.command?.[0] === wanted.command?.[0] && there.args?.[0] === wanted.args?.[0];
}

/** Those members that are there. */
function picked(from: object | undefined, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(from ?? {}).filter(([name]) => names.includes(name)));
}
