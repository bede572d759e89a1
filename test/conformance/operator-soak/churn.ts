import type { Kubernetes } from '../../support/kubernetes.ts';
import type { Random } from '../soak/random.ts';

const namespacesAtMost = 15;
const podsAtMost = 12;

interface Place {
  readonly name: string;
  readonly pods: string[];
  readonly configs: string[];
}

export interface Churn {
  /** What was done how often. */
  readonly counts: Readonly<Record<string, number>>;
  /** Of what failed though it should not have. */
  readonly failures: readonly string[];
  /** One change of the cluster. */
  step(): Promise<void>;
}

type Work = (place: Place) => Promise<unknown>;

/** Makes, changes and deletes namespaces, ServiceConfigs and pods, as the random choices have it. */
export function createChurn(kubernetes: Kubernetes, random: Random): Churn {
  const places: Place[] = [];
  const counts: Record<string, number> = {};
  const failures: string[] = [];
  let number = 0;
  const { must } = kubernetes;
  const one = <T>(all: readonly T[]): T => all[random.below(all.length)] as T;
  const take = <T>(all: T[]): T => all.splice(random.below(all.length), 1)[0] as T;
  const configPath = (place: Place) => `/apis/svc.io/v1alpha1/namespaces/${place.name}/serviceconfigs`;
  const podPath = (place: Place) => `/api/v1/namespaces/${place.name}/pods`;

  const addNamespace = async () => {
    const place: Place = { name: await kubernetes.createNamespace(), pods: [], configs: [] };
    await addConfig(place);
    places.push(place);
  };
  const addConfig: Work = async (place) => {
    const name = `config-${number++}`;
    await must('POST', configPath(place), {
      ...{ apiVersion: 'svc.io/v1alpha1', kind: 'ServiceConfig', metadata: { name } },
      spec: specOf(number, `app-${place.configs.length}`),
    });
    place.configs.push(name);
  };
  const changeConfig: Work = async (place) => {
    const path = `${configPath(place)}/${one(place.configs)}`;
    await must('PATCH', path, { spec: { secretPaths: [`secret/changed-${number++}`] } });
  };
  const addPod: Work = async (place) => {
    const name = `pod-${number++}`;
    const app = `app-${random.below(4)}`;
    await must('POST', podPath(place), podOf(name, app, random.below(4) === 0));
    place.pods.push(name);
  };
  const works: readonly { weight: number; name: string; fits: (place: Place) => boolean; work: Work }[] = [
    { weight: 8, name: 'pods made', fits: ({ pods }) => pods.length < podsAtMost, work: addPod },
    {
      ...{ weight: 6, name: 'pods deleted', fits: ({ pods }) => pods.length > 0 },
      work: (place) => must('DELETE', `${podPath(place)}/${take(place.pods)}?gracePeriodSeconds=0`),
    },
    {
      weight: 4,
      name: 'ServiceConfigs changed',
      fits: ({ configs }) => configs.length > 0,
      work: changeConfig,
    },
    { weight: 2, name: 'ServiceConfigs made', fits: ({ configs }) => configs.length < 4, work: addConfig },
    {
      ...{ weight: 2, name: 'ServiceConfigs deleted', fits: ({ configs }) => configs.length > 0 },
      work: (place) => must('DELETE', `${configPath(place)}/${take(place.configs)}`),
    },
    {
      ...{ weight: 1, name: 'namespaces deleted', fits: () => places.length > 3 },
      async work(place) {
        places.splice(places.indexOf(place), 1);
        await must('DELETE', `/api/v1/namespaces/${place.name}`);
      },
    },
  ];
  const choose = () => {
    if (places.length < 3 || (places.length < namespacesAtMost && random.below(16) === 0)) {
      return { name: 'namespaces made', run: addNamespace };
    }
    const place = one(places);
    const fitting = works.filter(({ fits }) => fits(place));
    const { name, work } = random.weighted(fitting.map((value) => ({ weight: value.weight, value })));
    return { name, run: () => work(place) };
  };
  return {
    counts,
    failures,
    async step() {
      const { name, run } = choose();
      try {
        await run();
        counts[name] = (counts[name] ?? 0) + 1;
      } catch (error) {
        failures.push(`${name}: ${error instanceof Error ? error.message : error}`);
      }
    },
  };
}

function specOf(number: number, app: string): object {
  return {
    selector: { matchLabels: { app } },
    vault: { role: 'soak' },
    secretPaths: [`secret/soak-${number}`],
    ...(number % 3 === 0 && { egress: [{ cidr: `192.0.2.${number % 256}/32` }] }),
  };
}

function podOf(name: string, app: string, annotated: boolean): object {
  const annotations = { 'svc/inject': 'true', 'svc/vault-role': 'soak', 'svc/secret-paths': 'secret/own' };
  return {
    metadata: { name, labels: { app }, ...(annotated && { annotations }) },
    // its command and its user are known, so that no registry is asked
    spec: {
      securityContext: { runAsUser: 65_532 },
      containers: [{ name: 'app', image: 'registry.example/app:1', command: ['/bin/app'] }],
    },
  };
}
