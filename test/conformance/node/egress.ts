import { isDeepStrictEqual } from 'node:util';
import { nameServerConfig } from '../../support/node/objects.ts';
import { METADATA_ADDRESS, OUTSIDE, translation } from '../../support/node/outside.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { Report } from '../part.ts';
import {
  type ApiObject,
  comesAbout,
  kubectl,
  type NodeBed,
  type NodeCheck,
  onNode,
  readyPods,
} from './bed.ts';
import { startNetworkPlugin } from './network-plugin.ts';
import { asked, CONTEXTS, GUARDED, ROLE, shop } from './shop.ts';

interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** Without TLS, so that any address can be led to the store itself while the node runs. */
const STORE_PORT = 9_000;
const STORE: Endpoint = { address: OUTSIDE['s3.example.eu'].address, port: STORE_PORT };
/** Where the store moves to; until then, an address like any other. */
const LATER = { address: '10.0.2.204', port: STORE_PORT };
const METADATA = { address: METADATA_ADDRESS, port: 80 };
/** What a pod's connection takes at most. */
const CONNECT_S = 30;
const SETTLED_MS = 300_000;

/** Protected pods reach what the pages say and nothing else where policies are enforced, after their store has moved, too. */
export const egress: NodeCheck = async (bed, report) => {
  const plugin = await startNetworkPlugin(bed);
  try {
    for (const to of [STORE, LATER, METADATA]) await lead(bed, 'add', to);
    await startPods(bed);
    const destinations = await destinationsOf(bed);
    const everything = destinations.map(({ name }) => name);
    const always = ['the key server', 'the API server', 'names', 'DNS by TCP'];
    await reaches(bed, report, 'plain', destinations, everything);
    await reaches(bed, report, 'protected', destinations, always);
    await reaches(bed, report, 'stored', destinations, [...always, 'the store']);
    await usesStore(bed, report, 'before');
    await moveStore(bed, report);
    await reaches(bed, report, 'stored', destinations, [...always, 'where the store moves to']);
    await reaches(bed, report, 'protected', destinations, always);
    await usesStore(bed, report, 'after');
    await renewed(bed, report);
  } finally {
    await plugin.stop();
    await pointNames(bed);
  }
  const destinations = await destinationsOf(bed);
  const left = destinations.map(({ name }) => name).filter((name) => name !== 'the store');
  await reaches(bed, report, 'protected', destinations, left);
  await lead(bed, 'remove', LATER);
  await lead(bed, 'remove', METADATA);
  await kubectl(bed, 'delete', 'namespace', GUARDED);
};

/** One that nobody protects, one that is protected, and one that has the proxy as well. */
async function startPods(bed: NodeBed): Promise<void> {
  const { kube, store } = bed;
  await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: GUARDED } });
  await kube.createServiceAccount({ namespace: GUARDED, name: 'default' });
  const metadata = { namespace: GUARDED, name: 'stored' };
  await kube.apply(
    {
      ...{ apiVersion: 'v1', kind: 'Secret', metadata },
      stringData: { AWS_ACCESS_KEY_ID: store.accessKeyId, AWS_SECRET_ACCESS_KEY: store.secretAccessKey },
    },
    {
      ...{ apiVersion: 'svc.io/v1alpha1', kind: 'ServiceConfig', metadata },
      spec: {
        ...{ selector: { matchLabels: { app: 'stored' } }, vault: { role: ROLE } },
        ...{ secretPaths: ['secret/shop/db'], renewalInterval: '2m' },
        proxy: {
          ...{ enabled: true, role: 'app-proxy', credentialsSecret: metadata.name },
          upstream: `http://s3.example.eu:${STORE_PORT}`,
        },
      },
    },
  );
  // until then the webhook is not asked about the pods that it selects
  await comesAbout(bed, GUARDED, 'the ServiceConfig', async () => {
    const path = `/apis/svc.io/v1alpha1/namespaces/${GUARDED}/serviceconfigs/${metadata.name}`;
    const { status } = await bed.kube.must('GET', path);
    return status?.conditions?.some(({ type, status }: ApiObject) => type === 'Ready' && status === 'True');
  });
  const { pod, container } = CONTEXTS.restricted;
  const env = [{ name: 'AWS_REGION', value: store.region }];
  for (const [name, annotations] of Object.entries({ plain: {}, protected: asked, stored: {} })) {
    await kube.apply(shop({ namespace: GUARDED, name, annotations, pod, container: { ...container, env } }));
  }
  for (const name of ['plain', 'protected', 'stored']) await podNamed(bed, name);
}

interface Destination {
  readonly name: string;
  /** A command of a pod, which says `reached`. */
  readonly script: string;
}

async function destinationsOf(bed: NodeBed): Promise<Destination[]> {
  const [neighbour, [nameServer]] = await Promise.all([
    podNamed(bed, 'plain'),
    readyPods(bed, 'kube-system', 'k8s-app=kube-dns'),
  ]);
  const to = (name: string, { address, port }: { address: string; port: number }) => ({
    name,
    script: `nc -w ${CONNECT_S} ${address} ${port} -e /bin/sh -c "echo reached >&2"`,
  });
  return [
    to('the key server', OUTSIDE['vault.example.eu']),
    to('the API server', { address: '10.0.0.1', port: 443 }),
    { name: 'names', script: 'nslookup vault.example.eu | grep -q 10.0.2.200 && echo reached' },
    to('DNS by TCP', { address: '10.0.0.10', port: 53 }),
    to('the store', STORE),
    to('where the store moves to', LATER),
    to('another port of the store', OUTSIDE['s3.example.eu']),
    to('the registry', OUTSIDE['registry.example']),
    to('the metadata server', METADATA),
    to('another pod', { address: neighbour.status.podIP, port: 8_000 }),
    to("another port of the name server's pod", { address: nameServer.status.podIP, port: 8_181 }),
  ];
}

/** That a pod reaches these, and no other. */
async function reaches(
  bed: NodeBed,
  report: Report,
  pod: string,
  destinations: readonly Destination[],
  wanted: readonly string[],
): Promise<void> {
  let reached: string[] = [];
  await waitFor(
    `what ${pod} reaches`,
    async () => {
      reached = await reachedFrom(bed, pod, destinations);
      return isDeepStrictEqual(reached, wanted);
    },
    { timeoutMs: SETTLED_MS },
  ).catch(() => undefined);
  report.check(
    `the pod ${pod} reaches ${wanted.join(', ')}, and nothing else`,
    isDeepStrictEqual(reached, wanted),
    `reached: ${reached.join(', ')}`,
  );
}

/** All at once: each of those that are not reached takes as long as it may. */
async function reachedFrom(
  bed: NodeBed,
  pod: string,
  destinations: readonly Destination[],
): Promise<string[]> {
  const tries = destinations.map(
    ({ script }, index) => `{ { ${script}; } 2>&1 | grep -qx reached && echo ${index}; } &`,
  );
  const output = await inPod(bed, pod, `${tries.join('\n')}\nwait`);
  const indexes = output.split('\n').filter(Boolean).map(Number);
  return destinations.filter((_, index) => indexes.includes(index)).map(({ name }) => name);
}

/** An object put and read back by the application through the proxy beside it. */
async function usesStore(bed: NodeBed, report: Report, key: string): Promise<void> {
  const body = `plaintext ${key}`;
  const request = `PUT /photos/${key} HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: ${body.length}\\r\\n\\r\\n${body}`;
  const put = `printf "${request}"; read -r status; echo "$status" >&2`;
  const script = [
    'at=$(echo "$AWS_ENDPOINT_URL_S3" | cut -d / -f 3)',
    `nc \${at%:*} \${at#*:} -e /bin/sh -c '${put}' 2>&1`,
    // Debian's static busybox ends by SIGSEGV when its wget is told how long to wait
    `timeout 60 wget -q -O - $AWS_ENDPOINT_URL_S3/photos/${key} 2>&1`,
  ].join('\n');
  const output = await comesAbout(bed, GUARDED, `the object ${key}`, async () => {
    const output = await inPod(bed, 'stored', script);
    if (!output.includes(body)) throw new Error(output);
    return output;
  });
  report.check(`an object goes through the proxy ${key} the move`, output.startsWith('HTTP/1.1 200'), output);
}

/** Its name leads to another address, which the operator notices; then the old one is gone. */
async function moveStore(bed: NodeBed, report: Report): Promise<void> {
  await pointNames(bed, { 's3.example.eu': LATER.address });
  const begun = performance.now();
  const policy = `/apis/networking.k8s.io/v1/namespaces/${GUARDED}/networkpolicies/svc-egress-${GUARDED}-store`;
  const hosts = await comesAbout(bed, GUARDED, 'the new address in the policy', async () => {
    const { metadata } = await bed.kube.must('GET', policy);
    const text: string = metadata.annotations['svc/egress-hosts'];
    return text.includes(LATER.address) && text;
  });
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  report.check('the operator notices that the store has moved', true, `${seconds} s`);
  const both = `s3.example.eu=${[STORE, LATER].map(({ address }) => address).join(',')}`;
  report.check('and keeps its old address, for a day', hosts.includes(both), hosts);
  await lead(bed, 'remove', STORE);
  await onNode(bed, 'ip netns exec outside conntrack --flush 2> /dev/null');
}

/** The wrapper's token, while policies are enforced. */
async function renewed(bed: NodeBed, report: Report): Promise<void> {
  const count = await comesAbout(bed, GUARDED, 'a renewal', async () => {
    const metrics = await inPod(bed, 'stored', 'wget -q -O - http://127.0.0.1:8081/metrics');
    return Number(/^svc_wrapper_token_renewals_total\{result="renewed"\} (\d+)$/m.exec(metrics)?.[1]);
  });
  report.check('the wrapper renews its token at the key server', true, `${count} times`);
}

/** Has the cluster's name server say other addresses. */
async function pointNames(bed: NodeBed, moved: Parameters<typeof nameServerConfig>[0] = {}): Promise<void> {
  await bed.kube.apply(nameServerConfig(moved));
  const of = ['deployment/coredns', '--namespace', 'kube-system'];
  await kubectl(bed, 'rollout', 'restart', ...of);
  await kubectl(bed, 'rollout', 'status', ...of, '--timeout=30m');
}

const lead = (bed: NodeBed, change: 'add' | 'remove', { address, port }: Endpoint) =>
  onNode(bed, translation(change, address, port, bed.store.port));

const podNamed = async (bed: NodeBed, app: string) => {
  const [pod] = await readyPods(bed, GUARDED, `app=${app}`);
  return pod;
};

const inPod = (bed: NodeBed, app: string, script: string): Promise<string> =>
  kubectl(
    bed,
    'exec',
    '--namespace',
    GUARDED,
    `deployment/${app}`,
    '-c',
    'shop',
    '--',
    '/bin/sh',
    '-c',
    script,
  );
