import { Agent, request } from 'node:https';

/** Posts reviews as the API server does, over one connection that is kept. */
export interface WebhookCaller {
  /** Resolves with the milliseconds until the answer was there. @throws Error unless it has a patch */
  call(review: string): Promise<number>;
  close(): void;
}

/** As the API server posts to it. */
export const mutatePath = '/mutate?timeout=10s';
const servername = 'svc-operator.svc-system.svc';

/** @param ca PEM of the authority behind the webhook's certificate */
export function createWebhookCaller(address: string, ca: string): WebhookCaller {
  const [host, port] = address.split(':');
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca, servername });
  const options = { host, port, path: mutatePath, agent, method: 'POST' };
  const post = (review: string) =>
    new Promise<string>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(review) };
      const outgoing = request({ ...options, headers }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        answer.once('end', () => resolve(text)).once('error', reject);
      });
      outgoing.once('error', reject).end(review);
    });
  return {
    async call(review) {
      const began = performance.now();
      const answer = await post(review);
      const milliseconds = performance.now() - began;
      if (!answer.includes('"patchType":"JSONPatch"')) throw new Error(`the webhook says ${answer}`);
      return milliseconds;
    },
    close: () => agent.destroy(),
  };
}

/** What is posted for a pod. */
export function reviewOf(object: object, namespace: string): string {
  const request = {
    uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
    ...{
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
    },
    ...{ operation: 'CREATE', namespace, dryRun: true, object, oldObject: null },
    userInfo: {
      username: 'system:serviceaccount:kube-system:replicaset-controller',
      groups: ['system:authenticated'],
    },
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', dryRun: ['All'] },
  };
  return JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request });
}
