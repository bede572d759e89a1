import { connect } from 'node:tls';
import {
  type AuthorityState,
  fromData,
  nothingStored,
  toData,
} from '../../../../../src/plugins/operator/certificates/authority-store.ts';
import { renewed } from '../../../../../src/plugins/operator/certificates/keeper.ts';
import { usualLifetimes } from '../../../../../src/plugins/operator/certificates/verdict.ts';
import type { TlsIdentity } from '../../../../../src/runtime/net/certificates.ts';
import { issueCertificate } from '../../../../../src/runtime/net/issue-certificate.ts';
import type { Kubernetes } from '../../../../support/kubernetes.ts';
import type { Replica } from '../../../../support/operator-cluster.ts';

const dayMs = 86_400_000;
const secrets = '/api/v1/namespaces/svc-system/secrets';
const configuration = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/svc-operator';
const serverDays = 30;
export const dnsNames = ['svc-operator', 'svc-operator-agents'].flatMap((name) => [
  ...[`${name}.svc-system.svc`, `${name}.svc-system`, name],
]);

/** What replicas share, as the Secret has it. */
export async function readState(kubernetes: Kubernetes): Promise<AuthorityState> {
  const { data } = await kubernetes.must('GET', `${secrets}/svc-operator-tls`);
  const texts = Object.entries(data as Record<string, string>).map(([name, value]) => [
    name,
    Buffer.from(value, 'base64').toString(),
  ]);
  return fromData(Object.fromEntries(texts)) as AuthorityState;
}

export async function writeState(kubernetes: Kubernetes, state: AuthorityState): Promise<void> {
  const texts = { ...toData(state), 'previous-ca.crt': state.previous };
  const data = Object.entries(texts).map(([name, text]) => [
    name,
    text === undefined ? null : Buffer.from(text).toString('base64'),
  ]);
  await kubernetes.must('PATCH', `${secrets}/svc-operator-tls`, { data: Object.fromEntries(data) });
}

/** A server certificate that this share of its life is over of. */
export function agedServer(authority: TlsIdentity, share: number): Promise<TlsIdentity> {
  const now = Date.now() - serverDays * dayMs * share;
  return issueCertificate(authority, {
    commonName: 'svc-operator',
    dnsNames,
    days: serverDays,
    now,
    usage: 'server',
  });
}

/** An authority that is due to be replaced, with a fresh server certificate of its own. */
export async function dueState(): Promise<AuthorityState> {
  const facts = { lifetimes: usualLifetimes, dnsNames, settled: true };
  const { state } = await renewed(nothingStored, { ...facts, now: Date.now() - 250 * dayMs });
  return { ...state, server: await agedServer(state.authority, 0.1) };
}

/** PEM of what the API server verifies each webhook by. */
export async function writtenBundles(kubernetes: Kubernetes): Promise<string[]> {
  const { webhooks } = await kubernetes.must('GET', configuration);
  return webhooks.map(({ clientConfig }: { clientConfig: { caBundle?: string } }) =>
    Buffer.from(clientConfig.caBundle ?? '', 'base64').toString(),
  );
}

/** What a replica serves to who connects now, base64 of its DER. */
export function servedBy({ started }: Replica): Promise<string> {
  const [host, port] = (started['webhook'] ?? '').split(':');
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().raw.toString('base64'));
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

/** The same of a PEM. */
export const derOf = (pem: string): string => pem.replaceAll(/-----[A-Z ]+-----|\s/g, '');
