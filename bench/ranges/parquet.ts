import { fileURLToPath } from 'node:url';
import { startRequestLog } from '../../test/support/request-log.ts';
import { runCommand } from '../../test/support/run-command.ts';
import { startSvcProxy } from '../../test/support/svc-proxy.ts';
import { temporaryFolder } from '../../test/support/temporary.ts';
import type { S3Target } from '../../test/support/types.ts';
import { requireTool } from '../../test/testbed/ensure.ts';
import type { Row, Table } from '../harness/bench.ts';
import type { Bed } from '../proxy/contenders.ts';

const script = fileURLToPath(new URL('column_of_six.py', import.meta.url));
const programMs = 300_000;
const buckets = { 'bare store': 'parquet-bare', svc: 'parquet-1', 'svc, `--format 2`': 'parquet-2' } as const;
type Name = keyof typeof buckets;

/** What the store sent, in bytes and in answers. */
interface Read {
  readonly bytes: number;
  readonly requests: number;
}

type Reads = Readonly<Record<'footer' | 'column', Read>>;

/** A file of 48 MB in four groups of rows, as PyArrow reads it: from proxies that have not read it before. */
export async function parquetTable(bed: Bed, say: (text: string) => void): Promise<Table> {
  const rows: Row[] = [];
  let bare: Reads | undefined;
  for (const name of Object.keys(buckets) as Name[]) {
    say(`Parquet, ${name}`);
    const reads = await readsOf(bed, name);
    bare ??= reads;
    rows.push({ name, cells: [...cells(reads), bytesOf(reads) / bytesOf(bare)] });
  }
  const aim = { name: 'aim, `--format 2`', cells: [undefined, undefined, undefined, undefined, 1.1] };
  return {
    title: 'Parquet of 48 MB and six columns, PyArrow',
    columns: ['footer: bytes', 'requests', 'column: bytes', 'requests', 'bytes of both, of bare'],
    rows: [...rows, aim],
    notes: ['Bytes that the store sent, and its answers.'],
  };
}

const cells = ({ footer, column }: Reads) =>
  [footer, column].flatMap(({ bytes, requests }) => [bytes, requests]);
const bytesOf = ({ footer, column }: Reads) => footer.bytes + column.bytes;

async function readsOf(bed: Bed, name: Name): Promise<Reads> {
  const Bucket = buckets[name];
  await bed.http.createBucket(Bucket);
  const log = await startRequestLog(bed.http.endpoint);
  const upstream = { ...bed.http, endpoint: log.url };
  const read = async (what: 'write' | 'footer' | 'column'): Promise<Read> => {
    const { target, stop } = await targetOf(bed, name, upstream);
    try {
      log.clear();
      await runProgram(what, target, Bucket);
      return { bytes: log.fetchedBytes(), requests: log.requests.length };
    } finally {
      await stop();
    }
  };
  try {
    await read('write');
    return { footer: await read('footer'), column: await read('column') };
  } finally {
    await log.stop();
  }
}

async function targetOf(
  { bao }: Bed,
  name: Name,
  upstream: S3Target,
): Promise<{ target: S3Target; stop: () => Promise<unknown> }> {
  if (name === 'bare store') return { target: upstream, stop: async () => undefined };
  const format = name === 'svc' ? '1' : '2';
  const vault = { addr: bao.url, token: await bao.policyToken() };
  return startSvcProxy({ upstream, vault, args: ['--format', format] });
}

async function runProgram(what: string, target: S3Target, bucket: string): Promise<void> {
  const { bins } = await requireTool('python-tools');
  const folder = temporaryFolder('parquet');
  const { endpoint, region, accessKeyId, secretAccessKey } = target;
  const env = {
    ...{ HOME: folder.path, BUCKET: bucket, AWS_ENDPOINT_URL: endpoint, AWS_REGION: region },
    ...{ AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  try {
    const options = { timeoutMs: programMs, env };
    const ended = await runCommand(bins['python'] as string, ['-P', script, what], folder.path, options);
    if (ended.status !== 0)
      throw new Error(`${what} of Parquet ended with ${ended.status}: ${ended.stderr.slice(-2000)}`);
  } finally {
    await folder.remove();
  }
}
