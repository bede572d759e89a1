import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Application } from './application.ts';
import { assertFiles, type Files, writeFiles } from './files.ts';
import { commandOf, runIn, versionOf } from './programs.ts';

const small = Object.fromEntries(
  Array.from({ length: 200 }, (_, index) => [`small/${index}`, 2_000 + index]),
);
const before: Files = { ...small, 'large.bin': 30_000_000, 'sub/folder/ä b.bin': 123_456 };
const after: Files = { ...before, 'new.bin': 8_000_000 };

/** Backups: two snapshots, every byte checked, the first forgotten and pruned, the second restored. */
export const restic: Application = {
  ...{ name: 'restic', title: 'restic' },
  prepare: () => versionOf('restic'),
  async run(place) {
    const command = await commandOf('restic');
    const env = {
      RESTIC_REPOSITORY: `s3:${place.target.endpoint}/${place.bucket}/backups`,
      RESTIC_PASSWORD: 'correct horse',
      RESTIC_CACHE_DIR: join(place.folder, 'cache'),
    };
    const run = (...args: string[]) => runIn(place, command, args, { env });
    const source = join(place.folder, 'source');
    await run('init');
    writeFiles(source, 'one', before);
    await run('backup', 'source');
    rmSync(source, { recursive: true });
    writeFiles(source, 'two', after);
    await run('backup', 'source');
    await run('check', '--read-data');
    await run('forget', '--keep-last', '1', '--prune');
    const kept = JSON.parse(await run('snapshots', '--json'));
    if (kept.length !== 1) throw new Error(`${kept.length} snapshots are left, not 1`);
    await run('check', '--read-data', '--no-cache');
    await run('restore', 'latest', '--target', 'restored', '--verify');
    assertFiles(join(place.folder, 'restored', 'source'), 'two', after);
  },
};
