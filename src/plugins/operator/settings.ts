import { listenAddress, listenAddressOrOff } from '../../runtime/settings/listen-address.ts';
import { applyRules, type Rule } from '../../runtime/settings/resolve.ts';
import {
  boolean,
  duration,
  enumeration,
  httpUrl,
  list,
  path,
  type Resolved,
  type Settings,
  text,
  unencrypted,
} from '../../runtime/settings/setting.ts';

/** Flags and variables of `svc run operator`. */
export const operatorSettings = {
  vaultAddress: {
    variable: 'SVC_OPERATOR_VAULT_ADDR',
    flag: 'vault-address',
    summary: 'Secrets server of pods that name none',
    ...httpUrl('https://vault.example:8200'),
  },
  webhook: {
    variable: 'SVC_OPERATOR_WEBHOOK_ADDR',
    flag: 'webhook',
    summary: 'Where the API server reaches the webhook',
    fallback: ':9443',
    ...listenAddress(),
  },
  webhookClientCaFile: {
    variable: 'SVC_OPERATOR_WEBHOOK_CLIENT_CA_FILE',
    flag: 'webhook-client-ca-file',
    summary:
      'PEM file with authorities for client certificates of API servers; unset: any client may call the webhook',
    ...path('a PEM file'),
  },
  reviewTimeout: {
    variable: 'SVC_OPERATOR_REVIEW_TIMEOUT',
    flag: 'review-timeout',
    summary: 'Time limit of a review, the same as timeoutSeconds of the webhook configuration',
    fallback: '10s',
    ...duration(1_000, 30_000),
  },
  metrics: {
    variable: 'SVC_OPERATOR_METRICS_ADDR',
    flag: 'metrics',
    summary: 'Where /metrics is served; empty turns it off',
    fallback: ':8080',
    ...listenAddressOrOff(),
  },
  health: {
    variable: 'SVC_OPERATOR_HEALTH_ADDR',
    flag: 'health',
    summary: 'Where /healthz and /readyz are served; empty turns them off',
    fallback: ':8081',
    ...listenAddressOrOff(),
  },
  grpc: {
    variable: 'SVC_OPERATOR_GRPC_ADDR',
    flag: 'grpc',
    summary: 'Where node agents report',
    fallback: ':8199',
    ...listenAddress(),
  },
  leaderElect: {
    variable: 'SVC_OPERATOR_LEADER_ELECT',
    flag: 'leader-elect',
    summary: 'false: this is the only replica and takes the lease at once, even if another one holds it',
    fallback: 'true',
    ...boolean(),
  },
  certDir: {
    variable: 'SVC_OPERATOR_CERT_DIR',
    flag: 'cert-dir',
    summary:
      'Folder with tls.crt, tls.key and optionally ca.crt of the webhook; unset: the operator creates its own',
    ...path('a folder'),
  },
  wrapperImage: {
    variable: 'SVC_WRAPPER_IMAGE',
    flag: 'wrapper-image',
    summary: 'Image with the folder of the wrapper',
    required: true,
    ...text('an image reference'),
  },
  proxyImage: {
    variable: 'SVC_PROXY_IMAGE',
    flag: 'proxy-image',
    summary: 'Image of the proxy',
    required: true,
    ...text('an image reference'),
  },
  wrapperDelivery: {
    variable: 'SVC_WRAPPER_DELIVERY',
    flag: 'wrapper-delivery',
    summary:
      'How that folder reaches a pod: copied by an init container, as an image volume, or kept on the host',
    fallback: 'copy',
    ...enumeration('copy', 'image', 'host'),
  },
  seccompDefault: {
    variable: 'SVC_OPERATOR_SECCOMP_DEFAULT',
    flag: 'seccomp-default',
    summary: 'true: protected containers that run as root without a seccomp profile get RuntimeDefault',
    fallback: 'true',
    ...boolean(),
  },
  agentSocket: {
    variable: 'SVC_OPERATOR_AGENT_SOCKET',
    flag: 'agent-socket',
    summary: "The node agent's socket on the nodes; unset: pods do not register",
    ...path('an absolute path'),
  },
  caFile: {
    variable: 'SVC_OPERATOR_CA_FILE',
    flag: 'ca-file',
    summary: 'PEM file with the private authorities of the secrets server, passed to every protected pod',
    ...path('a PEM file'),
  },
  storeCaFile: {
    variable: 'SVC_OPERATOR_STORE_CA_FILE',
    flag: 'store-ca-file',
    summary:
      'PEM file with the private authorities of object stores, which proxies of pods trust instead of the public ones',
    ...path('a PEM file'),
  },
  tokenAudience: {
    variable: 'SVC_OPERATOR_TOKEN_AUDIENCE',
    flag: 'token-audience',
    summary:
      "Audience of the tokens that pods present to the secrets server, whose roles must name it; unset: the API server's",
    ...text('an audience such as https://vault.example'),
  },
  envMapOnly: {
    variable: 'SVC_OPERATOR_ENV_MAP_ONLY',
    flag: 'env-map-only',
    summary: 'true: every pod gets only the fields of its secrets that it names, and none may say otherwise',
    fallback: 'false',
    ...boolean(),
  },
  registryMirrors: {
    variable: 'SVC_OPERATOR_REGISTRY_MIRRORS',
    flag: 'registry-mirrors',
    summary: 'Where images are looked up instead: <registry>=<URL> items, separated by commas',
    ...list(text('<registry>=<URL>')),
  },
  registryCaFile: {
    variable: 'SVC_OPERATOR_REGISTRY_CA_FILE',
    flag: 'registry-ca-file',
    summary: 'PEM file with private authorities of image registries',
    ...path('a PEM file'),
  },
  registryCredentials: {
    variable: 'SVC_OPERATOR_REGISTRY_CREDENTIALS',
    flag: 'registry-credentials',
    summary:
      'Docker configuration (JSON) for looking up images for which a pod has no pull secret; read at each lookup',
    ...path('a file'),
  },
  namespace: {
    variable: 'POD_NAMESPACE',
    flag: 'namespace',
    summary: 'Namespace of the operator itself, where its lease and secrets are',
    fallback: 'svc-system',
    ...text('a namespace'),
  },
  identity: {
    variable: 'POD_NAME',
    flag: 'identity',
    summary: 'Name of this replica; unset: the host name',
    ...text('a pod name'),
  },
  development: {
    variable: 'SVC_OPERATOR_DEVELOPMENT',
    flag: 'development',
    summary: 'true: pods may skip the verification of certificates; never in production',
    fallback: 'false',
    ...boolean(),
  },
} satisfies Settings;

export type OperatorSettings = typeof operatorSettings;
export type OperatorConfig = Resolved<OperatorSettings>;

const rules: readonly Rule<OperatorConfig>[] = [
  ({ vaultAddress }) => unencrypted('SVC_OPERATOR_VAULT_ADDR', vaultAddress),
  ({ agentSocket }) =>
    agentSocket !== undefined && !agentSocket.startsWith('/')
      ? 'SVC_OPERATOR_AGENT_SOCKET: must be an absolute path on the nodes, such as /run/svc/agent.sock'
      : undefined,
];

export const checkOperator = (config: OperatorConfig): readonly string[] => applyRules(config, rules);
