import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { go } from '../../support/go.ts';
import { archive } from '../../support/node/images.ts';
import type { NodeBed } from './bed.ts';
import { asked, CONTEXTS, shop } from './shop.ts';

export const DEMO_NAMESPACE = 'restricted';
const IMAGE = 'registry.example/demo:1';
const PORT = 8000;

/** The example of the Go SDK in an image without anything else, which the registry gets. */
export async function pushDemo({ folder, registry }: NodeBed): Promise<void> {
  const root = join(folder, 'image-demo');
  mkdirSync(root, { recursive: true });
  await go(['build', '-o', join(root, 'demo'), './cmd/demo'], { CGO_ENABLED: '0' });
  await registry.push('demo', '1', { tar: archive(root), level: 0, entrypoint: ['/demo'] });
}

/** A Deployment of it, which reads its secrets by the SDK alone. */
export function demo(name: string, annotations: Readonly<Record<string, string>>, replicas = 1): object {
  const probe = { periodSeconds: 15, timeoutSeconds: 14, failureThreshold: 8 };
  return shop({
    ...{ namespace: DEMO_NAMESPACE, name, replicas, pod: CONTEXTS.restricted.pod },
    annotations: { ...asked, ...annotations },
    container: {
      ...CONTEXTS.restricted.container,
      ...{ image: IMAGE, command: ['/demo'], args: [], env: [{ name: 'PORT', value: `${PORT}` }] },
      readinessProbe: { ...probe, httpGet: { path: '/health', port: PORT } },
      livenessProbe: { ...probe, httpGet: { path: '/health', port: PORT } },
    },
  });
}

/** What it answers, such as at `/health`. */
export async function askDemo({ kube }: NodeBed, pod: string, path: string): Promise<string> {
  const at = `/api/v1/namespaces/${DEMO_NAMESPACE}/pods/${pod}:${PORT}/proxy${path}`;
  return (await kube.request('GET', at)).text;
}

/** How it shows a secret: its first and last two characters. */
export const shown = (value: string): RegExp => new RegExp(`"${value.slice(0, 2)}[^"]*${value.slice(-2)}"`);
