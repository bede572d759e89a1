import type { Container } from '../../kubernetes/pod.ts';

/** Names that meshes give the containers that they add. */
const meshSidecars: ReadonlySet<string> = new Set([
  'istio-proxy', // Istio
  'linkerd-proxy', // Linkerd
  'kuma-sidecar', // Kuma, Kong Mesh
  'consul-dataplane', // Consul 1.14 and later
  'consul-connect-envoy-sidecar', // Consul before
  'envoy-sidecar', // Consul with several ports
  'envoy', // AWS App Mesh, Open Service Mesh
  'xray-daemon', // AWS App Mesh
  'traffic-agent', // Telepresence
]);

export const isMeshSidecar = ({ name }: Container): boolean => meshSidecars.has(name);
