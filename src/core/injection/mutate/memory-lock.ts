import type { Container, Pod } from '../../kubernetes/pod.ts';
import type { Surroundings } from '../contract.ts';
import { runsAsRoot } from './user.ts';

const capability = 'IPC_LOCK';

/** What keeps a container from locking its memory and from registering with the node agent; undefined where nothing does. */
export function unlockable(
  pod: Pod,
  container: Container,
  { podSecurity, images }: Surroundings,
): string | undefined {
  if (podSecurity !== 'privileged') return `the namespace's Pod Security level is ${podSecurity}`;
  // root there has every capability, and none of them counts for locking memory
  if (pod.spec.hostUsers === false) return 'it runs in a user namespace of its own (hostUsers: false)';
  const root = runsAsRoot(pod, container, images.get(container.image ?? ''));
  // a container with the capability says that it can use it, or has been through here before
  if (root ?? hasCapability(container)) return undefined;
  return root === undefined ? 'its user is not known; runAsUser would say it' : 'it does not run as root';
}

export function withMemoryLock(container: Container): Container {
  const { securityContext = {} } = container;
  if (securityContext.privileged === true || hasCapability(container)) return container;
  const { capabilities = {} } = securityContext;
  const add = [...(capabilities.add ?? []), capability];
  return { ...container, securityContext: { ...securityContext, capabilities: { ...capabilities, add } } };
}

function hasCapability({ securityContext }: Container): boolean {
  if (securityContext?.privileged === true) return true;
  return securityContext?.capabilities?.add?.some((name) => [capability, 'ALL'].includes(name)) ?? false;
}
