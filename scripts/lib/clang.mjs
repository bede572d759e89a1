import { spawnSync } from 'node:child_process';
import { hasClang } from './bpf.mjs';
import { hasFormatter } from './c-format.mjs';

/** What compiles the BPF programs, shows what came out, formats their sources, and watches over them in tests. */
export const CLANG_PACKAGES = [
  'clang-19',
  'llvm-19',
  'libbpf-dev',
  'bpftool',
  'clang-format-19',
  'libclang-rt-19-dev',
];

/**
 * Installs the compiler of the BPF programs with Debian's packages when it is missing and this is root. Elsewhere, and
 * where apt fails, it says what to do; the build then leaves the programs out.
 */
export function ensureClang(say) {
  if (hasClang() && hasFormatter()) return;
  const command = `apt-get install ${CLANG_PACKAGES.join(' ')}`;
  if (process.getuid() !== 0 || spawnSync('apt-get', ['--version']).status !== 0) {
    say(`The compiler of the BPF programs is missing; on Debian, as root: ${command}`);
    return;
  }
  say(`Installing the compiler of the BPF programs (${command}) …`);
  const started = Date.now();
  const failed = [['update'], ['install', '-y', '--no-install-recommends', ...CLANG_PACKAGES]].find(
    (args) => apt(args) !== 0,
  );
  say(
    failed
      ? `apt-get ${failed[0]} failed: read its message above, and run ${command} when it is fixed.`
      : `Installed in ${Math.round((Date.now() - started) / 1000)} s.`,
  );
}

function apt(args) {
  return spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=600', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 2, 2],
  }).status;
}
