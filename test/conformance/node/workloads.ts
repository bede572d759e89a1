import { digestOf } from '../../plugins/operator/path/application.ts';
import { acceptServiceAccounts, allowRole } from '../../plugins/operator/path/key-server.ts';
import { restrictedContainer, restrictedPod } from '../../plugins/operator/path/pods.ts';
import { kvStore } from '../../support/kv.ts';
import { comesAbout, kubectl, type NodeBed, type NodeCheck, readyPods } from './bed.ts';

export const USER = 'shop-user';
export const PASSWORD = 'correct-horse-battery-staple';
/** A namespace for each level of Pod Security. */
export const LEVELS = ['restricted', 'baseline', 'privileged'] as const;

const ROLE = 'app';
const IMAGE = 'registry.example/shop:7';

/** What a person of the pages sets up once: logins of pods, secrets, a transit key, a bucket. */
export async function setUpKeyServer({ bao, kube, store }: NodeBed): Promise<void> {
  await acceptServiceAccounts(bao, kube);
  const kv = await kvStore(bao);
  await kv.put('shop/db', { user: USER, password: PASSWORD });
  await bao.enableTransit();
  const transit = await bao.transitPolicy();
  for (const level of LEVELS) {
    await allowRole(bao, ROLE, level, [kv.policy]);
    await allowRole(bao, 'app-proxy', level, [transit]);
  }
  await store.createBucket('photos');
}

interface Shop {
  readonly namespace: string;
  readonly name: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly pod?: object;
  readonly container?: object;
}

/** A Deployment as in docs/GETTING-STARTED.md, with probes. */
export function shop({ namespace, name, annotations = asked, pod = {}, container = {} }: Shop): object {
  const labels = { app: name };
  const probe = { periodSeconds: 15, timeoutSeconds: 14, failureThreshold: 8 };
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace } },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations },
        spec: {
          ...{ terminationGracePeriodSeconds: 5, ...pod },
          containers: [
            {
              ...{ name: 'shop', image: IMAGE, command: ['/usr/bin/shop'], args: ['--port', '8000'] },
              readinessProbe: { ...probe, httpGet: { path: '/', port: 8000 } },
              livenessProbe: { ...probe, exec: { command: ['cat', '/www/index.html'] } },
              ...container,
            },
          ],
        },
      },
    },
  };
}

export const asked: Readonly<Record<string, string>> = {
  'svc/inject': 'true',
  'svc/vault-role': ROLE,
  'svc/secret-paths': 'secret/shop/db',
};

/** Those of the levels: what each admits, and no more. */
const CONTEXTS = {
  restricted: {
    pod: { securityContext: restrictedPod },
    container: { securityContext: restrictedContainer },
  },
  baseline: { pod: { securityContext: { runAsUser: 1000 } } },
  privileged: { pod: { securityContext: { runAsUser: 0 } } },
} as const;

/** A Deployment at each level starts, has its secret and passes its probes; it is used as people use pods. */
export const workloads: NodeCheck = async (bed, report) => {
  await applyShops(bed);
  await shopsHaveSecrets(bed, report);
};

async function applyShops(bed: NodeBed): Promise<void> {
  for (const level of LEVELS) {
    const labels = { 'pod-security.kubernetes.io/enforce': level };
    await bed.kube.must('POST', '/api/v1/namespaces', { metadata: { name: level, labels } });
    await bed.kube.createServiceAccount({ namespace: level, name: 'default' });
    await bed.kube.apply(shop({ namespace: level, name: 'shop', ...CONTEXTS[level] }));
  }
}

export const shopsHaveSecrets: NodeCheck = async (bed, report) => {
  for (const level of LEVELS) {
    await readyPods(bed, level, 'app=shop');
    const line = await comesAbout(bed, level, 'the line of the shop', () => shopLine(bed, level, 'shop'));
    const secret = `user=${digestOf(USER)} password=${digestOf(PASSWORD)}`;
    report.check(`${level}: starts with its secret, and its probes pass`, line.includes(secret), line);
  }
};

async function shopLine(bed: NodeBed, namespace: string, name: string): Promise<string> {
  const text = await kubectl(bed, 'logs', '--namespace', namespace, `deployment/${name}`, '--container=shop');
  return /^shop .*$/m.exec(text)?.[0] ?? '';
}

/** What people do to pods all day, which protection leaves alone. */
export const dailyUse: NodeCheck = async (bed, report) => {
  for (const level of LEVELS) {
    const [pod] = await readyPods(bed, level, 'app=shop');
    const name: string = pod.metadata.name;
    const run = (...args: string[]) => bed.kube.kubectl([...args]);
    const exec = await run(
      'exec',
      '--namespace',
      level,
      name,
      '--container=shop',
      '--',
      'cat',
      '/www/index.html',
    );
    report.check(`${level}: kubectl exec`, exec.stdout === 'open\n', exec.stderr);
    const list = await run('exec', '--namespace', level, name, '--container=shop', '--', 'ps');
    report.check(`${level}: kubectl exec ps`, /httpd/.test(list.stdout), list.stderr);
    const copy = `${bed.folder}/copy-${level}`;
    const got = await run('cp', '--namespace', level, '--container=shop', `${name}:/www/index.html`, copy);
    report.check(`${level}: kubectl cp`, got.status === 0, got.stderr);
  }
};
