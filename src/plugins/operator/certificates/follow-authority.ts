import type { KubeClient } from '../../../runtime/kube/client.ts';
import type { KubeObject } from '../../../runtime/kube/objects.ts';
import { reflect } from '../../../runtime/kube/reflect.ts';
import type { ReflectTiming } from '../../../runtime/kube/reflect-options.ts';
import { describeError } from '../../../runtime/logging/describe-error.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { isIssuedBy, readCertificate, readIdentity } from '../../../runtime/tls/inspect.ts';
import { certificatesIn } from '../../../runtime/tls/pem.ts';
import { authoritiesOf, fromData, type StoredState } from './authority-state.ts';
import type { ServerCertificate } from './contract.ts';
import { secretsPath, textsOf } from './secret-store.ts';

export interface FollowOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  /** Called with each certificate that can be served. */
  readonly onCertificate: (certificate: ServerCertificate) => void;
  /** Called with every change, the Secret's end and unusable ones too. */
  readonly onChange: () => void;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly timing?: Partial<ReflectTiming>;
}

/** Follows the Secret that replicas share. What cannot be served is logged, and what is served stays. */
export function followAuthority(options: FollowOptions): { readonly closed: Promise<void> } {
  const { client, namespace, name, log, signal, timing = {}, onChange } = options;
  const take = (stored: StoredState) => {
    try {
      options.onCertificate(servedBy(stored));
    } catch (error) {
      log.error('certificates.secret.unusable', { name: `${namespace}/${name}`, ...describeError(error) });
    }
    onChange();
  };
  return reflect<KubeObject, StoredState>({
    ...{ client, log, signal, timing, path: secretsPath(namespace), fieldSelector: `metadata.name=${name}` },
    project: stateOf,
    ...{ onAdd: take, onChange: take, onDelete: onChange },
  });
}

/** Without the authority's key: followers need it never, the leader reads it when it does. */
function stateOf(object: KubeObject): StoredState {
  const { authority, ...rest } = fromData(textsOf(object));
  return { ...rest, authority: authority && { cert: authority.cert, key: '' } };
}

/** @throws Error where the certificate cannot be read, or is not verified by the bundle */
export function servedBy(stored: StoredState): ServerCertificate {
  const { server } = stored;
  if (server === undefined) throw new Error('there is no server certificate in it');
  const leaf = readIdentity(server);
  const ca = authoritiesOf(stored);
  if (!certificatesIn(ca).some((pem) => isIssuedBy(leaf, readCertificate(pem))))
    throw new Error('its server certificate comes from none of its authorities');
  return { ...server, ca };
}
