import { NODE_NAME } from '../../support/node/disk.ts';
import { takeAgentAway } from './agent-loss.ts';
import {
  type ApiObject,
  comesAbout,
  type NodeBed,
  type NodeCheck,
  podsGone,
  readyPods,
  upgradeChart,
} from './bed.ts';
import { asked, CONTEXTS, shopPod } from './shop.ts';
import { svcValidate } from './validate.ts';

const SYSTEM = 'svc-system';
const NAMESPACE = 'restricted';
const NODE = `/api/v1/nodes/${NODE_NAME}`;
const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/svc-operator';
const OPERATOR = `/apis/apps/v1/namespaces/${SYSTEM}/deployments/svc-operator`;
const AGENT_PODS = 'app.kubernetes.io/name=svc-ebpf';
const OPERATOR_PODS = 'app.kubernetes.io/name=svc-operator';
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
const POLICIES = `/apis/networking.k8s.io/v1/namespaces/${NAMESPACE}/networkpolicies`;
const proxied: Readonly<Record<string, string>> = {
  'svc/s3-proxy': 'true',
  'svc/proxy-role': 'app-proxy',
  'svc/proxy-upstream': 'https://s3.example.eu',
};
/** kubelet and operator repair some of it within seconds. */
const ATTEMPTS = 5;

/** A way to break a cluster, and the checks of `svc validate` that have to see it. */
interface Breakage {
  readonly how: string;
  readonly checks: readonly string[];
  /** @returns what repairs it */
  breakIt(bed: NodeBed): Promise<() => Promise<unknown>>;
}

/** Checks of the cluster fail when it is broken, and pass again when it is not. */
export const broken: NodeCheck = async (bed, report) => {
  for (const { how, checks, breakIt } of BREAKAGES) {
    let seen: readonly string[] = [];
    for (let attempt = 0; attempt < ATTEMPTS && seen.length < checks.length; attempt++) {
      const repair = await breakIt(bed);
      try {
        seen = await failing(bed, checks);
      } finally {
        await repair();
      }
    }
    report.check(`${how}: ${checks.join(', ')}`, seen.length === checks.length, `seen: ${seen}`);
  }
  const all = BREAKAGES.flatMap(({ checks }) => checks);
  await comesAbout(
    bed,
    SYSTEM,
    'a cluster that is whole',
    async () => (await failing(bed, all)).length === 0,
  );
  report.check('all of them pass when it is repaired', true);
};

/** Which of these checks have failed. */
async function failing(bed: NodeBed, checks: readonly string[]): Promise<string[]> {
  const ids = checks.flatMap((id) => ['--check', id]);
  const { stdout } = await svcValidate(bed, '--json', ...ids);
  const { checks: found } = JSON.parse(stdout) as ApiObject;
  return found
    .filter((one: ApiObject) => checks.includes(one.id) && one.state === 'failed')
    .map((one: ApiObject) => one.id);
}

const BREAKAGES: readonly Breakage[] = [
  nodeSays('kernelVersion', '4.19.0-27-cloud-amd64', 'SVC-CLUSTER-002'),
  nodeSays('architecture', 's390x', 'SVC-CLUSTER-004'),
  {
    how: 'the node is labelled as one of Fargate',
    checks: ['SVC-CLUSTER-003'],
    async breakIt({ kube }) {
      const label = (value: string | null) =>
        kube.must('PATCH', NODE, { metadata: { labels: { 'eks.amazonaws.com/compute-type': value } } });
      await label('fargate');
      return () => label(null);
    },
  },
  webhooksWith('webhooks are asked for updates', 'SVC-OPERATOR-007', (hook) => {
    for (const rule of hook.rules) rule.operations = ['UPDATE'];
  }),
  webhooksWith('webhooks may be passed by', 'SVC-OPERATOR-008', (hook) => {
    hook.failurePolicy = 'Ignore';
  }),
  webhooksWith('webhooks select pods by a label', 'SVC-OPERATOR-009', leftOut),
  webhooksWith('webhooks trust another authority', 'SVC-OPERATOR-010', (hook, { outsideCa }) => {
    hook.clientConfig.caBundle = Buffer.from(outsideCa).toString('base64');
  }),
  {
    how: 'a pod that asks for protection was created past the webhook',
    checks: ['SVC-OPERATOR-015'],
    async breakIt(bed) {
      const restore = await changeWebhooks(bed, leftOut);
      const name = 'passed-by';
      const { metadata, spec } = shopPod({ name, annotations: asked, ...CONTEXTS.restricted }) as ApiObject;
      await bed.kube.must('POST', PODS, { metadata: { ...metadata, name }, spec }).finally(restore);
      await readyPods(bed, NAMESPACE, `app=${name}`);
      return () => bed.kube.must('DELETE', `${PODS}/${name}?gracePeriodSeconds=0`);
    },
  },
  {
    how: 'a pod names a ConfigMap for the authorities of its store that is not there',
    checks: ['SVC-OPERATOR-021'],
    async breakIt({ kube }) {
      const name = 'no-store-ca';
      const annotations = { ...asked, ...proxied, 'svc/proxy-store-ca': name };
      const { metadata, spec } = shopPod({ name, annotations, ...CONTEXTS.restricted }) as ApiObject;
      await kube.must('POST', PODS, { metadata: { ...metadata, name }, spec });
      return () => kube.must('DELETE', `${PODS}/${name}?gracePeriodSeconds=0`);
    },
  },
  {
    how: 'a policy lets every pod reach everything',
    checks: ['SVC-EGRESS-002'],
    async breakIt({ kube }) {
      const spec = { podSelector: {}, policyTypes: ['Egress'], egress: [{}] };
      await kube.must('POST', POLICIES, { metadata: { name: 'everything' }, spec });
      return () => kube.must('DELETE', `${POLICIES}/everything`);
    },
  },
  {
    how: 'no operator runs, and the policies of a namespace are gone',
    checks: ['SVC-OPERATOR-001', 'SVC-OPERATOR-002', 'SVC-EGRESS-001'],
    async breakIt(bed) {
      const scale = (replicas: number) => bed.kube.must('PATCH', OPERATOR, { spec: { replicas } });
      await scale(0);
      await podsGone(bed, SYSTEM, OPERATOR_PODS);
      await bed.kube.must('DELETE', POLICIES);
      return async () => {
        await scale(1);
        await readyPods(bed, SYSTEM, OPERATOR_PODS);
      };
    },
  },
  {
    how: 'agents run on no node, and may be evicted',
    checks: ['SVC-AGENT-001', 'SVC-AGENT-005'],
    breakIt: (bed) => takeAgentAway(bed, { priorityClassName: null }),
  },
  {
    how: 'agents only report',
    checks: ['SVC-AGENT-003'],
    async breakIt(bed) {
      const enforce = async (mode: boolean) => {
        const [before] = await readyPods(bed, SYSTEM, AGENT_PODS);
        const { status, stderr } = await upgradeChart(bed, `enforceMode=${mode}`);
        if (status !== 0) throw new Error(stderr);
        const isAnother = ({ metadata }: ApiObject) => metadata.uid !== before.metadata.uid;
        await readyPods(bed, SYSTEM, AGENT_PODS, 1, isAnother);
      };
      await enforce(false);
      return () => enforce(true);
    },
  },
];

function nodeSays(field: string, value: string, check: string): Breakage {
  return {
    how: `the node says that its ${field} is ${value}`,
    checks: [check],
    async breakIt({ kube }) {
      const { status } = await kube.must('GET', NODE);
      const say = (text: string) =>
        kube.must('PATCH', `${NODE}/status`, { status: { nodeInfo: { [field]: text } } });
      await say(value);
      return () => say(status.nodeInfo[field]);
    },
  };
}

type ChangeHook = (hook: ApiObject, bed: NodeBed) => void;

function leftOut(hook: ApiObject): void {
  hook.objectSelector = { matchLabels: { 'no-such': 'label' } };
}

function webhooksWith(how: string, check: string, change: ChangeHook): Breakage {
  return { how, checks: [check], breakIt: (bed) => changeWebhooks(bed, change) };
}

async function changeWebhooks(bed: NodeBed, change: ChangeHook): Promise<() => Promise<unknown>> {
  const { kube } = bed;
  const { webhooks } = await kube.must('GET', WEBHOOKS);
  const put = (hooks: ApiObject[]) => kube.must('PATCH', WEBHOOKS, { webhooks: hooks });
  const changed = structuredClone(webhooks);
  for (const hook of changed) change(hook, bed);
  await put(changed);
  return () => put(webhooks);
}
