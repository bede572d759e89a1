import { appendFileSync, copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { waitFor } from '../../support/wait-for.ts';
import { requireTool } from '../../testbed/ensure.ts';
import type { Application, Place } from './application.ts';
import { commandOf, runIn, versionOf } from './programs.ts';

const server = 'postgresql/15/bin/postgres';
/** Names the socket; it listens on no address. */
const port = '54329';

/** PostgreSQL's log and backups, over TLS: a full and an incremental backup, restored with the log that came after. */
export const pgBackRest: Application = {
  ...{ name: 'pgbackrest', title: 'pgBackRest (TLS)', tls: true },
  async prepare() {
    await requireTool('postgresql');
    return versionOf('pgbackrest');
  },
  async run(place) {
    const { folder } = place;
    const { backrest, query, start, stop, create } = await commands(place);
    await create();
    await start();
    try {
      await backrest('stanza-create');
      await query(`CREATE TABLE orders AS ${rows(1, 20_000)}`);
      await backrest('backup', '--type', 'full');
      await query(`INSERT INTO orders ${rows(20_001, 30_000)}`);
      await backrest('backup', '--type', 'incr');
      await query(`INSERT INTO orders ${rows(30_001, 30_100)}`);
      const written = await query(summary);
      await backrest('check');
      await stop();
      rmSync(join(folder, 'data'), { recursive: true });

      await backrest('restore');
      await start();
      await waitFor('the end of recovery', async () => (await query('SELECT pg_is_in_recovery()')) === 'f');
      const restored = await query(summary);
      if (restored !== written) throw new Error(`restored ${restored}, not ${written}`);
      const [{ backup }] = JSON.parse(await backrest('info', '--output', 'json'));
      if (backup.length !== 2) throw new Error(`${backup.length} backups, not 2`);
      await backrest('expire', '--repo1-retention-full', '1');
    } finally {
      await stop().catch(() => undefined);
    }
  },
};

const rows = (first: number, last: number) =>
  `SELECT n AS id, md5(n::text) AS what, repeat(md5((n * 7)::text), 8) AS more FROM generate_series(${first}, ${last}) n`;
const summary = `SELECT count(*) || ' ' || md5(string_agg(what || more, '' ORDER BY id)) FROM orders`;

/** PostgreSQL does not run as root. */
async function commands(place: Place) {
  const { folder } = place;
  const isRoot = getuid?.() === 0;
  const asUser = isRoot ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', '--'] : [];
  const run = (...args: string[]) => {
    const [command = '', ...rest] = [...asUser, ...args];
    return runIn(place, command, rest);
  };
  const postgres = await commandOf('postgresql', server);
  const program = (name: string) => postgres.replace(/postgres$/, name);
  const pgCtl = (...args: string[]) =>
    run(program('pg_ctl'), '-D', 'data', '-w', '-l', 'server.log', ...args);
  const config = join(folder, 'pgbackrest.conf');
  const pgBackRestCommand = await commandOf('pgbackrest');
  const backrest = (...args: string[]) =>
    run(pgBackRestCommand, '--config', config, '--stanza', 'main', ...args);
  return {
    backrest,
    query: async (text: string) =>
      (
        await run(program('psql'), '-h', folder, '-p', port, '-U', 'postgres', '-Atqc', text, 'postgres')
      ).trim(),
    start: () => pgCtl('start'),
    stop: () => pgCtl('-m', 'fast', 'stop'),
    async create() {
      writeFileSync(config, configuration(place));
      copyFileSync(place.target.caFile ?? '', join(folder, 'ca.pem'));
      if (isRoot) await runIn(place, 'chown', ['-R', 'postgres:', folder]);
      await run(program('initdb'), '-D', 'data', '-U', 'postgres', '--no-sync');
      const archive = `${pgBackRestCommand} --config ${config} --stanza main archive-push %p`;
      appendFileSync(join(folder, 'data', 'postgresql.conf'), settings(folder, archive));
    },
  };
}

const settings = (folder: string, archive: string) => `
listen_addresses = ''
port = ${port}
unix_socket_directories = '${folder}'
archive_mode = on
archive_command = '${archive}'
fsync = off
`;

/** By name, because it compares no addresses with those of a certificate. */
function configuration({ target, bucket, folder }: Place): string {
  return `
[global]
repo1-type=s3
repo1-path=/backups
repo1-s3-bucket=${bucket}
repo1-s3-endpoint=localhost
repo1-s3-region=${target.region}
repo1-s3-key=${target.accessKeyId}
repo1-s3-key-secret=${target.secretAccessKey}
repo1-s3-uri-style=path
repo1-storage-port=${new URL(target.endpoint).port}
repo1-storage-ca-file=${folder}/ca.pem
repo1-retention-full=2
start-fast=y
process-max=2
log-level-console=warn
log-level-file=off
lock-path=${folder}/lock
spool-path=${folder}/spool
[main]
pg1-path=${folder}/data
pg1-socket-path=${folder}
pg1-port=${port}
pg1-user=postgres
`;
}
