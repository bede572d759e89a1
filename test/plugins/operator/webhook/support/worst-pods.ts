const asked = { 'svc/inject': 'true', 'svc/vault-role': 'app', 'svc/secret-paths': 'secret/app' };
const app = { name: 'app', image: 'app:1', command: ['/app'] };
/** Known users, so that no registry is asked. */
const securityContext = { runAsUser: 1_000 };

interface Parts {
  readonly annotations?: object;
  readonly labels?: object;
  readonly spec?: object;
}

/** A pod that asks for protection. */
function pod({ annotations = {}, labels = {}, spec = {} }: Parts): object {
  return {
    metadata: { generateName: 'pod-', labels, annotations: { ...asked, ...annotations } },
    spec: { securityContext, containers: [app], ...spec },
  };
}

/** As in `pod`, with something more of its container. */
const container = (more: object, count = 1): object =>
  pod({ spec: { containers: numbers(count).map((index) => ({ ...app, name: `app-${index}`, ...more })) } });

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const members = (count: number, name: (index: number) => string, value = ''): object =>
  Object.fromEntries(numbers(count).map((index) => [name(index), value]));

const longNames = (count: number, size: number): object[] =>
  numbers(count).map((index) => ({ ...app, name: `${index}`.padEnd(size / count, 'a') }));

const strayMounts = numbers(200).map((index) => ({ name: 'svc-wrapper', mountPath: `/x${index}` }));
const ownVariables = ['VAULT_ADDR', 'SVC_SECRET_PATHS', 'HEALTH_ADDR', 'SVC_ORIGINAL_CMD'].map((name) => ({
  ...{ name, value: 'x' },
}));

/** As large a JSON as an API server takes. */
export const largestPod = 2_800_000;

/** A pod that asks for nothing; `svc/protected` namespaces have such reviewed as well. */
export const usualPod = {
  metadata: { generateName: 'usual-', labels: { app: 'usual' } },
  spec: { securityContext, containers: [app] },
};

/**
 * Complete pods of about `size` bytes, each of which once took many times its size, or seconds: by what there is much of.
 */
export const worstPods: Readonly<Record<string, (size: number) => object>> = {
  'references that are never closed': (size) => container({ command: ['/a', '$('.repeat(size / 2)] }),
  'references without a name': (size) => container({ command: ['/a', '$()'.repeat(size / 3)] }),
  'escaped dollars': (size) => container({ command: ['/a', '$$'.repeat(size / 2)] }),
  dollars: (size) => container({ command: ['/a', '$a'.repeat(size / 2)] }),
  'references of many containers': (size) =>
    container({ command: ['/a'], args: ['$()'.repeat(80_000)] }, size / 240_100),
  arguments: (size) => container({ args: Array(Math.floor(size / 4)).fill('a') }),
  'empty arguments': (size) => container({ args: Array(Math.floor(size / 3)).fill('') }),
  'commas in an argument': (size) => container({ args: [','.repeat(size)] }),
  'text beyond ASCII': (size) => container({ args: ['€'.repeat(size / 3)] }),
  variables: (size) =>
    container({ env: numbers(size / 32).map((index) => ({ name: `E${index}`, value: 'a' })) }),
  // these three are wrapped
  'a long variable': (size) => container({ env: [{ name: 'E', value: 'a'.repeat(size) }] }),
  'a long variable beyond ASCII': (size) => container({ env: [{ name: 'E', value: '€'.repeat(size / 3) }] }),
  'variables of several containers': (size) =>
    container({ env: numbers(size / 300).map((index) => ({ name: `E${index}`, value: 'a'.repeat(30) })) }, 4),
  ports: (size) => container({ ports: numbers(size / 22).map((containerPort) => ({ containerPort })) }),
  'empty objects': (size) => container({ volumeMounts: Array(Math.floor(size / 3)).fill({}) }),
  'nested lists': (size) => container({ args: Array(Math.floor(size / 9)).fill([[[[]]]]) }),
  labels: (size) => pod({ labels: members(size / 12, (index) => `l${index}`) }),
  'annotations of others': (size) => pod({ annotations: members(size / 12, (index) => `a${index}`) }),
  'unknown annotations of svc': (size) =>
    pod({ annotations: members(size / 16, (index) => `svc/a${index}`) }),
  'names in an annotation': (size) => pod({ annotations: { 'svc/containers': ','.repeat(size) } }),
  'mappings in an annotation': (size) =>
    pod({ annotations: { 'svc/secret-mapping': 'a,'.repeat(size / 2) } }),
  'node selectors': (size) => pod({ spec: { nodeSelector: members(size / 12, (index) => `n${index}`) } }),
  // the API server validates names only afterwards, and errors name them
  'long names of containers, and 500 unknown ones': (size) =>
    pod({
      annotations: {
        'svc/containers': numbers(500)
          .map((index) => `n${index}`)
          .join(),
      },
      spec: { containers: longNames(400, size) },
    }),
  'a long name of a container with many mounts': (size) =>
    pod({ spec: { containers: [{ ...app, name: 'a'.repeat(size), volumeMounts: strayMounts }] } }),
  'a long name of an init container with many mounts': (size) =>
    pod({ spec: { initContainers: [{ ...app, name: 'a'.repeat(size), volumeMounts: strayMounts }] } }),
  'a long name of a container with many variables': (size) =>
    pod({ spec: { containers: [{ ...app, name: 'a'.repeat(size), env: ownVariables }] } }),
  'long images': (size) =>
    pod({
      spec: {
        containers: numbers(400).map((index) => ({
          ...{ name: `app-${index}`, image: `${index}`.padEnd(size / 400, 'a') },
        })),
      },
    }),
  'long mount paths': (size) =>
    container({
      volumeMounts: numbers(400).map((index) => ({
        name: 'v',
        mountPath: `/svc/${index}`.padEnd(size / 400, 'a'),
      })),
    }),
  'a long list of wrong mappings': () => pod({ annotations: { 'svc/env-map': ','.repeat(250_000) } }),
};

const bare = { ...app, command: undefined };
const words = (all: readonly string[]) => ({ 'svc/command': JSON.stringify(all) });

/** Pods of at most a megabyte of which svc makes much more. */
export const largeAnswers: Readonly<Record<string, object>> = {
  'dollars of a command': pod({
    annotations: words(['/app', '$'.repeat(24_000)]),
    spec: { containers: numbers(20).map((index) => ({ ...bare, name: `app-${index}` })) },
  }),
  'words of a command': pod({
    annotations: words(['/app', ...Array(500).fill('')]),
    spec: { containers: numbers(400).map((index) => ({ ...bare, name: `app-${index}` })) },
  }),
  'as many containers as a pod may have, with text beyond ASCII': pod({
    annotations: words(['/app']),
    spec: {
      containers: numbers(500).map((index) => ({
        ...{ ...bare, name: `app-${index}`, args: ['€'.repeat(300)] },
        env: [{ name: 'E', value: 'a'.repeat(1_500) }],
      })),
    },
  }),
};

/** A text of this form and length, nested without end. */
export const nestedReview = (size: number): string =>
  `{"kind":"AdmissionReview","request":${'['.repeat(size)}`;
