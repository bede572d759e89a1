import { createServer } from 'node:https';
import { json } from 'node:stream/consumers';
import { createCertificateAuthority } from '../../support/certificates.ts';
import type { Kubernetes } from '../../support/kubernetes.ts';
import { listen } from '../../support/loopback.ts';
import type { Stoppable } from '../../support/types.ts';

/** Pods with this label are changed. */
export const lateLabel = 'late';

/** A mutating webhook that the API server calls after `svc-operator`, with one JSON patch for every pod that has the label. */
export async function startLateWebhook(
  { apply, must }: Pick<Kubernetes, 'apply' | 'must'>,
  patch: readonly object[],
): Promise<Stoppable> {
  const authority = createCertificateAuthority();
  const identity = authority.issue({ commonName: 'late', addresses: ['127.0.0.1'] });
  const server = createServer(identity, async (request, response) => {
    const { request: review } = (await json(request)) as { request: { uid: string } };
    const patched = { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        ...{ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' },
        response: { uid: review.uid, allowed: true, ...patched },
      }),
    );
  });
  const { port, stop } = await listen(server);
  const metadata = { name: 'zz-late' };
  await apply({
    ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration', metadata },
    webhooks: [
      {
        ...{ name: 'late.example.com', admissionReviewVersions: ['v1'], sideEffects: 'None' },
        clientConfig: {
          url: `https://127.0.0.1:${port}/`,
          caBundle: Buffer.from(authority.cert).toString('base64'),
        },
        objectSelector: { matchExpressions: [{ key: lateLabel, operator: 'Exists' }] },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
      },
    ],
  });
  return {
    async stop() {
      const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
      await must('DELETE', `${path}/${metadata.name}`);
      await stop();
    },
  };
}
