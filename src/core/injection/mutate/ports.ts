import type { Container, Handler, Pod } from '../../kubernetes/pod.ts';
import { ownContainers } from './chosen.ts';
import { isWrapped } from './wrapped.ts';

const firstHealthPort = 8081;
export const proxyPort = 8190;
const firstProxyHealthPort = 8191;

export interface Ports {
  /** Of a wrapped container's health endpoint, by its name. */
  readonly health: ReadonlyMap<string, number>;
  readonly proxyHealth: number;
}

/** Ports for what is added, beside those that the pod's own containers declare or are probed at. */
export function assignPorts(pod: Pod, chosen: readonly Container[]): Ports {
  const taken = takenPorts(pod);
  taken.add(proxyPort);
  const health = new Map<string, number>();
  for (const container of chosen) {
    const port = assignedBefore(container);
    if (port === undefined || taken.has(port)) continue;
    taken.add(port);
    health.set(container.name, port);
  }
  for (const { name } of chosen) {
    if (!health.has(name)) health.set(name, takeFree(firstHealthPort, taken));
  }
  return { health, proxyHealth: takeFree(firstProxyHealthPort, taken) };
}

/** Every port that a container of the user's declares, or that one of its probes or hooks aims at by number. */
export function takenPorts(pod: Pod): Set<number> {
  return new Set(ownContainers(pod).flatMap(portsOf));
}

function portsOf({ ports = [], lifecycle, ...container }: Container): number[] {
  const handlers = [
    container.livenessProbe,
    container.readinessProbe,
    container.startupProbe,
    lifecycle?.postStart,
    lifecycle?.preStop,
  ];
  return [...ports.map(({ containerPort }) => containerPort), ...handlers.flatMap(aimOf)];
}

function aimOf(handler: Handler | undefined): number[] {
  const aims = [handler?.httpGet?.port, handler?.tcpSocket?.port, handler?.grpc?.port];
  return aims.map(Number).filter(Number.isInteger);
}

/** When the webhook is asked again, a container keeps its port. */
function assignedBefore(container: Container): number | undefined {
  if (!isWrapped(container)) return undefined;
  const address = container.env?.findLast(({ name }) => name === 'HEALTH_ADDR')?.value;
  const port = /^:(\d+)$/.exec(address ?? '')?.[1];
  return port === undefined ? undefined : Number(port);
}

function takeFree(from: number, taken: Set<number>): number {
  let port = from;
  while (taken.has(port)) port++;
  taken.add(port);
  return port;
}
