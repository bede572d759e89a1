import { Agent, request } from 'node:https';
import type { Kubernetes } from '../../../../support/kubernetes.ts';

/** What became of one pod that asked for protection. */
export interface Admission {
  /** When it was sent, by `performance.now()`. */
  readonly at: number;
  readonly ms: number;
  /** 0 where the API server itself could not be reached. */
  readonly status: number;
  /** Whether the pod came back with the wrapper in it. */
  readonly injected: boolean;
  /** What a person is told where it was refused. */
  readonly message: string;
}

export interface AdmissionClient {
  /** A dry run: nothing is stored. @param pod default: one that asks for protection by an annotation */
  admit(pod?: object): Promise<Admission>;
  close(): void;
}

const mostConnections = 100;
const longestMs = 35_000;

/** Creates pods at the API server as its clients do, over connections that are kept. */
export function createAdmissionClient(
  kubernetes: Kubernetes,
  namespace: string,
  maxSockets = mostConnections,
): AdmissionClient {
  const agent = new Agent({ ca: kubernetes.caCert, keepAlive: true, maxSockets });
  const url = `${kubernetes.url}/api/v1/namespaces/${namespace}/pods?dryRun=All`;
  return {
    admit: (pod = optedIn()) => post(url, agent, kubernetes.adminToken, pod),
    close: () => agent.destroy(),
  };
}

/** A pod that asks for protection; its command and its user are known, so that no registry is asked. */
export function optedIn(annotations: Readonly<Record<string, string>> = {}): object {
  return pod({
    'svc/inject': 'true',
    'svc/vault-role': 'app',
    'svc/secret-paths': 'secret/app',
    ...annotations,
  });
}

export function pod(annotations: Readonly<Record<string, string>> = {}): object {
  return {
    metadata: { generateName: 'load-', annotations },
    spec: {
      securityContext: { runAsUser: 65_532 },
      containers: [{ name: 'app', image: 'registry.example/app:1', command: ['/bin/app'] }],
    },
  };
}

function post(url: string, agent: Agent, token: string, body: object): Promise<Admission> {
  const at = performance.now();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const signal = AbortSignal.timeout(longestMs);
  const ended = (status: number, text: string) => ({ at, ms: performance.now() - at, ...read(status, text) });
  return new Promise((resolve) => {
    const failed = (error: Error) => resolve(ended(0, error.message));
    const call = request(url, { method: 'POST', agent, headers, signal }, (response) => {
      response.toArray().then((chunks) => {
        resolve(ended(response.statusCode ?? 0, Buffer.concat(chunks).toString()));
      }, failed);
    });
    call.once('error', failed).end(JSON.stringify(body));
  });
}

function read(status: number, text: string): Pick<Admission, 'status' | 'injected' | 'message'> {
  if (status !== 201) return { status, injected: false, message: messageIn(text) };
  const { metadata, spec } = JSON.parse(text);
  const isWrapped = spec.containers[0].command[0] === '/svc/svc-wrapper';
  return { status, injected: isWrapped && metadata.labels?.['svc/protected'] === 'true', message: '' };
}

function messageIn(text: string): string {
  try {
    return String(JSON.parse(text).message);
  } catch {
    return text;
  }
}
