import { RegistryError, type RegistryErrorCode } from '../../../src/cluster/images/registry-http-client.ts';
import { KubeError, type KubeErrorCode } from '../../../src/cluster/kube/client.ts';
import { VaultError, type VaultFailure } from '../../../src/keyserver/contract.ts';
import { noAnswer } from '../../../src/keyserver/secret-client/secret-socket.ts';
import type { SvcError } from '../../../src/runtime/errors.ts';
import type { ErrorFact } from './error-facts.ts';
import { wordsOf } from './source-tree.ts';

/** Errors of servers, whose codes are the words of a type: each is made once to see its status and next step. */
export function errorFamilies(): readonly ErrorFact[] {
  const kube = wordsOf('src/cluster/kube/client.ts', 'KubeErrorCode') as readonly KubeErrorCode[];
  const registry = wordsOf(
    'src/cluster/images/registry-http-client.ts',
    'RegistryErrorCode',
  ) as readonly RegistryErrorCode[];
  const vault = wordsOf('src/keyserver/contract.ts', 'VaultFailure') as readonly VaultFailure[];
  return [
    ...kube.map((code) =>
      factOf(new KubeError(code, ''), 'The API server refused the request or did not answer'),
    ),
    ...registry.map((code) =>
      factOf(new RegistryError(code, ''), 'An image registry refused the request or did not answer'),
    ),
    ...vault.map((kind) =>
      factOf(new VaultError(kind, ''), 'The secrets server refused the request or did not answer'),
    ),
    factOf(noAnswer('', 'CERT_HAS_EXPIRED'), 'The secrets server and its client do not trust each other'),
  ];
}

const factOf = ({ code, nextStep, exitStatus }: SvcError, message: string): ErrorFact => ({
  ...{ code, message, nextStep },
  statuses: [exitStatus],
});
