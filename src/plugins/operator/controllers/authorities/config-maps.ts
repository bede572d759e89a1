import { hash } from 'node:crypto';
import { isOperators, type OwnedMetadata } from '../../../../core/kubernetes/ownership.ts';
import type { Health } from '../../../../runtime/health/health.ts';
import type { KubeObject } from '../../../../runtime/kube/objects.ts';
import { type Following, follow } from '../../cluster/follow.ts';
import type { OperatorDeps } from '../../contract.ts';

export interface KnownConfigMap {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly ours: boolean;
  /** Of `ca.crt`; undefined where it is not there. */
  readonly digest: string | undefined;
}

interface ConfigMapObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly metadata: KubeObject['metadata'] & OwnedMetadata;
}

/** Those of one name, in all namespaces. */
export function followConfigMaps(
  { client, log, signal }: Pick<OperatorDeps, 'client' | 'log' | 'signal'>,
  health: Pick<Health, 'degraded' | 'recovered'>,
  name: string,
): Following<KnownConfigMap> {
  const tell = (connected: boolean) => {
    if (connected) health.recovered('watch.configmaps');
    else health.degraded('watch.configmaps', `config maps ${name} are not watched now`);
  };
  tell(false);
  return follow<ConfigMapObject, KnownConfigMap>({
    ...{ client, log, signal, path: '/api/v1/configmaps', fieldSelector: `metadata.name=${name}`, project },
    onConnected: tell,
  });
}

function project({ metadata, data }: ConfigMapObject): KnownConfigMap {
  const { name, namespace = '', uid } = metadata;
  const text = data?.['ca.crt'];
  const digest = text === undefined ? undefined : digestOf(text);
  return { namespace, name, uid, ours: isOperators(metadata), digest };
}

export function digestOf(text: string): string {
  return hash('sha256', text, 'base64');
}
