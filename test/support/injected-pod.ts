export interface Injected {
  /** URL of the secrets server. */
  readonly vault?: string | undefined;
  /** Variables of the proxy; undefined: there is none. */
  readonly proxy?: Readonly<Record<string, string>> | undefined;
}

/** A container that starts under the wrapper as the webhook leaves it, and the volume that it needs. */
export function wrapped(container: object, env: Readonly<Record<string, string>> = {}) {
  return {
    containers: [
      {
        ...container,
        command: ['/svc/svc-wrapper'],
        env: variables({ SVC_ORIGINAL_CMD: '/bin/app', ...env }),
        volumeMounts: [{ name: 'svc-wrapper', mountPath: '/svc', readOnly: true }],
      },
    ],
    volumes: [{ name: 'svc-wrapper', emptyDir: {} }],
  };
}

/** The spec of a pod as the webhook leaves it, as far as egress policies are made from it. */
export function injectedSpec({ vault = 'https://vault.example.com', proxy }: Injected = {}) {
  const spec = wrapped({ name: 'main', image: 'registry.example/app' }, { VAULT_ADDR: vault });
  if (proxy === undefined) return spec;
  const env = variables({ VAULT_ADDR: vault, ...proxy });
  return { ...spec, initContainers: [{ name: 'svc-proxy', image: 'proxy:1', args: ['run', 'proxy'], env }] };
}

function variables(values: Readonly<Record<string, string>>) {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}
