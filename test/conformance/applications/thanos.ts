import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { http } from '../../support/http.ts';
import { freePort } from '../../support/ports.ts';
import { type Server, startServer } from '../../support/server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { requireTool } from '../../testbed/ensure.ts';
import type { Application, Place } from './application.ts';
import { commandOf, environment, runIn, versionOf } from './programs.ts';

const series = 60;
const minutes = 480;
/** Seconds since the epoch, at the begin of a block. */
const begin = 1_700_006_400;

/** Metrics in blocks: sent, queried, compacted, and queried again after a restart without what was cached on disk. */
export const thanos: Application = {
  ...{ name: 'thanos', title: 'Thanos' },
  async prepare() {
    await requireTool('promtool');
    return versionOf('thanos');
  },
  async run(place) {
    const command = await commandOf('thanos');
    const config = join(place.folder, 'bucket.json');
    writeFileSync(config, bucketConfiguration(place));
    writeFileSync(join(place.folder, 'metrics'), openMetrics());
    const bucket = ['--objstore.config-file', config];
    const run = (...args: string[]) => runIn(place, command, [...args, ...bucket]);

    await runIn(place, await commandOf('promtool'), [
      'tsdb',
      'create-blocks-from',
      'openmetrics',
      'metrics',
      'blocks',
    ]);
    await run('tools', 'bucket', 'upload-blocks', '--path=blocks', '--label=cluster="one"');
    await assertAnswers(place, bucket);
    await run('compact', '--data-dir=compact', '--consistency-delay=0s', '--delete-delay=0s');
    await run('tools', 'bucket', 'verify');
    rmSync(join(place.folder, 'store'), { recursive: true });
    await assertAnswers(place, bucket);
  },
};

/** JSON is YAML, too. */
function bucketConfiguration({ target, bucket }: Place): string {
  const { host, protocol } = new URL(target.endpoint);
  const { accessKeyId: access_key, secretAccessKey: secret_key, region } = target;
  const connection = { bucket, endpoint: host, insecure: protocol === 'http:', bucket_lookup_type: 'path' };
  return JSON.stringify({ type: 'S3', config: { ...connection, access_key, secret_key, region } });
}

const valueAt = (one: number, minute: number) => one * 1_000 + minute;

function openMetrics(): string {
  const lines = ['# TYPE orders gauge'];
  for (let one = 0; one < series; one++) {
    for (let minute = 0; minute < minutes; minute++)
      lines.push(`orders{shop="shop ${one}"} ${valueAt(one, minute)} ${begin + minute * 60}`);
  }
  return [...lines, '# EOF', ''].join('\n');
}

/** Starts a store gateway and a querier, and asks for what must be there. */
async function assertAnswers(place: Place, bucket: readonly string[]): Promise<void> {
  const grpc = `127.0.0.1:${await freePort()}`;
  const store = await server(place, (address) => [
    ...['store', '--data-dir=store', `--grpc-address=${grpc}`, `--http-address=${address}`, ...bucket],
  ]);
  const own = `127.0.0.1:${await freePort()}`;
  const query = await server(place, (address) => [
    ...['query', `--endpoint=${grpc}`, `--grpc-address=${own}`, `--http-address=${address}`],
  ]).catch(async (error) => {
    await store.stop();
    throw error;
  });
  const last = minutes - 1;
  const ask = async (text: string) => {
    const parameters = new URLSearchParams({ query: text, time: String(begin + last * 60) });
    const { json } = await http(`${query.url}/api/v1/query?${parameters}`);
    return json?.data?.result?.[0]?.value?.[1];
  };
  try {
    const details = () => store.logs() + query.logs();
    await waitFor('the store gateway', async () => (await ask('count(orders)')) === String(series), {
      details,
    });
    const sum = Array.from({ length: series }, (_, one) => valueAt(one, last)).reduce(
      (all, one) => all + one,
    );
    const expected = { 'sum(orders)': sum, [`sum(count_over_time(orders[${minutes}m]))`]: series * minutes };
    for (const [text, value] of Object.entries(expected)) {
      const found = await ask(text);
      if (Number(found) !== value) throw new Error(`${text} is ${found}, not ${value}`);
    }
  } finally {
    await Promise.all([store.stop(), query.stop()]);
  }
}

async function server(place: Place, args: (address: string) => readonly string[]): Promise<Server> {
  return startServer({
    name: 'thanos',
    command: await commandOf('thanos'),
    args: (port) => args(`127.0.0.1:${port}`),
    folder: place.folder,
    env: environment(place),
    ready: async (url) => (await http(`${url}/-/ready`)).status === 200,
  });
}
