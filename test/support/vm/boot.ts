import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { temporaryFolder } from '../temporary.ts';
import { writeInitialFileSystem } from './initial-file-system.ts';
import { PORTS, type PortFiles, type QemuEnd, runQemu } from './qemu.ts';
import type { VmOptions, VmResult } from './types.ts';

const TAIL = 4_000;

type Output = Readonly<Record<(typeof PORTS)[number], string>>;

/**
 * The machine was still running when its time was over, or stopped at an instruction that was being patched: what an
 * emulator with a thread for each processor may come to (docs/adr/0005), and a machine that is at fault itself, too.
 */
export class VmStuck extends Error {
  override readonly name = 'VmStuck';
}

/** A breakpoint which the kernel puts in the place of code while it patches it, and knows nothing of. */
const stalePatch = /\bint3: 0000 \[#1\]/;

/**
 * Boots Debian's kernel in an emulated machine with Node, the built `svc` and what is added, runs a script there as
 * root, and powers off. The machine has two processors, loopback and no other network.
 * @throws ToolUnavailable where QEMU or the kernel cannot be had
 * @throws Error with the end of all outputs when the machine panics, hangs, or goes off before the script ends
 */
export async function bootVm(options: VmOptions): Promise<VmResult> {
  const folder = temporaryFolder('vm');
  try {
    const initrd = join(folder.path, 'initrd');
    const kept = keptConsole(options, folder.path);
    const ports = portFiles(folder.path, kept);
    await writeInitialFileSystem(initrd, options);
    const end = await runQemu(ports, initrd, kept === undefined ? options : talkative(options));
    return judge(readPorts(ports), end, options);
  } finally {
    await folder.remove();
  }
}

function keptConsole({ keepConsole }: VmOptions, folder: string): string | undefined {
  const all = process.env['SVC_TEST_VM_CONSOLES'];
  return keepConsole ?? (all === undefined ? undefined : join(all, `${basename(folder)}.log`));
}

function portFiles(folder: string, console: string | undefined): PortFiles {
  const files = Object.fromEntries(PORTS.map((port) => [port, join(folder, port)])) as PortFiles;
  return console === undefined ? files : { ...files, console };
}

function talkative({ kernelArguments = [], ...options }: VmOptions): VmOptions {
  return { ...options, kernelArguments: [...kernelArguments, 'ignore_loglevel'] };
}

function readPorts(files: PortFiles): Output {
  const text = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  const output = Object.fromEntries(PORTS.map((port) => [port, text(files[port])])) as Output;
  return { ...output, console: output.console.replaceAll('\r', '') };
}

function judge(output: Output, end: QemuEnd, options: VmOptions): VmResult {
  const { stdout, stderr, console } = output;
  const status = /^(\d+)\n/.exec(output.status)?.[1];
  if (status === undefined) {
    const text = `${reason(output, end, options)}\n${tails(output, end)}`;
    throw end.timedOut || stalePatch.test(console) ? new VmStuck(text) : new Error(text);
  }
  return { status: Number(status), stdout, stderr, console, records: recordsIn(stdout) };
}

function reason({ console }: Output, end: QemuEnd, { timeoutMs }: VmOptions): string {
  const panic = /Kernel panic - not syncing: .*/.exec(console)?.[0];
  if (panic !== undefined) return `The virtual machine's kernel panicked: ${panic}`;
  if (end.timedOut) return `The virtual machine was still running after ${timeoutMs ?? 60_000} ms`;
  return 'The virtual machine went off before its script had ended';
}

function tails(output: Output, end: QemuEnd): string {
  const parts = Object.entries({
    console: output.console,
    stdout: output.stdout,
    stderr: output.stderr,
    QEMU: end.output,
  });
  return parts
    .filter(([, text]) => text.trim() !== '')
    .map(([name, text]) => `--- ${name}\n${text.slice(-TAIL).trimEnd()}`)
    .join('\n');
}

function recordsIn(stdout: string): Record<string, unknown>[] {
  return stdout.split('\n').flatMap((line) => {
    try {
      const value: unknown = line.startsWith('{') ? JSON.parse(line) : undefined;
      return value === undefined ? [] : [value as Record<string, unknown>];
    } catch {
      return [];
    }
  });
}
