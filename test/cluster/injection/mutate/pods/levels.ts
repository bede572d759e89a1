import { appImage, bare, container, image, type PodCase, pod, restrictedContext } from './case.ts';

const proxy = { enabled: true, upstream: 'https://s3.example' };
const root = { SVC_REQUIRE_MLOCK: null, SVC_EBPF_AGENT_ADDR: 'unix:///run/svc/agent.sock' };
const notRoot = { SVC_REQUIRE_MLOCK: 'false', SVC_EBPF_AGENT_ADDR: null };
const restricted = container({ securityContext: restrictedContext });

/** Users, capabilities and levels of Pod Security. */
export const levelPods: readonly PodCase[] = [
  {
    name: 'privileged, root by the container',
    level: 'privileged',
    pod: pod({ containers: [container({ securityContext: { runAsUser: 0 } })] }),
    variables: { app: root },
    warns: [],
  },
  {
    name: 'privileged, root by the pod, others by their own',
    level: 'privileged',
    pod: pod({
      securityContext: { runAsUser: 0 },
      containers: [container(), container({ name: 'b', securityContext: { runAsUser: 1000 } })],
    }),
    variables: { app: root, b: notRoot },
    warns: [/^container b: .*does not run as root/],
  },
  {
    name: 'privileged, root by the image',
    level: 'privileged',
    pod: pod({ containers: [bare()] }),
    images: { [appImage]: image(['/entry'], [], '') },
    variables: { app: root },
  },
  {
    name: 'privileged, a root by another way to write it',
    level: 'privileged',
    pod: pod({ containers: [bare()] }),
    images: { [appImage]: image(['/entry'], [], '0:0') },
    variables: { app: root },
  },
  {
    name: 'privileged, another user by the image',
    level: 'privileged',
    pod: pod({ containers: [bare()] }),
    images: { [appImage]: image(['/entry'], [], 'node') },
    variables: { app: notRoot },
    warns: [/does not run as root/],
  },
  {
    name: 'privileged, a user that nobody says',
    level: 'privileged',
    pod: pod(),
    variables: { app: notRoot },
    warns: [/its user is not known/],
  },
  {
    name: 'privileged, root is forbidden',
    level: 'privileged',
    pod: pod({ securityContext: { runAsNonRoot: true }, containers: [bare()] }),
    images: { [appImage]: image(['/entry'], [], '') },
    variables: { app: notRoot },
  },
  {
    name: 'privileged, all capabilities dropped',
    level: 'privileged',
    pod: pod({
      containers: [
        container({ securityContext: { runAsUser: 0, capabilities: { drop: ['ALL'], add: ['CHOWN'] } } }),
      ],
    }),
    variables: { app: root },
  },
  {
    name: 'privileged, a privileged container',
    level: 'privileged',
    pod: pod({ containers: [container({ securityContext: { privileged: true, runAsUser: 0 } })] }),
    variables: { app: root },
  },
  {
    name: 'privileged, no agent on the nodes',
    level: 'privileged',
    pod: pod({ securityContext: { runAsUser: 0 } }),
    defaults: { agentSocket: undefined },
    variables: { app: { SVC_REQUIRE_MLOCK: null, SVC_EBPF_AGENT_ADDR: null } },
  },
  {
    name: 'privileged, a volume where the agent’s socket is to be',
    level: 'privileged',
    pod: pod({
      securityContext: { runAsUser: 0 },
      volumes: [{ name: 'run', emptyDir: {} }],
      containers: [container({ volumeMounts: [{ name: 'run', mountPath: '/run/svc' }] })],
    }),
    denied: [/^container app: \/run\/svc is reserved for the volume svc-agent/],
  },
  {
    name: 'privileged, processes of the host',
    level: 'privileged',
    pod: pod({ hostPID: true, securityContext: { runAsUser: 0 } }),
    warns: [/^hostPID/],
  },
  {
    name: 'privileged, root in a user namespace of its own',
    level: 'privileged',
    pod: pod({ hostUsers: false, securityContext: { runAsUser: 0 } }),
    variables: { app: notRoot },
  },
  {
    name: 'privileged, root, with the proxy',
    level: 'privileged',
    pod: pod({ securityContext: { runAsUser: 0, runAsGroup: 0 } }),
    plan: { proxy },
  },
  {
    name: 'baseline, root',
    pod: pod({ securityContext: { runAsUser: 0 } }),
    variables: { app: notRoot },
    warns: [/Pod Security level is baseline/],
  },
  {
    name: 'baseline, a user',
    pod: pod({ securityContext: { runAsUser: 1000 } }),
    variables: { app: notRoot },
  },
  {
    name: 'a root file system that is read only',
    pod: pod({ containers: [container({ securityContext: { readOnlyRootFilesystem: true } })] }),
  },
  {
    name: 'restricted, no user',
    level: 'restricted',
    pod: pod({ containers: [restricted] }),
    variables: { app: notRoot },
    warns: [/Pod Security level is restricted/],
  },
  {
    name: 'restricted, a user of the pod',
    level: 'restricted',
    pod: pod({ securityContext: { runAsUser: 1000, fsGroup: 1000 }, containers: [restricted] }),
  },
  {
    name: 'restricted, with the proxy',
    level: 'restricted',
    pod: pod({ containers: [restricted] }),
    plan: { proxy },
  },
  {
    name: 'restricted, with the proxy as a container',
    level: 'restricted',
    pod: pod({ containers: [restricted] }),
    plan: { proxy },
    nativeSidecars: false,
  },
  {
    name: 'restricted, no token, an init container by name',
    level: 'restricted',
    pod: pod({
      automountServiceAccountToken: false,
      containers: [restricted],
      initContainers: [{ ...restricted, name: 'migrate' }],
    }),
    plan: { containers: ['migrate'] },
  },
  {
    name: 'restricted, the folder as an image volume, with the proxy',
    level: 'restricted',
    pod: pod({ containers: [restricted] }),
    plan: { proxy },
    defaults: { wrapperDelivery: 'image' },
  },
];
