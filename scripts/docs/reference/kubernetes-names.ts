/** Labels and annotations of ours that are no annotations of a pod: where they are, and what they say. */
export const otherMarks: Readonly<Record<string, readonly [kind: string, on: string, meaning: string]>> = {
  'svc/protected': [
    'label',
    'namespaces, pods',
    '`true` on a namespace: the webhook is asked about its pods; on a pod: it was mutated, egress policies and the node agent select it',
  ],
  'svc/proxy': [
    'label',
    'pods',
    '`true`: the pod has the proxy, and the policy for its object store selects it',
  ],
  'svc/egress-hosts': [
    'annotation',
    'NetworkPolicies',
    'Names outside of the cluster that the blocks of addresses stand for',
  ],
};

/** User metadata of an object that the proxy has written. */
export const objectHeaders: Readonly<Record<string, string>> = {
  'x-amz-meta-svc-encrypted': '`true`: written by the proxy',
  'x-amz-meta-svc-wrapped-dek':
    'The wrapped data key, `vault:v<version>:<base64>`; of an object of several parts JSON with the list of its parts, or where that lies',
  'x-amz-meta-svc-algorithm': '`AES-256-GCM`; in format 2 `AES-256-GCM-STREAM-64KiB`',
  'x-amz-meta-svc-key-name': 'Transit key that wraps the data key',
  'x-amz-meta-svc-key-version': 'Version of that key',
  'x-amz-meta-svc-binding': '`key` or `bucket-key`: what the data key is bound to; absent: to nothing',
  'x-amz-meta-svc-empty-seal':
    'nonce and tag in base64, of an empty object whose key ends in `/`: its stored body is empty, too',
  'x-amz-meta-svc-derivation':
    'in format 2, of an object in one piece: salt and commitment from which the key of its body is derived and proved',
  'x-amz-meta-svc-recovery': 'the data key, or the key of the part list, sealed to each recovery key',
  'x-amz-meta-svc-checksum':
    'algorithm, `full` or `composite`, and of an object in one piece the encrypted checksum of its plaintext',
  'x-amz-meta-svc-md5': 'the encrypted MD5 of its plaintext, where the caller named one',
};
