import { join } from 'node:path';
import { clang, runClang } from '../clang.ts';

/** Kernel types are laid out for the kernel by an attribute that only the BPF target knows. */
const warnings = ['-Wall', '-Wextra', '-Werror', '-Wno-unused-parameter', '-Wno-unused-function'];
const flags = ['-std=gnu17', '-g1', '-O0', ...warnings, '-Wno-unknown-attributes'];
const includes = ['test/bpf/native/shim', 'test/bpf/native', 'bpf'].map((folder) => `-I${folder}`);
/** Members of null are taken the address of, as the kernel's own readers allow; all reads go through the host. */
const sanitizers = ['-fsanitize=address,undefined', '-fno-sanitize=null', '-fno-sanitize-recover=all'];
/** The same without the compiler's run-time library. */
const traps = ['-fsanitize=undefined', '-fno-sanitize=null', '-fsanitize-trap=all'];

/**
 * Compiles the cases with the programs of a tier for this machine, with the sanitizers that it has.
 * @param architecture libbpf's name of the one whose system calls the programs are to know
 * @param tier LSM or TRACEPOINT; the second tier has the programs of the first
 * @param folder where it puts the program
 * @returns its path
 * @throws ToolUnavailable without clang; Error with what clang says
 */
export async function compileCases(architecture: string, tier: string, folder: string): Promise<string> {
  const program = join(folder, `${architecture}-${tier}`);
  const checks = (await hasSanitizers(folder)) ? sanitizers : traps;
  const defines = [`-D__TARGET_ARCH_${architecture}`, `-DTIER_${tier}`];
  await clang([...flags, ...checks, ...defines, ...includes, 'test/bpf/native/main.c', '-o', program]);
  return program;
}

/** A program of no content shows it: where the library lies differs by package and architecture. */
async function hasSanitizers(folder: string): Promise<boolean> {
  const args = ['-x', 'c', '-fsanitize=address', '-o', join(folder, 'probe'), '-'];
  const { status } = await runClang(args, 'int main(void) { return 0; }');
  return status === 0;
}
