import { filled, KiB, MiB, numbered } from './pieces.ts';

/** An object that a user of one namespace may create, and that the operator watches or reads. */
export interface ObjectInput {
  readonly name: string;
  readonly kind: 'pods' | 'secrets';
  /** Its JSON; each number gives another one. */
  readonly object: (number: number) => Buffer;
}

/** What etcd takes. */
const ofObject = 1.4 * MiB;

const pod = (name: string, piece: (index: number) => string, of: string): ObjectInput => ({
  name: `object: pod full of ${name}`,
  kind: 'pods',
  object(number) {
    const id = `${name.replace(/\W/g, '-')}-${number}`;
    const [start = '', end = ''] = `{"metadata":{"name":"${id}"${of}`
      .replace('¤', numbered(number))
      .split('§');
    return filled(ofObject, start, piece, end);
  },
});

const containers = (more: string) =>
  `},"spec":{"containers":[{"name":"app","image":"a:1","env":[{"name":"N","value":"¤"}]${more}}]}}`;

export const objectInputs: readonly ObjectInput[] = [
  pod('empty-arguments', () => '"",', containers(',"args":[§"¤"]')),
  pod('arguments', (index) => `"${numbered(index)}",`, containers(',"args":[§"¤"]')),
  pod('labels', (index) => `"a${numbered(index)}":"",`, `,"labels":{§"z":"a¤"}${containers('')}`),
  pod(
    'variables',
    (index) => `{"name":"A${numbered(index)}"},`,
    containers('').replace('[{"name":"N"', '[§{"name":"N"'),
  ),
  {
    name: 'object: pull secret full of logins',
    kind: 'secrets',
    object(number) {
      const logins = filled(
        700 * KiB,
        '{"auths":{',
        (index) => `"${numbered(index)}.a":{"username":"u","password":"p"},`,
        `"z${number}":{}}}`,
      );
      return Buffer.from(
        JSON.stringify({
          ...{ metadata: { name: `logins-${number}` }, type: 'kubernetes.io/dockerconfigjson' },
          data: { '.dockerconfigjson': logins.toString('base64') },
        }),
      );
    },
  },
];

/** How many pull secrets a pod names, and how many objects of each kind are made. */
export const objectsOfAKind = 32;
