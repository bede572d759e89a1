/** Names that `ensureTool` and `requireTool` take. */
export const TOOL_NAMES = [
  'openbao',
  'versitygw',
  'boto3',
  'cryptography',
  'awscli',
  's3cmd',
  'rclone-client',
  'minio-go-client',
  's3-suite',
  'minio-go-suite',
  'minio',
  'rclone',
  'tini',
  'kernel',
  'kernel-6.12',
  'qemu',
  'qemu-arm64',
  'busybox',
  'runc',
  'iptables',
  'libbpf',
  'kubernetes',
  'kubernetes-node',
  'containerd',
  'coredns',
  'node-image',
  'kube-network-policies',
  'helm',
  'promtool',
  'network-policy-judge',
  'cilium-policy-check',
  'docker-registry',
  'skopeo',
  'umoci',
  'chromium',
  'zsh',
  'fish',
  'ruby',
  'lua',
  'python-tools',
  'awscli-current',
  'restic',
  'litestream',
  'opentofu',
  'thanos',
  'maven',
  'java',
  'hadoop-s3a',
  'pgbackrest',
  'postgresql',
] as const;

export type ToolName = (typeof TOOL_NAMES)[number];

/** An installed tool: `bins` maps a command's name to its absolute path. */
export interface Tool {
  readonly name: ToolName;
  readonly version: string;
  readonly bins: Readonly<Record<string, string>>;
}

export interface Available {
  readonly available: true;
  readonly tool: Tool;
}

export interface Unavailable {
  readonly available: false;
  readonly name: ToolName;
  readonly reason: string;
}

export type Availability = Available | Unavailable;

/** How one tool is had. `id` is what the cache folder is keyed by: everything that decides what gets built. */
export interface CachedRecipe {
  readonly kind: 'cached';
  readonly version: string;
  readonly id: string;
  /** Command names and their paths below the folder that `build` fills. */
  readonly bins: Readonly<Record<string, string>>;
  /** Fills `dir`, an empty folder that is renamed afterwards: nothing in it may hold its absolute path. */
  build(dir: string): Promise<void>;
}

/** A tool of the operating system's own package manager. */
export interface SystemRecipe {
  readonly kind: 'system';
  readonly command: string;
  readonly debianPackage: string;
  /** What makes the command print its version; default `--version`. */
  readonly versionFlag?: string;
}

/** A shared library of the operating system's own package manager; its `bins` hold the file under `file`. */
export interface LibraryRecipe {
  readonly kind: 'library';
  readonly file: string;
  readonly debianPackage: string;
}

export type Recipe = CachedRecipe | SystemRecipe | LibraryRecipe;
