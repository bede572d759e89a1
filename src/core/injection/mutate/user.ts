import type { Container, Pod } from '../../kubernetes/pod.ts';
import type { ImageCommand } from '../contract.ts';

/**
 * Whether a container runs as root of the node; undefined where only an image says that has not been looked up. In a user
 * namespace root has every capability, and none of them counts for locking memory.
 */
export function runsAsRoot(
  { spec }: Pod,
  container: Container,
  image: ImageCommand | undefined,
): boolean | undefined {
  if (spec.hostUsers === false) return false;
  const user = container.securityContext?.runAsUser ?? spec.securityContext?.runAsUser;
  if (user !== undefined) return user === 0;
  const nonRoot = container.securityContext?.runAsNonRoot ?? spec.securityContext?.runAsNonRoot;
  if (nonRoot === true) return false;
  return image && /^(root|0+)?(:|$)/.test(image.user);
}
