import { container, type PodCase, pod } from './case.ts';

const proxy = { enabled: true, upstream: 'https://s3.example' };
const recipients = [
  'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p',
  'J08yBFB8K3yUvb2rMUFzGeRkTdLK9iOcFERqTz3zlj8=',
];
const region = { name: 'AWS_REGION', value: 'eu-central-1' };
const role = [
  region,
  { name: 'AWS_ROLE_ARN', value: 'arn:aws:iam::1:role/app' },
  { name: 'AWS_WEB_IDENTITY_TOKEN_FILE', value: '/var/run/secrets/eks/token' },
];
const eks = {
  volumes: [{ name: 'aws-token', emptyDir: {} }],
  containers: [
    container({
      env: role,
      volumeMounts: [{ name: 'aws-token', mountPath: '/var/run/secrets/eks', readOnly: true }],
    }),
  ],
};

/** The proxy beside what pods have. */
export const proxyPods: readonly PodCase[] = [
  {
    name: 'the proxy with all that can be said',
    pod: pod(),
    plan: { proxy: { ...proxy, role: 'store', transitKey: 'team', credentialsSecret: 's3-keys' } },
    variables: {
      app: { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:8190', AWS_ACCESS_KEY_ID: null },
      'svc-proxy': {
        VAULT_AUTH_ROLE: 'store',
        SVC_PROXY_UPSTREAM: 'https://s3.example',
        SVC_TRANSIT_KEY: 'team',
        SVC_PROXY_HEALTH: ':8191',
      },
    },
  },
  {
    name: 'the proxy with a format and recovery keys',
    pod: pod(),
    plan: { proxy: { ...proxy, format: 2, recoveryRecipients: recipients } },
    variables: {
      'svc-proxy': { SVC_PROXY_FORMAT: '2', SVC_PROXY_RECOVERY_RECIPIENT: recipients.join(',') },
    },
  },
  {
    name: 'the proxy with the role of the pod',
    pod: pod(),
    plan: { proxy },
    variables: {
      'svc-proxy': {
        ...{ VAULT_AUTH_ROLE: 'app', SVC_TRANSIT_KEY: null },
        ...{ SVC_PROXY_FORMAT: null, SVC_PROXY_RECOVERY_RECIPIENT: null },
      },
    },
  },
  {
    name: 'the proxy as a container',
    pod: pod(),
    plan: { proxy },
    nativeSidecars: false,
    variables: { 'svc-proxy': { VAULT_AUTH_ROLE: 'app' } },
  },
  {
    name: 'a proxy that is not wanted',
    pod: pod(),
    plan: { proxy: { ...proxy, enabled: false } },
    variables: { app: { AWS_ENDPOINT_URL_S3: null } },
  },
  {
    name: 'an application with an endpoint of its own',
    pod: pod({ containers: [container({ env: [{ name: 'AWS_ENDPOINT_URL_S3', value: 'http://else' }] })] }),
    plan: { proxy },
    variables: { app: { AWS_ENDPOINT_URL_S3: 'http://else' } },
  },
  {
    name: 'a pod that uses the proxy’s port',
    pod: pod({ containers: [container({ ports: [{ containerPort: 8190 }] })] }),
    plan: { proxy },
    denied: [/^svc\/s3-proxy: the proxy listens on 8190/],
  },
  {
    name: 'a pod that uses the proxy’s health port',
    pod: pod({ containers: [container({ ports: [{ containerPort: 8191 }] })] }),
    plan: { proxy },
    variables: { 'svc-proxy': { SVC_PROXY_HEALTH: ':8192' } },
  },
  {
    name: 'no upstream and no region',
    pod: pod(),
    plan: { proxy: { enabled: true } },
    denied: [/^svc\/proxy-upstream: .*AWS_REGION/],
  },
  {
    name: 'the region of the application',
    pod: pod({ containers: [container({ env: [region] })] }),
    plan: { proxy: { enabled: true } },
    variables: { 'svc-proxy': { AWS_REGION: 'eu-central-1' } },
  },
  {
    name: 'the cloud role of the pod',
    pod: pod(eks),
    plan: { proxy },
    variables: { 'svc-proxy': { AWS_ROLE_ARN: 'arn:aws:iam::1:role/app' } },
  },
  {
    name: 'credentials of its own go before the cloud role of the pod',
    pod: pod(eks),
    plan: { proxy: { ...proxy, credentialsSecret: 's3-keys' } },
    variables: { 'svc-proxy': { AWS_ROLE_ARN: null, AWS_REGION: 'eu-central-1' } },
  },
  {
    name: 'other init containers and a native sidecar beside the proxy',
    pod: pod({
      initContainers: [
        container({ name: 'migrate' }),
        container({ name: 'log-shipper', restartPolicy: 'Always' }),
      ],
    }),
    plan: { proxy },
  },
];
