import { appImage, bare, container, image, type PodCase, pod, tokenVolume, withToken } from './case.ts';

const always = { restartPolicy: 'Always' };
const requested = { requests: { cpu: '1', memory: '64Mi' }, limits: { cpu: '1', memory: '64Mi' } };
const app = (variables: Record<string, string | null>) => ({ app: variables });

/** Containers, volumes, probes and life cycles of every kind. */
export const shapePods: readonly PodCase[] = [
  {
    name: 'several containers',
    pod: pod({ containers: [container(), container({ name: 'worker' }), container({ name: 'third' })] }),
    variables: {
      app: { HEALTH_ADDR: ':8081' },
      worker: { HEALTH_ADDR: ':8082' },
      third: { HEALTH_ADDR: ':8083' },
    },
  },
  {
    name: 'two wrapped containers, one of which uses 8081',
    pod: pod({ containers: [container(), container({ name: 'web', ports: [{ containerPort: 8081 }] })] }),
    variables: { app: { HEALTH_ADDR: ':8082' }, web: { HEALTH_ADDR: ':8083' } },
  },
  {
    name: 'a chosen container of several',
    pod: pod({ containers: [container(), container({ name: 'other' })] }),
    plan: { containers: ['other'] },
    variables: { app: { VAULT_ADDR: null }, other: { VAULT_ADDR: 'https://vault.example:8200' } },
  },
  {
    name: 'a chosen container that is not there',
    pod: pod(),
    plan: { containers: ['app', 'none'] },
    denied: [/^svc\/containers: the pod has no container "none", it has app/],
  },
  {
    name: 'sidecars of meshes are left alone',
    pod: pod({
      containers: [container({ name: 'istio-proxy' }), container(), container({ name: 'linkerd-proxy' })],
    }),
    variables: { 'istio-proxy': { VAULT_ADDR: null }, app: { HEALTH_ADDR: ':8081' } },
  },
  {
    name: 'sidecars of meshes only',
    pod: pod({ containers: [container({ name: 'istio-proxy' })] }),
    denied: [/^svc\/containers: /],
  },
  {
    name: 'init containers are left alone',
    pod: pod({ initContainers: [container({ name: 'migrate' })] }),
    variables: { migrate: { VAULT_ADDR: null } },
  },
  {
    name: 'an init container by name, after one that is not',
    pod: pod({ initContainers: [container({ name: 'first' }), container({ name: 'migrate' })] }),
    plan: { containers: ['migrate', 'app'] },
    runs: { migrate: ['/bin/app'], app: ['/bin/app'] },
    variables: { migrate: { HEALTH_ADDR: ':8081' }, app: { HEALTH_ADDR: ':8082' } },
  },
  {
    name: 'a native sidecar of the user',
    pod: pod({ initContainers: [container({ name: 'log-shipper', ...always })] }),
    variables: { 'log-shipper': { VAULT_ADDR: null } },
  },
  {
    name: 'a native sidecar of the user, by name',
    pod: pod({ initContainers: [container({ name: 'log-shipper', ...always })] }),
    plan: { containers: ['log-shipper'] },
    runs: { 'log-shipper': ['/bin/app'] },
  },
  { name: 'a pod of a Job', pod: pod({ restartPolicy: 'Never' }), runs: { app: ['/bin/app'] } },
  {
    name: 'a pod of a Job with the proxy',
    pod: pod({ restartPolicy: 'OnFailure' }),
    plan: { proxy: { enabled: true, upstream: 'https://s3.example' } },
    warns: [/memory is not locked/, /instance metadata/],
  },
  {
    name: 'a pod of a Job with the proxy on a cluster without sidecars',
    pod: pod({ restartPolicy: 'OnFailure' }),
    plan: { proxy: { enabled: true, upstream: 'https://s3.example' } },
    nativeSidecars: false,
    warns: [/memory is not locked/, /instance metadata/, /will not complete/],
  },
  {
    name: 'probes by exec, HTTP, TCP and gRPC',
    pod: pod({
      containers: [
        container({
          ports: [{ name: 'http', containerPort: 8080 }],
          livenessProbe: { exec: { command: ['/bin/check', '$(A)'] }, periodSeconds: 3 },
          readinessProbe: { httpGet: { path: '/', port: 'http' } },
          startupProbe: { tcpSocket: { port: 8081 } },
        }),
        container({ name: 'grpc', livenessProbe: { grpc: { port: 8082 } } }),
      ],
    }),
    variables: { app: { HEALTH_ADDR: ':8083' }, grpc: { HEALTH_ADDR: ':8084' } },
  },
  {
    name: 'life cycle hooks',
    pod: pod({
      containers: [
        container({
          lifecycle: {
            postStart: { exec: { command: ['/bin/warm'] } },
            preStop: { httpGet: { path: '/stop', port: 8081 } },
          },
        }),
      ],
    }),
    variables: { app: { HEALTH_ADDR: ':8082' } },
  },
  {
    name: 'a terminal',
    pod: pod({ containers: [container({ stdin: true, tty: true })] }),
    runs: { app: ['/bin/app'] },
  },
  { name: 'the usual time to stop', pod: pod(), variables: app({ SVC_STOP_GRACE: '25s' }) },
  {
    name: 'little time to stop',
    pod: pod({ terminationGracePeriodSeconds: 2 }),
    variables: app({ SVC_STOP_GRACE: '1.5s' }),
  },
  {
    name: 'no time to stop',
    pod: pod({ terminationGracePeriodSeconds: 0 }),
    variables: app({ SVC_STOP_GRACE: '500ms' }),
  },
  {
    name: 'an hour to stop',
    pod: pod({ terminationGracePeriodSeconds: 3600 }),
    variables: app({ SVC_STOP_GRACE: '59m55s' }),
  },
  {
    name: 'settings of the wrapper that are the container’s own',
    pod: pod({
      containers: [
        container({
          env: [
            { name: 'SVC_STOP_GRACE', value: '3s' },
            { name: 'SVC_STARTUP_TIMEOUT', value: '5m' },
            { name: 'SVC_REQUIRE_MLOCK', value: 'true' },
          ],
        }),
      ],
    }),
    variables: app({ SVC_STOP_GRACE: '3s', SVC_STARTUP_TIMEOUT: '5m', SVC_REQUIRE_MLOCK: 'true' }),
  },
  {
    name: 'variables that the operator sets, with the same values',
    pod: pod({
      containers: [
        container({
          args: ['$(LATER)'],
          env: [
            { name: 'VAULT_ADDR', value: 'https://vault.example:8200' },
            { name: 'LATER', value: '$(VAULT_ADDR)' },
          ],
        }),
      ],
    }),
    runs: { app: ['/bin/app', 'https://vault.example:8200'] },
  },
  {
    name: 'variables that the operator sets, with other values',
    pod: pod({
      containers: [
        container({
          env: [
            { name: 'VAULT_ADDR', value: 'https://else.example' },
            { name: 'VAULT_SKIP_VERIFY', value: 'true' },
            { name: 'SVC_POD_UID', value: '1' },
            { name: 'SVC_ORIGINAL_ARGS', value: 'x' },
          ],
        }),
        container({ name: 'b', env: [{ name: 'HEALTH_ADDR', value: ':9000' }] }),
      ],
    }),
    denied: [
      /^container app: should not set VAULT_ADDR/,
      /^container app: should not set VAULT_SKIP_VERIFY/,
      /^container app: should not set SVC_POD_UID/,
      /^container app: should not set SVC_ORIGINAL_ARGS/,
      /^container b: should not set HEALTH_ADDR/,
    ],
  },
  {
    name: 'everything that a plan can say',
    pod: pod(),
    plan: {
      vault: { address: 'https://v$(X).example', role: 'r', authMount: 'auth/k8s', skipVerify: true },
      secrets: [
        { path: 'secret/a', mappings: [] },
        {
          path: 'secret/b',
          mappings: [
            { field: 'user', variable: 'DB_USER' },
            { field: 'user', variable: 'DB_LOGIN' },
            { field: 'a=b', variable: 'AB' },
          ],
        },
        { path: 'secret/$$c', mappings: [] },
      ],
      rotation: 'sighup',
      renewalInterval: '1m',
      delivery: 'fd',
    },
    variables: app({
      VAULT_ADDR: 'https://v$$(X).example',
      VAULT_AUTH_METHOD: 'kubernetes',
      VAULT_AUTH_ROLE: 'r',
      VAULT_AUTH_MOUNT_PATH: 'auth/k8s',
      VAULT_SKIP_VERIFY: 'true',
      SVC_SECRET_PATHS: 'secret/a,secret/b,secret/$$$$c',
      SVC_ENV_MAP: ';user=DB_USER,user=DB_LOGIN,a=b=AB',
      SVC_ROTATION: 'sighup',
      RENEWAL_INTERVAL: '1m',
      SVC_DELIVERY: 'fd',
    }),
    warns: [/memory is not locked/, /not verified/],
  },
  {
    name: 'as little as a plan can say',
    pod: pod(),
    variables: app({
      VAULT_SKIP_VERIFY: 'false',
      VAULT_AUTH_MOUNT_PATH: null,
      SVC_ENV_MAP: null,
      SVC_ROTATION: null,
      RENEWAL_INTERVAL: null,
      SVC_DELIVERY: null,
      AWS_ENDPOINT_URL_S3: null,
    }),
  },
  {
    name: 'fields and paths that no variable can carry',
    pod: pod(),
    plan: {
      secrets: [
        { path: 'secret/a', mappings: [{ field: 'x,y', variable: 'X' }] },
        { path: 'secret/b,c', mappings: [] },
      ],
    },
    denied: [/^secret\/a: the field "x,y"/, /^"secret\/b,c"/],
  },
  {
    name: 'a volume of the user at /svc',
    pod: pod({
      volumes: [{ name: 'data', emptyDir: {} }],
      containers: [container({ volumeMounts: [{ name: 'data', mountPath: '/svc/' }] })],
    }),
    denied: [/^container app: \/svc is reserved for the volume svc-wrapper, and data is mounted there/],
  },
  {
    name: 'a volume of the user below /svc',
    pod: pod({
      volumes: [{ name: 'data', emptyDir: {} }],
      containers: [container({ volumeMounts: [{ name: 'data', mountPath: '/svc/bin' }] })],
    }),
    denied: [/^container app: \/svc is reserved for the wrapper, and data is mounted at \/svc\/bin/],
  },
  {
    name: 'a volume of the user at a path that only begins like /svc',
    pod: pod({
      volumes: [{ name: 'data', emptyDir: {} }],
      containers: [container({ volumeMounts: [{ name: 'data', mountPath: '/svcs' }] })],
    }),
  },
  {
    name: 'a volume with a name of the operator’s',
    pod: pod({ volumes: [{ name: 'svc-wrapper', configMap: { name: 'mine' } }] }),
    denied: [/^volume svc-wrapper: the name is reserved/],
  },
  {
    name: 'an init container with the name of the operator’s',
    pod: pod({ initContainers: [container({ name: 'svc-wrapper' })] }),
    denied: [/^container svc-wrapper: the name is reserved/],
  },
  {
    name: 'containers that would go unwrapped by their name',
    pod: pod({
      containers: [container(), container({ name: 'svc-proxy' }), container({ name: 'svc-wrapper' })],
    }),
    denied: [/^container svc-proxy: the name is reserved/, /^container svc-wrapper: the name is reserved/],
  },
  {
    name: 'requests and limits as a quota wants them: Guaranteed stays Guaranteed',
    pod: pod({ containers: [container({ resources: requested })] }),
    plan: { proxy: { enabled: true, upstream: 'https://s3.example' } },
  },
  {
    name: 'requests without limits',
    pod: pod({ containers: [container({ resources: { requests: { cpu: '10m', memory: '8Mi' } } })] }),
  },
  {
    name: 'an ephemeral container',
    pod: pod({ ephemeralContainers: [container({ name: 'debug' })] }),
    offline: 'ephemeral containers come by a subresource of their own',
  },
  {
    name: 'the service account’s token is mounted',
    pod: pod({ containers: [container(withToken)], volumes: [tokenVolume] }),
    variables: app({ SVC_SA_TOKEN_PATH: null }),
  },
  {
    name: 'no token of the service account',
    pod: pod({ automountServiceAccountToken: false }),
    variables: app({ SVC_SA_TOKEN_PATH: '/var/run/secrets/svc/token' }),
  },
  {
    name: 'no token, and a group for files',
    pod: pod({ automountServiceAccountToken: false, securityContext: { runAsUser: 1000, fsGroup: 2000 } }),
  },
  {
    name: 'processes that see each other',
    pod: pod({ shareProcessNamespace: true, containers: [container(), container({ name: 'b' })] }),
  },
  {
    name: 'no private authorities',
    pod: pod(),
    defaults: { caConfigMap: undefined },
  },
  {
    name: 'the folder as an image volume',
    pod: pod({ containers: [bare()] }),
    images: { [appImage]: image(['/entry']) },
    defaults: { wrapperDelivery: 'image' },
  },
  {
    name: 'the folder from the host',
    pod: pod(),
    level: 'privileged',
    defaults: { wrapperDelivery: 'host' },
  },
  {
    name: 'the folder from the host where that is forbidden',
    pod: pod(),
    defaults: { wrapperDelivery: 'host' },
    denied: [/^operator\.wrapperDelivery: host .* baseline forbids/],
  },
];
