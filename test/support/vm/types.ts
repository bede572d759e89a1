/** Boot lists of Linux security modules: with BPF programs among them, and without. */
export const WITH_BPF = ['landlock', 'lockdown', 'yama', 'integrity', 'bpf'] as const;
export const WITHOUT_BPF = ['landlock', 'lockdown', 'yama', 'integrity'] as const;

export type Architecture = 'x64' | 'arm64';

/** What can be booted: a kernel of Debian's, by its version, on an emulated processor. */
export const MACHINES = {
  'linux-6.1': { architecture: 'x64', kernel: '6.1' },
  'linux-6.12': { architecture: 'x64', kernel: '6.12' },
  'linux-6.1-arm64': { architecture: 'arm64', kernel: '6.1' },
  'linux-6.12-arm64': { architecture: 'arm64', kernel: '6.12' },
} as const satisfies Readonly<Record<string, { architecture: Architecture; kernel: '6.1' | '6.12' }>>;

export type MachineName = keyof typeof MACHINES;

export const DEFAULT_MACHINE: MachineName = 'linux-6.1';

export interface VmOptions {
  /** Default: DEFAULT_MACHINE. */
  readonly machine?: MachineName;
  /** Commands for a POSIX shell, run as root in /root; the machine goes off when they end. */
  readonly script: string;
  /** Guest path to host file or folder, or to content. What is executable here is so there. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Host programs to have at the same path in a guest of this architecture, with the libraries that they need. */
  readonly programs?: readonly string[];
  /** Default: WITH_BPF. */
  readonly lsm?: readonly string[];
  /** Loads binfmt_misc and overlay, which the kernels have as modules. Default: false. */
  readonly modules?: boolean;
  /** More for the kernel's command line. */
  readonly kernelArguments?: readonly string[];
  /**
   * Its clock counts instructions, a nanosecond each, and it has one processor: figures do not stray with what the
   * host does, and the machine is some times slower. Default: false.
   */
  readonly countsInstructions?: boolean;
  /**
   * Default: 2. Each is a thread of the host, and each waits for the other wherever the kernel patches its own code, as it
   * does for every program that is attached: on a busy host most of the time. What needs no two at once takes one.
   */
  readonly processors?: 1 | 2;
  /** In MiB; default 2048. */
  readonly memory?: number;
  /**
   * A file that gets all that the kernel says, debugging included, and stays. Default: none; with
   * SVC_TEST_VM_CONSOLES=FOLDER each machine gets one of its own there.
   */
  readonly keepConsole?: string;
  /** From power-on to power-off; default 60,000. */
  readonly timeoutMs?: number;
}

export interface VmResult {
  /** Exit status of the script. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The lines of stdout that are JSON objects. */
  readonly records: readonly Readonly<Record<string, unknown>>[];
  /** What the kernel said. */
  readonly console: string;
}
