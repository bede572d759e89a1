/** Labels and annotations of ours that are not annotations of a pod: where they are, and what they say. */
export const otherMarks: Readonly<Record<string, readonly [kind: string, on: string, meaning: string]>> = {
  'svc/protected': [
    'label',
    'namespaces, pods',
    '`true` on a namespace: its pods go through the webhook; on a pod: the webhook mutated it, and egress policies and the node agent select it',
  ],
  'svc/proxy': [
    'label',
    'pods',
    '`true`: the pod has the proxy, and the policy for its object store selects it',
  ],
  'svc/egress-hosts': [
    'annotation',
    'NetworkPolicies',
    'Host names outside the cluster that the address blocks stand for',
  ],
};

/** User metadata of an object that the proxy has written. */
export const objectHeaders: Readonly<Record<string, string>> = {
  'x-amz-meta-svc-encrypted': '`true`: written by the proxy',
  'x-amz-meta-svc-wrapped-dek':
    'The wrapped data key, `vault:v<version>:<base64>`; for a multipart object, JSON with its part list or the place of that list',
  'x-amz-meta-svc-algorithm': '`AES-256-GCM`; in format 2 `AES-256-GCM-STREAM-64KiB`',
  'x-amz-meta-svc-key-name': 'Transit key that wraps the data key',
  'x-amz-meta-svc-key-version': 'Version of that key',
  'x-amz-meta-svc-binding': '`key` or `bucket-key`: what the data key is bound to; absent: nothing',
  'x-amz-meta-svc-empty-seal':
    'For an empty object whose key ends in `/`, whose stored body is empty, too: nonce and tag in base64',
  'x-amz-meta-svc-derivation':
    'In format 2, for an object in one piece: salt and commitment that derive and prove the key of its body',
  'x-amz-meta-svc-recovery': 'The data key, or the key of the part list, sealed to each recovery key',
  'x-amz-meta-svc-checksum':
    'Algorithm, `full` or `composite`, and, for an object in one piece, the encrypted checksum of its plaintext',
  'x-amz-meta-svc-md5': 'The encrypted MD5 of its plaintext, if the caller sent one',
};
