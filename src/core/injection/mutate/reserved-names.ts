import type { Container, Pod } from '../../kubernetes/pod.ts';
import type { InjectionDefaults, InjectionPlan, Surroundings } from '../contract.ts';
import { copierName, isInjected, proxyName } from './names.ts';
import { proxyIsSidecar } from './proxy-place.ts';

/** Containers of the user's that bear a name of the operator's own: such a one would go unwrapped. */
export function reservedNames(
  pod: Pod,
  { proxy }: InjectionPlan,
  { wrapperDelivery }: InjectionDefaults,
  surroundings: Surroundings,
): readonly string[] {
  const { spec } = pod;
  const withProxy = proxy?.enabled === true;
  const isSidecar = proxyIsSidecar(pod, surroundings);
  const expectedFirst = [
    ...(wrapperDelivery === 'copy' ? [copierName] : []),
    ...(withProxy && isSidecar ? [proxyName] : []),
  ];
  const expected = withProxy && !isSidecar ? [proxyName] : [];
  return [...unexpected(spec.initContainers ?? [], expectedFirst), ...unexpected(spec.containers, expected)];
}

const unexpected = (containers: readonly Container[], expected: readonly string[]): readonly string[] =>
  containers
    .filter((container) => isInjected(container) && !expected.includes(container.name))
    .map(({ name }) => `container ${name}: the name is kept for the operator's own container`);
