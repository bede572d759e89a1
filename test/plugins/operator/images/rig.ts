import { type KubeClient, KubeError, type KubeRequest } from '../../../../src/cluster/kube/client.ts';
import type { Pod } from '../../../../src/cluster/kube/pod.ts';
import {
  createImageCommands,
  type ImageCommands,
  type ImageCommandsDeps,
} from '../../../../src/plugins/operator/images/create-image-commands.ts';
import { createLeanMetrics } from '../../../../src/runtime/health/plain-metrics.ts';
import type { Logger } from '../../../../src/runtime/logging/logger.ts';
import { fakeClient } from '../../../support/fake-client.ts';
import { basic, type registryUsers } from '../../../support/registry.ts';

export const namespace = 'shop';

/** An API server that has these secrets and service accounts, and counts who asks. */
export interface Objects {
  readonly secrets: Map<string, object>;
  readonly accounts: Map<string, object>;
  readonly asked: string[];
}

export interface Rig {
  readonly commands: ImageCommands;
  readonly objects: Objects;
  /** Lines as JSON. */
  readonly log: string[];
  /** Moves the clock of the caches. */
  pass(ms: number): void;
  outcomes(): Promise<Record<string, number>>;
  stop(): void;
}

export interface RigOptions
  extends Pick<ImageCommandsDeps, 'authorities' | 'credentialsPath' | 'mostWaiting'> {
  readonly local?: boolean;
}

export function createRig(mirrors: readonly string[] = [], { local = true, ...own }: RigOptions = {}): Rig {
  const objects: Objects = { secrets: new Map(), accounts: new Map(), asked: [] };
  const log: string[] = [];
  const metrics = createLeanMetrics();
  const ending = new AbortController();
  let now = 0;
  const commands = createImageCommands({
    ...{
      ...own,
      client: clientOver(objects),
      mirrors,
      local,
      metrics,
      log: logInto(log),
      signal: ending.signal,
    },
    now: () => now,
  });
  return {
    ...{ commands, objects, log },
    pass(ms) {
      now += ms;
    },
    async outcomes() {
      const { body } = await metrics.expose();
      const lines = body.matchAll(/^svc_image_lookups_total\{outcome="(\w+)"\} (\d+)$/gm);
      return Object.fromEntries([...lines].map(([, name, count]) => [name, Number(count)]));
    },
    stop: () => ending.abort(new Error('stopped')),
  };
}

function clientOver({ secrets, accounts, asked }: Objects): KubeClient {
  const request = async ({ path }: KubeRequest) => {
    asked.push(path);
    const [, space, kind, name = ''] =
      /^\/api\/v1\/namespaces\/([^/]+)\/(secrets|serviceaccounts)\/(.+)$/.exec(path) ?? [];
    const found = space === namespace ? (kind === 'secrets' ? secrets : accounts).get(name) : undefined;
    if (found === undefined) throw new KubeError('KUBE_NOT_FOUND', `${path}: 404`, { status: 404 });
    return found;
  };
  return fakeClient(request as KubeClient['request']);
}

function logInto(lines: string[]): Logger {
  const write = (event: string, fields = {}) => void lines.push(JSON.stringify({ event, ...fields }));
  const log: Logger = { debug: write, info: write, warn: write, error: write, child: () => log };
  return log;
}

type User = keyof typeof registryUsers;

/** As `kubectl create secret docker-registry` makes it. */
export function pullSecret(entries: Readonly<Record<string, User | string>>): object {
  const auths = Object.fromEntries(
    Object.entries(entries).map(([key, user]) => [key, { auth: authOf(user) }]),
  );
  const config = Buffer.from(JSON.stringify({ auths })).toString('base64');
  return { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': config } };
}

/** Of somebody whom the registry does not know, a wrong password. */
function authOf(user: string): string {
  if (user === 'alice' || user === 'bob') return basic(user).slice('Basic '.length);
  return Buffer.from(`${user}:wrong-password`).toString('base64');
}

export interface PodOptions {
  readonly pullSecrets?: readonly string[];
  readonly account?: string;
  readonly architecture?: string;
}

export function podWith({ pullSecrets = [], account, architecture }: PodOptions = {}): Pod {
  return {
    metadata: {},
    spec: {
      containers: [{ name: 'app' }],
      imagePullSecrets: pullSecrets.map((name) => ({ name })),
      ...(account !== undefined && { serviceAccountName: account }),
      ...(architecture !== undefined && { nodeSelector: { 'kubernetes.io/arch': architecture } }),
    },
  };
}

/** What one image runs. */
export async function commandOf(rig: Rig, image: string, pod: Pod = podWith(), timeoutMs = 20_000) {
  const found = await rig.commands.commandsOf(pod, namespace, [image], { timeoutMs });
  return found.get(image);
}

/** The message with its details. */
export async function failureOf(looking: Promise<unknown>): Promise<string> {
  try {
    await looking;
  } catch (error) {
    const {
      message,
      details = [],
      nextStep,
    } = error as { message: string; details?: string[]; nextStep: string };
    return [message, ...details, nextStep].join('\n');
  }
  throw new Error('it was found');
}
