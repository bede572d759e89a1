import type { ContainerSecurityContext, Pod } from '../../kubernetes/pod.ts';

/** The user of the images that are the operator's own. */
const unprivilegedUser = 65_532;

/**
 * Of a container that is added: satisfies the level `restricted`. It has the pod's user; where the pod says none, that of
 * its image, which is not root; and another than root where the pod says root.
 */
export function ownSecurityContext({ spec }: Pod): ContainerSecurityContext {
  return {
    ...(spec.securityContext?.runAsUser === 0 ? { runAsUser: unprivilegedUser } : {}),
    runAsNonRoot: true,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  };
}
