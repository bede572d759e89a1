import type { AnswerKind } from '../input.ts';
import { filled, MiB, numbered, worstJson } from './pieces.ts';

/** A review of a pod, as the API server sends it, or as anybody does who reaches the webhook. */
export interface ReviewInput {
  readonly name: string;
  /** The whole text of the review. */
  readonly text: () => Buffer;
  readonly outcomes: readonly AnswerKind[];
}

/** An API server takes requests of 3 MiB, and the webhook reviews of 4 MiB. */
const ofPod = 2.9 * MiB;
const ofReview = 4 * MiB - 1;

const annotations = '"svc/inject":"true","svc/vault-role":"app","svc/secret-paths":"secret/app"';
const image = '"image":"other.example/app:1"';
const user = '"securityContext":{"runAsUser":65532}';

/** The text of a review whose pod has these members. */
export const reviewOf = (metadata: string, spec: string): readonly [before: string, after: string] => [
  `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","kind":{"group":"","version":"v1","kind":"Pod"},"resource":{"group":"","version":"v1","resource":"pods"},"namespace":"worst","operation":"CREATE","dryRun":true,"userInfo":{"username":"test"},"object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a",${metadata}`,
  `${spec}}}}`,
];

const container = (more: string) => `{"name":"app",${image}${more}}`;
const spec = (containers: string, more = '') => `"spec":{${user}${more},"containers":[${containers}]}`;
const plain = spec(container(',"command":["/bin/app"]'));

/** Fills the place of `§` in metadata or spec. */
function review(
  name: string,
  piece: string | ((index: number) => string),
  metadata: string,
  of: string,
): ReviewInput {
  const [before, after] = reviewOf(`${metadata}},`, of);
  const [start = '', end = ''] = (before + after).split('§');
  return { name: `pod: ${name}`, text: () => filled(ofPod, start, piece, end), outcomes: [200, 400, 413] };
}

const ours = `"annotations":{${annotations}}`;
const command = (words: string) => spec(container(`,"command":${words}`));

const pods: readonly ReviewInput[] = [
  review('a word of references without end', '$(', ours, command('["/a","§"]')),
  review('a word of references', '$(A)', ours, command('["/a","§"]')),
  review('a word of dollars', '$$', ours, command('["/a","§"]')),
  review('a word of commas', ',', ours, command('["/a","§"]')),
  review('a word of escapes', '\\u0001', ours, command('["/a","§"]')),
  review('words of one letter', '"a",', ours, command('["/a",§"a"]')),
  review('empty words', '"",', ours, command('["/a",§"a"]')),
  review('arguments of one letter', '"a",', ours, spec(container(',"command":["/a"],"args":[§"a"]'))),
  review(
    'variables',
    (index) => `{"name":"${numbered(index)}"},`,
    ours,
    spec(container(',"command":["/a"],"env":[§{"name":"Z"}]')),
  ),
  review('variables without names', '{},', ours, spec(container(',"command":["/a"],"env":[§{"name":"Z"}]'))),
  review('labels', (index) => `"a${numbered(index)}":"",`, `"labels":{§"z":""},${ours}`, plain),
  review(
    'annotations of others',
    (index) => `"a${numbered(index)}":"",`,
    `"annotations":{§${annotations}}`,
    plain,
  ),
  review(
    'annotations that there are not',
    (index) => `"svc/a${numbered(index)}":"",`,
    `"annotations":{§${annotations}}`,
    plain,
  ),
  review(
    'a long svc/command',
    '\\"\\",',
    `"annotations":{"svc/command":"[§\\"a\\"]",${annotations}}`,
    spec(container('')),
  ),
  review(
    'a long svc/secret-paths',
    'a/b,',
    '"annotations":{"svc/inject":"true","svc/vault-role":"app","svc/secret-paths":"§a/b"}',
    plain,
  ),
  review('a long svc/containers', 'app,', `"annotations":{"svc/containers":"§app",${annotations}}`, plain),
  review(
    'containers',
    (index) => `{"name":"a${numbered(index)}",${image}},`,
    ours,
    spec(`§${container(',"command":["/a"]')}`),
  ),
  review('containers of nothing', '{},', ours, spec(`§${container(',"command":["/a"]')}`)),
  review(
    'volumes',
    (index) => `{"name":"a${numbered(index)}"},`,
    ours,
    spec(container(',"command":["/a"]'), ',"volumes":[§{"name":"z"}]'),
  ),
  review(
    'mounts',
    (index) => `{"name":"a","mountPath":"/${numbered(index)}"},`,
    ours,
    spec(container(',"command":["/a"],"volumeMounts":[§{"name":"z","mountPath":"/z"}]')),
  ),
  review(
    'pull secrets',
    (index) => `{"name":"a${numbered(index)}"},`,
    ours,
    spec(container(''), ',"imagePullSecrets":[§{"name":"z"}]'),
  ),
  review('tolerations', '{},', ours, spec(container(',"command":["/a"]'), ',"tolerations":[§{}]')),
];

/** What is no pod, or none that an API server would send. */
const others: readonly ReviewInput[] = Object.entries(
  worstJson(ofReview, '{"kind":"AdmissionReview","request":', '}'),
).map(([name, text]) => ({ name: `review: ${name}`, text, outcomes: [200, 400, 413, 422] }));

export const reviewInputs: readonly ReviewInput[] = [...pods, ...others];
