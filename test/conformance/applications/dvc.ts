import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Application, Place } from './application.ts';
import { assertFiles, type Files, writeFiles } from './files.ts';
import { commandOf, pythonApplication, runIn } from './programs.ts';

const { prepare } = pythonApplication({ name: 'dvc', title: 'DVC', distribution: 'dvc', program: '' });

const files: Files = { 'a.bin': 100_000, 'b/c.bin': 3_000_000, 'b/large.bin': 20_000_000, 'd.txt': 5 };

/** Versions of data: pushed, checked against the cloud, fetched by somebody else, changed, cleaned up. */
export const dvc: Application = {
  ...{ name: 'dvc', title: 'DVC', prepare },
  async run(place) {
    const python = await commandOf('python-tools', 'python');
    const env = {
      DVC_NO_ANALYTICS: '1',
      DVC_GLOBAL_CONFIG_DIR: place.folder,
      DVC_SITE_CACHE_DIR: place.folder,
    };
    const run = (...args: string[]) => runIn(place, python, ['-m', 'dvc', ...args], { env });
    await run('init', '--no-scm');
    await run('remote', 'add', '-d', 'store', `s3://${place.bucket}/dvc`);
    await run('remote', 'modify', 'store', 'endpointurl', place.target.endpoint);
    const data = join(place.folder, 'data');
    writeFiles(data, 'dvc', files);
    await run('add', 'data');
    await run('push');
    await assertInSync(run);
    await fetchAgain(place, run);
    assertFiles(data, 'dvc', files);
    writeFileSync(join(data, 'd.txt'), 'changed');
    await run('add', 'data');
    await run('push');
    await run('gc', '--workspace', '--cloud', '--force');
    await assertInSync(run);
    await fetchAgain(place, run);
  },
};

type Run = (...args: string[]) => Promise<string>;

async function assertInSync(run: Run): Promise<void> {
  const text = await run('status', '--cloud');
  if (!text.includes('in sync')) throw new Error(`dvc status --cloud: ${text}`);
}

/** As on another machine. */
async function fetchAgain({ folder }: Place, run: Run): Promise<void> {
  rmSync(join(folder, 'data'), { recursive: true });
  rmSync(join(folder, '.dvc', 'cache'), { recursive: true });
  await run('pull');
}
