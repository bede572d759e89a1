/** What the README's picture shows. A test holds parts, rooms and pages against the tree. */

export interface Zone {
  readonly title: string;
  /** Left, top, width and height in pixels. */
  readonly at: readonly [number, number, number, number];
  readonly kind: 'untrusted' | 'own' | 'node' | 'plaintext';
}

export interface Part {
  readonly id: string;
  readonly title: string;
  readonly lines: readonly string[];
  readonly at: readonly [number, number, number, number];
  /** Where its source is; absent for what is not ours. */
  readonly room?: string;
}

export interface Link {
  readonly from: string;
  readonly to: string;
  /** Corners of the arrow in pixels, its end included. */
  readonly points: readonly (readonly [number, number])[];
  readonly label: string;
  readonly labelAt: readonly [number, number];
  readonly carries: 'plaintext' | 'ciphertext' | 'keys' | 'control';
}

export const size = [960, 560] as const;

export const zones: readonly Zone[] = [
  { title: 'Your side', at: [16, 16, 220, 528], kind: 'own' },
  { title: 'The cloud, which is not trusted', at: [268, 16, 676, 528], kind: 'untrusted' },
  { title: 'Node', at: [292, 56, 628, 304], kind: 'node' },
  { title: 'Plaintext ends here: one pod', at: [312, 92, 420, 248], kind: 'plaintext' },
];

export const parts: readonly Part[] = [
  { id: 'secrets-server', title: 'Secrets server', lines: ['OpenBao or Vault'], at: [40, 108, 172, 60] },
  {
    id: 'key-server',
    title: 'Key server',
    lines: ['OpenBao or Vault,', 'transit keys'],
    at: [40, 256, 172, 72],
  },
  {
    ...{ id: 'cli', title: 'svc', lines: ['validate, audit, netpol'], at: [40, 436, 172, 60] },
    room: 'src/commands',
  },
  {
    ...{ id: 'wrapper', title: 'Wrapper', lines: ['starts the application,', 'renews, rotates'] },
    ...{ at: [336, 124, 160, 72], room: 'src/plugins/wrapper' },
  },
  {
    ...{ id: 'application', title: 'Application', lines: ['reads its secrets from', 'protected memory'] },
    ...{ at: [560, 124, 152, 72], room: 'src/sdk' },
  },
  {
    ...{ id: 'proxy', title: 'Proxy', lines: ['encrypts and decrypts', 'S3 objects'] },
    ...{ at: [560, 248, 152, 72], room: 'src/plugins/proxy' },
  },
  {
    ...{ id: 'agent', title: 'Agent', lines: ['eBPF: keeps others', 'on the node out'] },
    ...{ at: [764, 124, 136, 72], room: 'src/plugins/agent' },
  },
  {
    ...{ id: 'operator', title: 'Operator', lines: ['injects, keeps egress', 'policies, scores'] },
    ...{ at: [312, 436, 160, 72], room: 'src/plugins/operator' },
  },
  { id: 'api-server', title: 'Kubernetes API', lines: ['admission, policies'], at: [560, 436, 152, 72] },
  { id: 'object-store', title: 'Object store', lines: ['sees ciphertext only'], at: [764, 436, 136, 72] },
];

export const links: readonly Link[] = [
  {
    ...{
      from: 'secrets-server',
      to: 'wrapper',
      points: [
        [212, 138],
        [336, 138],
      ],
      carries: 'plaintext',
    },
    ...{ label: 'secrets, TLS', labelAt: [274, 130] },
  },
  {
    ...{
      from: 'wrapper',
      to: 'application',
      points: [
        [496, 160],
        [560, 160],
      ],
      carries: 'plaintext',
    },
    ...{ label: 'secrets', labelAt: [528, 152] },
  },
  {
    ...{
      from: 'application',
      to: 'proxy',
      points: [
        [636, 196],
        [636, 248],
      ],
      carries: 'plaintext',
    },
    ...{ label: 'S3 on localhost', labelAt: [582, 226] },
  },
  {
    ...{
      from: 'proxy',
      to: 'key-server',
      points: [
        [560, 292],
        [212, 292],
      ],
      carries: 'keys',
    },
    ...{ label: 'data keys, wrapped and unwrapped', labelAt: [436, 284] },
  },
  {
    ...{
      from: 'proxy',
      to: 'object-store',
      points: [
        [712, 284],
        [832, 284],
        [832, 436],
      ],
      carries: 'ciphertext',
    },
    ...{ label: 'ciphertext', labelAt: [786, 400] },
  },
  {
    ...{
      from: 'wrapper',
      to: 'agent',
      points: [
        [416, 124],
        [416, 80],
        [832, 80],
        [832, 124],
      ],
      carries: 'control',
    },
    ...{ label: 'registers before it fetches secrets', labelAt: [624, 74] },
  },
  {
    ...{
      from: 'agent',
      to: 'operator',
      points: [
        [788, 196],
        [788, 380],
        [392, 380],
        [392, 436],
      ],
      carries: 'control',
    },
    ...{ label: 'reports, mutual TLS', labelAt: [500, 396] },
  },
  {
    ...{
      from: 'api-server',
      to: 'operator',
      points: [
        [560, 472],
        [472, 472],
      ],
      carries: 'control',
    },
    ...{ label: 'pods', labelAt: [516, 464] },
  },
  {
    ...{
      from: 'cli',
      to: 'api-server',
      points: [
        [212, 476],
        [284, 476],
        [284, 528],
        [636, 528],
        [636, 508],
      ],
      carries: 'control',
    },
    ...{ label: 'checks, scores', labelAt: [516, 524] },
  },
];
