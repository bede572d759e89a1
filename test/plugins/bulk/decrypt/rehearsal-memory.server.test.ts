import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ageKey } from '../../../support/age-keys.ts';
import { launch } from '../../../support/child.ts';
import { cleanEnv } from '../../../support/clean-env.ts';
import { listen } from '../../../support/loopback.ts';
import { peakUntilEnd } from '../../../support/process-memory.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { entry, reportOf, validateArguments } from '../../validate/run-validate.ts';

const test = suite('the memory of a rehearsal');

const MiB = 1024 * 1024;
const total = 200_000;
const pageSize = 1_000;
/** Pages that are kept take 180 MiB beside the 200 MiB that it needs. */
const keyBytes = 750;
const most = 300 * MiB;

test('a listing of 200,000 long keys, with the largest sample, takes bounded memory', async () => {
  const folder = temporaryFolder('rehearsal-memory');
  const server = createServer((request, response) => {
    if (request.method === 'HEAD') return void response.setHeader('content-length', 1).end();
    const from = new URL(request.url ?? '', 'http://x').searchParams.get('continuation-token');
    list(Number(from ?? 0), response);
  });
  const { url, stop } = await listen(server);
  const flags = { pre: false, 'rehearse-recovery': true, sample: 1_000 };
  const child = await launch(process.execPath, [entry, 'validate', ...validateArguments(flags)], {
    env: cleanEnv({
      ...{ AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_REGION: 'x1' },
      ...{ SVC_PROXY_UPSTREAM: url, SVC_VALIDATE_BUCKET: 'listed' },
      SVC_PROXY_RECOVERY_KEY_FILE: ageKey().write(join(folder.path, 'recovery.key')),
    }),
  });
  let peak = 0;
  try {
    peak = await peakUntilEnd(child);
    assert.is((await child.exited).code, 4, child.logs());
  } finally {
    await stop();
    await folder.remove();
  }
  const { reason } = reportOf({ status: 4, stdout: child.logs(), stderr: '' }, 'SVC-RECOVERY-003');
  assert.match(reason ?? '', /is encrypted$/);
  assert.ok(peak > 0 && peak < most, `${peak} bytes`);
});

function list(from: number, response: ServerResponse): void {
  const entries = Array.from({ length: pageSize }, (_, at) => {
    const key = String(from + at)
      .padStart(7, '0')
      .padEnd(keyBytes, 'k');
    return (
      `<Contents><Key>${key}</Key><ETag>&quot;e&quot;</ETag><Size>1</Size>` +
      '<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>'
    );
  });
  const next = from + pageSize;
  const more = next < total;
  response.end(
    `<ListBucketResult><IsTruncated>${more}</IsTruncated>` +
      `${more ? `<NextContinuationToken>${next}</NextContinuationToken>` : ''}${entries.join('')}</ListBucketResult>`,
  );
}

test.run();
