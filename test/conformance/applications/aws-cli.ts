import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bytesOf } from '../support/payload.ts';
import type { Application } from './application.ts';
import { assertFiles, type Files, writeFiles } from './files.ts';
import { commandOf, runIn, versionOf } from './programs.ts';

const files: Files = { 'a.bin': 10_000, 'b/ä b.bin': 250_000, 'b/large.bin': 20_000_000, empty: 0 };

/** With nothing set but endpoint and credentials: it sends checksums with all it writes, and asks for them when it reads. */
export const awsCli: Application = {
  ...{ name: 'aws-cli', title: 'AWS CLI 2' },
  prepare: () => versionOf('awscli-current'),
  async run(place) {
    const command = await commandOf('awscli-current', 'aws');
    const aws = (...args: string[]) => runIn(place, command, args);
    const remote = `s3://${place.bucket}`;
    writeFiles(join(place.folder, 'source'), 'one', files);
    await aws('s3', 'sync', 'source', `${remote}/tree`);
    const again = await aws('s3', 'sync', 'source', `${remote}/tree`);
    if (again !== '') throw new Error(`a second run sends:\n${again}`);
    await aws('s3', 'sync', `${remote}/tree`, 'back');
    assertFiles(join(place.folder, 'back'), 'one', files);

    await aws('s3', 'mv', `${remote}/tree/b`, `${remote}/moved`, '--recursive');
    await aws('s3', 'cp', `${remote}/moved`, 'moved/b', '--recursive');
    assertFiles(join(place.folder, 'moved'), 'one', { 'b/ä b.bin': 250_000, 'b/large.bin': 20_000_000 });

    const named = ['--bucket', place.bucket, '--key', 'by-hand'];
    await aws('s3api', 'put-object', ...named, '--body', 'source/a.bin', '--checksum-algorithm', 'SHA256');
    mkdirSync(join(place.folder, 'by-hand'));
    await aws('s3api', 'get-object', ...named, '--checksum-mode', 'ENABLED', 'by-hand/a.bin');
    assertFiles(join(place.folder, 'by-hand'), 'one', { 'a.bin': 10_000 });
    const { ContentLength } = JSON.parse(await aws('s3api', 'head-object', ...named));
    if (ContentLength !== 10_000) throw new Error(`head-object says ${ContentLength} bytes, not 10000`);
    const range = ['--range', 'bytes=19999000-'];
    await aws(
      's3api',
      'get-object',
      '--bucket',
      place.bucket,
      '--key',
      'moved/large.bin',
      ...range,
      'range.bin',
    );
    const slice = bytesOf('one/b/large.bin', 20_000_000).subarray(19_999_000);
    if (!readFileSync(join(place.folder, 'range.bin')).equals(slice)) throw new Error('a range differs');

    await aws('s3', 'rm', remote, '--recursive');
    const left = await aws('s3', 'ls', remote, '--recursive').catch(() => '');
    if (left !== '') throw new Error(`there is left:\n${left}`);
  },
};
