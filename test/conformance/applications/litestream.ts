import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { launch } from '../../support/child.ts';
import { cleanEnv } from '../../support/clean-env.ts';
import type { Application, Place } from './application.ts';
import { commandOf, environment, runIn, versionOf } from './programs.ts';

const catchUpMs = 2_000;

const INSERT = `
import sqlite3, sys
with sqlite3.connect('shop.db', isolation_level=None) as db:
    db.execute('PRAGMA journal_mode = WAL')
    db.execute('CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, what TEXT)')
    for batch in range(int(sys.argv[1])):
        db.execute('BEGIN')
        db.executemany('INSERT INTO orders (what) VALUES (?)', [('order %064d' % n,) for n in range(2000)])
        db.execute('COMMIT')
    print(db.execute('SELECT count(*) FROM orders').fetchone()[0])
`;
const CHECK = `
import sqlite3
db = sqlite3.connect('restored.db')
assert db.execute('PRAGMA integrity_check').fetchone()[0] == 'ok'
print(db.execute('SELECT count(*) FROM orders').fetchone()[0])
`;

/** A SQLite database that is replicated while it is written, again after a restart, and restored. */
export const litestream: Application = {
  ...{ name: 'litestream', title: 'Litestream' },
  prepare: () => versionOf('litestream'),
  async run(place) {
    const python = await commandOf('python-tools', 'python');
    writeFileSync(join(place.folder, 'litestream.yml'), configuration(place));
    const written = (batches: number) => runIn(place, python, ['-c', INSERT, String(batches)]);
    await written(5);
    await replicating(place, () => written(10));
    let rows = '';
    await replicating(place, async () => {
      rows = await written(3);
    });
    const command = await commandOf('litestream');
    await runIn(place, command, ['restore', '-config', 'litestream.yml', '-o', 'restored.db', 'shop.db']);
    const restored = await runIn(place, python, ['-c', CHECK]);
    if (restored !== rows) throw new Error(`restored ${restored.trim()} rows, not ${rows.trim()}`);
    if (statSync(join(place.folder, 'restored.db')).size < 1_000_000) throw new Error('restored too little');
  },
};

const configuration = ({ bucket, target }: Place): string => `
dbs:
  - path: shop.db
    monitor-interval: 100ms
    replica:
      type: s3
      bucket: ${bucket}
      path: replica
      endpoint: ${target.endpoint}
      region: ${target.region}
      force-path-style: true
      sync-interval: 200ms
`;

/** Replicates while `work` runs, then ends it as a service manager would: what is written by then has been sent. */
async function replicating(place: Place, work: () => Promise<unknown>): Promise<void> {
  const command = await commandOf('litestream');
  const replica = await launch(command, ['replicate', '-config', 'litestream.yml'], {
    cwd: place.folder,
    env: cleanEnv(environment(place)),
  });
  try {
    await replica.until('litestream replicates', () => replica.logs().includes('replicating to'));
    await work();
    await sleep(catchUpMs);
    const { code } = await replica.end('SIGTERM');
    const logs = replica.logs();
    if (code !== 0 || logs.includes('level=ERROR')) throw new Error(`litestream ended with ${code}: ${logs}`);
  } finally {
    await replica.stop();
  }
}
