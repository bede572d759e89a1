import { digestOf } from '../../plugins/operator/path/application.ts';
import { comesAbout, kubectl, type NodeBed, type NodeCheck, readyPods } from './bed.ts';
import { asked, CONTEXTS, digests, IMAGE, PASSWORD, shop, shopPod } from './shop.ts';
import { shopLine } from './workloads.ts';

const NAMESPACE = 'restricted';
const context = CONTEXTS.restricted;
const metadata = (name: string) => ({ name, namespace: NAMESPACE });
/** Says of which digest its password is, and ends. */
const SAYS = ['/bin/sh', '-c', 'echo "digest $(printf %s "$password" | sha256sum | cut -c 1-64)"'];
const said = `digest ${digestOf(PASSWORD)}\n`;

/** Workloads that are no Deployment of one container. */
export const kinds: NodeCheck = async (bed, report) => {
  const { name, ...rest } = { name: 'state', ...context };
  await bed.kube.apply(
    {
      ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: metadata(name) },
      spec: {
        ...{ serviceName: name, selector: { matchLabels: { app: name } } },
        template: shopPod({ name, ...rest }),
      },
    },
    cronJob(),
    composed(),
  );
  await readyPods(bed, NAMESPACE, 'app=state');
  const line = await comesAbout(bed, NAMESPACE, 'the line of the StatefulSet', () =>
    shopLine(bed, NAMESPACE, 'statefulset/state'),
  );
  report.check('a StatefulSet starts with its secret', line.includes(digests()), line);
  const job = await finishedJob(bed);
  report.check('a CronJob runs to its end with its secret', job.includes(said), job.trim());
  const [pod] = await readyPods(bed, NAMESPACE, 'app=composed');
  const of = (container: string) =>
    kubectl(bed, 'logs', '--namespace', NAMESPACE, pod.metadata.name, '-c', container);
  const initial = await of('prepare');
  report.check('a wrapped init container has the secret, and ends', initial.includes(said), initial.trim());
  const main = await of('shop');
  report.check(
    'an application that shares its processes starts with it',
    main.includes(digests()),
    main.trim(),
  );
  const side = await of('side');
  report.check(
    'a native sidecar runs beside it, and has nothing',
    side.includes(`digest ${digestOf('')}\n`),
    side.trim(),
  );
  await kubectl(bed, 'delete', 'statefulset', 'state', '--namespace', NAMESPACE);
};

function cronJob(): object {
  const template = shopPod({
    ...{ name: 'report', pod: { ...context.pod, restartPolicy: 'Never' } },
    container: { ...context.container, command: SAYS, args: [], readinessProbe: null, livenessProbe: null },
  });
  return {
    ...{ apiVersion: 'batch/v1', kind: 'CronJob', metadata: metadata('report') },
    spec: {
      ...{ schedule: '* * * * *', concurrencyPolicy: 'Forbid' },
      jobTemplate: { spec: { backoffLimit: 0, template } },
    },
  };
}

/** The log of its first job that has succeeded. */
async function finishedJob(bed: NodeBed): Promise<string> {
  const at = ['--namespace', NAMESPACE];
  const name = await comesAbout(bed, NAMESPACE, 'the end of a job', async () => {
    const { items } = await bed.kube.must('GET', `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`);
    return items.find(({ status }: { status: { succeeded?: number } }) => status.succeeded)?.metadata.name;
  });
  const log = await kubectl(bed, 'logs', ...at, `job/${name}`);
  await kubectl(bed, 'delete', 'cronjob', 'report', ...at);
  return log;
}

/** An init container that gets the secret, a native sidecar that does not, and processes that see each other. */
function composed(): object {
  const image = { image: IMAGE, ...context.container };
  return shop({
    ...{ namespace: NAMESPACE, name: 'composed', container: context.container ?? {} },
    annotations: { ...asked, 'svc/containers': 'prepare,shop' },
    pod: {
      ...{ ...context.pod, shareProcessNamespace: true },
      initContainers: [
        { name: 'prepare', ...image, command: SAYS },
        {
          ...{ name: 'side', ...image, restartPolicy: 'Always' },
          command: ['/bin/sh', '-c', `${SAYS[2]}; exec sleep 100000`],
        },
      ],
    },
  });
}
