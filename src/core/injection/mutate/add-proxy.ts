import type { Container, PodSpec } from '../../kubernetes/pod.ts';
import { addVolume } from './add-volume.ts';
import type { Context } from './context.ts';
import { copierName } from './names.ts';
import { placeContainer } from './place-container.ts';
import { asSidecar, proxyContainer, spool } from './proxy-container.ts';
import { proxyIsSidecar } from './proxy-place.ts';

/** The pod's containers with the proxy, ahead of all others where the cluster knows sidecars. */
export function addProxy(spec: PodSpec, context: Context): PodSpec {
  const { pod, plan, surroundings, certificates, token } = context;
  if (!plan.proxy?.enabled) return spec;
  const proxy = proxyContainer(context, plan.proxy);
  const wanted = [token.volume, spool, ...(certificates === undefined ? [] : [certificates.volume])];
  const volumes = wanted.reduce((into, volume) => addVolume(into, volume, context), spec.volumes ?? []);
  const { containers, initContainers = [] } = spec;
  const place = (list: readonly Container[], container: Container, at: number) =>
    placeContainer(list, container, { at, latest: list.length }, context);
  if (!proxyIsSidecar(pod, surroundings)) {
    return { ...spec, volumes, containers: place(containers, proxy, containers.length) };
  }
  const behindCopier = initContainers.findIndex(({ name }) => name === copierName) + 1;
  return {
    ...spec,
    volumes,
    initContainers: place(initContainers, asSidecar(proxy), behindCopier),
  };
}
