/** Pods as they are created, each kind of them with its own cost. */
export interface Subject {
  readonly name: string;
  readonly pod: object;
}

const protectedBy = {
  'svc/inject': 'true',
  'svc/vault-address': 'https://vault.example:8200',
  'svc/vault-role': 'app',
  'svc/secret-paths': 'secret/data/app/database,secret/data/app/api',
};

/** @param image one whose registry is there; its command is not in the pod */
export function subjects(image: string): readonly Subject[] {
  const command = ['/usr/bin/app', 'serve'];
  return [
    { name: '2 containers, command given', pod: podOf(2, 15, { image: 'registry.example/app:1', command }) },
    { name: '2 containers, command of the image', pod: podOf(2, 15, { image }) },
    {
      name: '20 containers of 100 variables',
      pod: podOf(20, 100, { image: 'registry.example/app:1', command }),
    },
  ];
}

/** The same, asking for nothing: the API server asks no webhook about it. */
export function unprotected(pod: object): object {
  const { metadata, ...rest } = pod as { metadata: object };
  return { ...rest, metadata: { ...metadata, annotations: {} } };
}

function podOf(containers: number, variables: number, each: object): object {
  const env = Array.from({ length: variables }, (_, index) => ({
    name: `SETTING_${index}`,
    value: `the value of setting ${index}`,
  }));
  return {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { generateName: 'app-5d8f7b9c44-', labels: { app: 'app' }, annotations: protectedBy },
    spec: {
      securityContext: { runAsUser: 1000, runAsNonRoot: true },
      containers: Array.from({ length: containers }, (_, index) => ({
        ...{ name: `container-${index}`, ...each, env, ports: [{ containerPort: 9000 + index }] },
        resources: { requests: { cpu: '100m', memory: '64Mi' } },
        readinessProbe: { httpGet: { path: '/ready', port: 9000 + index } },
        livenessProbe: { httpGet: { path: '/live', port: 9000 + index } },
      })),
    },
  };
}
