import { statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { Application, Place } from './application.ts';
import { type Files, writeFiles } from './files.ts';
import { commandOf, runIn, versionOf } from './programs.ts';

const files: Files = { 'a.bin': 10_000, 'b/ä b.bin': 250_000, 'b/large.bin': 12_000_000, empty: 0 };

/** A mirror that goes by checksums: nothing is sent twice, and a change that neither size nor time show is found. */
export const rclone: Application = {
  ...{ name: 'rclone', title: 'rclone `sync --checksum`' },
  prepare: () => versionOf('rclone'),
  async run(place) {
    const command = await commandOf('rclone');
    const env = settings(place);
    const run = (...args: string[]) => runIn(place, command, ['--retries', '1', ...args], { env });
    const source = join(place.folder, 'source');
    const remote = `svc:${place.bucket}/mirror`;
    const sync = () => run('sync', '--checksum', 'source', remote);
    writeFiles(source, 'one', files);
    await sync();
    await run('check', '--download', 'source', remote);

    const unchanged = await run('sync', '--checksum', '--dry-run', '--combined', '-', 'source', remote);
    if (/^[^=]/m.test(unchanged)) throw new Error(`a second run would change:\n${unchanged}`);

    const { atime, mtime } = statSync(join(source, 'a.bin'));
    writeFiles(source, 'two', { 'a.bin': 10_000 });
    utimesSync(join(source, 'a.bin'), atime, mtime);
    await sync();
    await run('check', '--download', 'source', remote);
    await run('sync', '--checksum', remote, 'back');
    await run('check', '--download', 'source', 'back');
  },
};

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
