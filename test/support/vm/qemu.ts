import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { requireTool } from '../../testbed/ensure.ts';
import { modulesOf } from '../../testbed/recipes/kernel.ts';
import { launch } from '../child.ts';
import { cleanEnv } from '../clean-env.ts';
import { cpuOf } from '../cpu-time.ts';
import { afterPatience } from '../patience.ts';
import { armPackages } from './guest.ts';
import { DEFAULT_MACHINE, MACHINES, type MachineName, type VmOptions, WITH_BPF } from './types.ts';

/** The machine's outputs: what the kernel says, and serial ports from the second on. */
export const PORTS = ['console', 'stdout', 'stderr', 'status'] as const;
/** Paths of what they write to. */
export type PortFiles = Readonly<Record<(typeof PORTS)[number], string>>;
type KernelVersion = (typeof MACHINES)[keyof typeof MACHINES]['kernel'];

/** An oops counts as a panic; a panic restarts, and a restart ends QEMU. */
const KERNEL_ARGUMENTS = [
  'quiet',
  'oops=panic',
  'panic=-1',
  'mitigations=off',
  'cryptomgr.notests',
  'secretmem.enable=1',
];

const LOOK_MS = 5_000;
const LOOKS_A_MINUTE = 12;
/** Processor time of a minute: a stuck guest uses about five seconds, one on a tenth of a processor more. */
const IDLE_MS = 6_000;
const COUNTING = ['-smp', '1', '-icount', 'shift=0,sleep=off'];

/** What differs between architectures. */
interface Hardware {
  readonly command: string;
  readonly kernel: string;
  readonly console: string;
  readonly arguments: readonly string[];
}

export interface QemuEnd {
  readonly timedOut: boolean;
  /** What QEMU itself said. */
  readonly output: string;
}

/** Runs the machine until it goes off or its time is over. The processors are emulated: KVM is not everywhere. */
export async function runQemu(files: PortFiles, initrd: string, options: VmOptions): Promise<QemuEnd> {
  const { architecture, kernel } = MACHINES[options.machine ?? DEFAULT_MACHINE];
  const hardware = await { x64, arm64 }[architecture](kernel, files);
  const lsm = `lsm=${(options.lsm ?? WITH_BPF).join(',')}`;
  const append = [
    `console=${hardware.console}`,
    ...KERNEL_ARGUMENTS,
    lsm,
    ...(options.kernelArguments ?? []),
  ];
  const args = [
    ...['-accel', 'tcg', '-m', `${options.memory ?? 2048}M`],
    ...(options.countsInstructions ? COUNTING : ['-smp', String(options.processors ?? 2)]),
    ...['-nodefaults', '-display', 'none', '-no-reboot'],
    ...['-kernel', hardware.kernel, '-initrd', initrd, '-append', append.join(' ')],
    ...hardware.arguments,
  ];
  return runFor(options.timeoutMs ?? 60_000, options.processors ?? 2, hardware.command, args);
}

/** The files of the modules that a machine may load. */
export async function kernelModules(machine: MachineName): Promise<string[]> {
  const { architecture, kernel } = MACHINES[machine];
  if (architecture === 'arm64') {
    const packages = armPackages('guest');
    return modulesOf(packages, armKernel(packages, kernel).slice('vmlinuz-'.length));
  }
  const folder = (await requireTool(toolOfKernel(kernel))).bins['modules'] ?? '';
  return readdirSync(folder).map((name) => join(folder, name));
}

const toolOfKernel = (version: KernelVersion) => (version === '6.1' ? 'kernel' : 'kernel-6.12');

const armKernel = (packages: string, version: KernelVersion) =>
  readdirSync(join(packages, 'boot')).find((name) => name.startsWith(`vmlinuz-${version}.`)) ?? '';

async function x64(version: KernelVersion, files: PortFiles): Promise<Hardware> {
  const [kernel, qemu] = await Promise.all([requireTool(toolOfKernel(version)), requireTool('qemu')]);
  return {
    command: qemu.bins['qemu-system-x86_64'] ?? '',
    kernel: kernel.bins['vmlinuz'] ?? '',
    console: 'ttyS0,115200',
    // the plain processor takes a second to gather entropy
    arguments: ['-cpu', 'qemu64,+rdrand', ...PORTS.flatMap((port) => ['-serial', `file:${files[port]}`])],
  };
}

/** The console is a port of the board; the others are a card's, whose first one is left out. */
async function arm64(version: KernelVersion, files: PortFiles): Promise<Hardware> {
  const qemu = await requireTool('qemu-arm64');
  const packages = armPackages('guest');
  const [, ...ports] = PORTS;
  return {
    command: qemu.bins['qemu-system-aarch64'] ?? '',
    kernel: join(packages, 'boot', armKernel(packages, version)),
    console: 'ttyAMA0',
    arguments: [
      ...['-machine', 'virt', '-cpu', 'cortex-a72', '-serial', `file:${files.console}`],
      ...['-chardev', 'null,id=unused'],
      ...ports.flatMap((port) => ['-chardev', `file,id=${port},path=${files[port]}`]),
      ...[
        '-device',
        `pci-serial-4x,chardev1=unused,chardev2=${ports[0]},chardev3=${ports[1]},chardev4=${ports[2]}`,
      ],
    ],
  };
}

async function runFor(
  timeoutMs: number,
  processors: number,
  command: string,
  args: readonly string[],
): Promise<QemuEnd> {
  const child = await launch(command, args, { env: cleanEnv() });
  let timedOut = false;
  const expired = () => {
    timedOut = true;
    child.end('SIGKILL');
  };
  const stopTimer = afterPatience(timeoutMs, expired);
  // a machine whose processors have run for so long is stuck; one that did not get them is not. Nor does one that is stuck
  // always use them
  const used: number[] = [];
  let looks = 0;
  const looking = setInterval(() => {
    if (child.ended) return;
    looks += 1;
    const [now, minuteAgo = 0] = [cpuOf(child.pid), used.length === LOOKS_A_MINUTE ? used.shift() : 0];
    used.push(now);
    const idles = looks * LOOK_MS >= timeoutMs && now - minuteAgo < IDLE_MS;
    if (idles || now >= timeoutMs * processors) expired();
  }, LOOK_MS);
  await child.exited;
  clearInterval(looking);
  stopTimer();
  return { timedOut, output: child.logs() };
}
