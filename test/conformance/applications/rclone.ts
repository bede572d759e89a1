import { statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { Application, Place } from './application.ts';
import { type Files, writeFiles } from './files.ts';
import { commandOf, runIn, versionOf } from './programs.ts';

const files: Files = { 'a.bin': 10_000, 'b/ä b.bin': 250_000, 'b/large.bin': 12_000_000, empty: 0 };

/** Mirrors, by times and sizes, and by checksums. */
export const rclone: readonly Application[] = [
  mirror('rclone', 'rclone `sync`', [], 'a change that its time shows'),
  mirror(
    'rclone-checksum',
    'rclone `sync --checksum`',
    ['--checksum'],
    'a change that neither time nor size show',
  ),
];

/** Nothing is sent twice, a change of the same size is sent, and what comes back is what was sent. */
function mirror(name: string, title: string, flags: readonly string[], change: string): Application {
  return {
    ...{ name, title },
    prepare: () => versionOf('rclone'),
    async run(place) {
      const command = await commandOf('rclone');
      const env = settings(place);
      const run = (...args: string[]) => runIn(place, command, ['--retries', '1', ...args], { env });
      const source = join(place.folder, 'source');
      const remote = `svc:${place.bucket}/mirror`;
      const sync = (...args: string[]) => run('sync', ...flags, ...args);
      writeFiles(source, 'one', files);
      await sync('source', remote);
      await run('check', '--download', 'source', remote);

      const again = await sync('--dry-run', '--combined', '-', 'source', remote);
      if (/^[^=]/m.test(again)) throw new Error(`a second run would change:\n${again}`);

      const changed = join(source, 'a.bin');
      const { atime, mtimeMs } = statSync(changed);
      writeFiles(source, 'two', { 'a.bin': 10_000 });
      utimesSync(changed, atime, new Date(flags.length > 0 ? mtimeMs : mtimeMs + 5_000));
      await sync('source', remote);
      await run('check', '--download', 'source', remote).catch((error) => {
        throw new Error(`${change} was not sent: ${error.message}`);
      });
      await sync(remote, 'back');
      await run('check', '--download', 'source', 'back');
    },
  };
}

function settings({ target }: Place): Record<string, string> {
  return {
    RCLONE_CONFIG: '/dev/null',
    RCLONE_CONFIG_SVC_TYPE: 's3',
    RCLONE_CONFIG_SVC_PROVIDER: 'Other',
    RCLONE_CONFIG_SVC_ENV_AUTH: 'true',
    RCLONE_CONFIG_SVC_ENDPOINT: target.endpoint,
    RCLONE_CONFIG_SVC_REGION: target.region,
    RCLONE_S3_UPLOAD_CUTOFF: '5Mi',
    RCLONE_S3_CHUNK_SIZE: '5Mi',
  };
}
