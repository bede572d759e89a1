import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import * as grpc from '@grpc/grpc-js';
import { createMemoryCgroup } from '../../../support/limit-cgroup.ts';
import { type Loopback, listen } from '../../../support/loopback.ts';
import {
  type OperatorCluster,
  type Replica,
  startOperatorCluster,
} from '../../../support/operator-cluster.ts';
import { waitFor } from '../../../support/wait-for.ts';
import type { AnswerKind, Target, WorstInput } from '../input.ts';
import { type ObjectInput, objectInputs, objectsOfAKind } from '../inputs/objects.ts';
import { MiB, once } from '../inputs/pieces.ts';
import { chunksOfOne, type RegistryInput, registryInputs } from '../inputs/registry.ts';
import { type ReportInput, reportInputs } from '../inputs/reports.ts';
import { reviewInputs, reviewOf } from '../inputs/reviews.ts';
import { sendBytes } from '../send.ts';

const limit = 128 * MiB;
const vaultAddress = 'https://vault.example:8200';
const system = 'svc-system';
/** The reviews name it. */
const namespace = 'worst';
/** A registry that the operator may reach although it is on this machine. */
const mirrored = 'registry.example';

export const operatorTargets = [{ name: 'operator', start: startOperator }];

/** The operator on a real API server, under the chart's account and environment. Reviews are posted to it directly. */
async function startOperator(): Promise<Target> {
  const cgroup = createMemoryCgroup(limit);
  const registry = await startRegistry();
  const values = { operator: { vaultAddress } };
  const cluster = await startOperatorCluster({ replicas: 0, values });
  const { kubernetes } = cluster;
  const mirror = `${mirrored}=http://${registry.address}`;
  const env = { MALLOC_ARENA_MAX: '1', SVC_OPERATOR_REGISTRY_MIRRORS: mirror };
  const add = () => cluster.add({ inside: true, memory: cgroup, env });
  let replica = await ready(await add());
  await kubernetes.must('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  await kubernetes.createServiceAccount({ namespace, name: 'default' });
  const review = (text: Buffer) => postReview(replica, text);
  const inputs = [
    ...reviewInputs.map(({ text, ...one }): WorstInput => {
      const bytes = once(text);
      return { ...one, send: () => review(bytes()) };
    }),
    ...registryInputs.map((one, at) => registryInput(one, at, review)),
    ...objectInputs.filter(isSecret).map((one) => objectInput(cluster, one)),
    pullSecretInput(review),
    ...reportInputs.map((one) => reportInput(cluster, () => replica, one)),
    // last, because they stay
    ...objectInputs.filter((one) => !isSecret(one)).map((one) => objectInput(cluster, one)),
  ];
  return {
    ...{ name: 'operator', limit, inputs, killed: cgroup.killed },
    get pid() {
      return replica.pid;
    },
    get healthz() {
      return `http://${replica.started['health']}/healthz`;
    },
    async restart() {
      await replica.stop();
      replica = await ready(await add());
    },
    async stop() {
      await cluster.stop();
      await registry.stop();
      await cgroup.remove();
    },
  };
}

async function ready(replica: Replica): Promise<Replica> {
  const url = `http://${replica.started['health']}/readyz`;
  await waitFor('the operator to be ready', async () => (await fetch(url)).ok);
  return replica;
}

function postReview({ started }: Replica, text: Buffer): Promise<AnswerKind> {
  const head = [
    'POST /mutate?timeout=10s HTTP/1.1',
    ...['Host: svc-operator', 'Connection: close', 'Content-Type: application/json'],
    ...[`Content-Length: ${text.length}`, '', ''],
  ];
  return sendBytes(`https://${started['webhook']}`, Buffer.concat([Buffer.from(head.join('\r\n')), text]));
}

/** A pod whose command only its image says. */
function reviewOfImage(image: string, more = ''): Buffer {
  const metadata =
    '"annotations":{"svc/inject":"true","svc/vault-role":"app","svc/secret-paths":"secret/app"}},';
  const spec = `"spec":{"securityContext":{"runAsUser":65532}${more},"containers":[{"name":"app","image":"${image}"}]}`;
  return Buffer.from(reviewOf(metadata, spec).join(''));
}

type Review = (text: Buffer) => Promise<AnswerKind>;

/** Each review is about another image, so that none is looked up for another. */
const imageOf = (at: number, number: number): string => `${mirrored}/team/a${at}-${number}:v1`;

function registryInput({ name }: RegistryInput, at: number, review: Review): WorstInput {
  let sent = 0;
  return { name, outcomes: [200], send: () => review(reviewOfImage(imageOf(at, sent++))) };
}

const isSecret = ({ kind }: ObjectInput): boolean => kind === 'secrets';

/** The secrets are made by the inputs that are objects. */
function pullSecretInput(review: Review): WorstInput {
  const names = Array.from({ length: objectsOfAKind }, (_, at) => `{"name":"logins-${at}"}`);
  let sent = 1_000;
  return {
    ...{ name: `a pod that names ${objectsOfAKind} pull secrets full of logins`, outcomes: [200] },
    send: () => review(reviewOfImage(imageOf(0, sent++), `,"imagePullSecrets":[${names}]`)),
  };
}

interface Content {
  readonly bytes: Buffer;
  readonly digest: string;
}

function content(bytes: Buffer): Content {
  return { bytes, digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}` };
}

const usual = Buffer.from('{"os":"linux","config":{"Entrypoint":["/a"]}}');

/** A registry of whoever creates pods. */
async function startRegistry(): Promise<Loopback> {
  const images = registryInputs.map((input) =>
    once(() => {
      const config = content(input.config?.() ?? usual);
      return { config, manifest: content(input.manifest(config.digest)), input };
    }),
  );
  return listen(
    createServer((request: IncomingMessage, response: ServerResponse) => {
      const [, at, kind, reference] =
        /^\/v2\/team\/a(\d+)-\d+\/(manifests|blobs)\/([^?]+)/.exec(request.url ?? '') ?? [];
      const image = images[Number(at)]?.();
      if (image === undefined) return void response.writeHead(404).end();
      const { manifest, config, input } = image;
      const { bytes, digest } = kind === 'manifests' && reference !== config.digest ? manifest : config;
      const type = `application/vnd.oci.image.${input.name.includes('index') ? 'index' : 'manifest'}.v1+json`;
      const headers = { 'content-type': type, 'docker-content-digest': digest };
      if (request.method === 'GET' && kind === 'manifests' && input.inChunksOfOne) {
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
        const head = `HTTP/1.1 200 OK\r\n${lines.join('')}transfer-encoding: chunked\r\n\r\n`;
        request.socket.end(Buffer.concat([Buffer.from(head), inChunks(bytes)]));
        return;
      }
      response.writeHead(200, { ...headers, 'content-length': bytes.length });
      response.end(request.method === 'HEAD' ? undefined : bytes);
    }),
  );
}

/** Its beginning in one chunk, and the blanks behind it in chunks of one byte. */
function inChunks(bytes: Buffer): Buffer {
  const blanks = bytes.indexOf('    ');
  const begin = bytes.subarray(0, blanks);
  const end = bytes.subarray(bytes.length - 1);
  const first = Buffer.concat([Buffer.from(`${begin.length.toString(16)}\r\n`), begin, Buffer.from('\r\n')]);
  const many = Buffer.alloc(6 * (bytes.length - 1 - blanks), '1\r\n \r\n');
  return Buffer.concat([first, many, chunksOfOne(1, end.toString())]);
}

/** Sent with the certificate that all agents have, and a token that is none. */
function reportInput(
  cluster: OperatorCluster,
  replica: () => Replica,
  { name, bytes }: ReportInput,
): WorstInput {
  const all = once(() => Buffer.from(bytes()));
  const credentials = once(async () => {
    const path = `/api/v1/namespaces/${system}/secrets/svc-agent-tls`;
    const { json } = await cluster.kubernetes.request('GET', path);
    const { data } = json as { data: Record<string, string> };
    const pem = (key: string) => Buffer.from(data[key] ?? '', 'base64');
    return grpc.credentials.createSsl(pem('ca.crt'), pem('tls.key'), pem('tls.crt'));
  });
  return {
    name,
    outcomes: [
      'INVALID_ARGUMENT',
      'UNAUTHENTICATED',
      'PERMISSION_DENIED',
      'RESOURCE_EXHAUSTED',
      'UNAVAILABLE',
    ].map((code) => grpc.status[code as keyof typeof grpc.status]),
    send: async () => sendReport(replica().started['grpc'] ?? '', await credentials(), all()),
  };
}

function sendReport(
  address: string,
  credentials: grpc.ChannelCredentials,
  bytes: Buffer,
): Promise<AnswerKind> {
  const client = new grpc.Client(address, credentials, {
    'grpc.ssl_target_name_override': 'svc-operator',
    'grpc.use_local_subchannel_pool': 1,
  });
  const metadata = new grpc.Metadata();
  metadata.set('authorization', 'Bearer none');
  const same = (message: Buffer) => message;
  const method = '/svc.operator.v1.NodeChannel/ReportNode';
  return new Promise((resolve) => {
    const deadline = { deadline: Date.now() + 60_000 };
    client.makeUnaryRequest(method, same, same, bytes, metadata, deadline, (error) => {
      client.close();
      resolve(error?.code ?? 0);
    });
  });
}

/** As many of a kind as a user of one namespace may well make; then it is there already. */
function objectInput({ kubernetes }: OperatorCluster, { name, kind, object }: ObjectInput): WorstInput {
  let next = 0;
  return {
    ...{ name, outcomes: [201, 409, 'silent'], atOnce: objectsOfAKind },
    async send() {
      const text = object(next++ % objectsOfAKind).toString();
      const path = `/api/v1/namespaces/${namespace}/${kind}`;
      return kubernetes.request('POST', path, JSON.parse(text)).then(
        ({ status }) => status,
        () => 'silent',
      );
    },
  };
}
