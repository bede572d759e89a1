import { randomBytes } from 'node:crypto';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import { sendParts, type UploadedParts } from '../../attacks/support/stored.ts';
import { type RawCall, rawHttp } from '../../support/raw-http.ts';
import { rawState } from '../../support/raw-state.ts';
import { type Rig, type RiggedProxy, startRig } from '../../support/rig.ts';
import type { SvcProxyConfig } from '../../support/types.ts';

/** A running proxy for input that must do no harm, with an object and an open upload that must stay as they are. */
export interface BadInputTarget {
  readonly rig: Rig;
  readonly proxy: RiggedProxy;
  /** Body of the object `kept`. */
  readonly kept: Buffer;
  /** An upload of `kept-upload` with one part. */
  readonly upload: UploadedParts;
  /** Path and query of that upload. */
  readonly uploadPath: string;
  /** Sends a request to `<bucket>/<path>`, PUT unless it says otherwise. @returns status and code, `400 BadDigest`. */
  send(path: string, call?: RawCall): Promise<string>;
  /** The same call as a new object, over an object, as a new part and over a part. @returns each answer once. */
  sendEverywhere(call: RawCall): Promise<string>;
}

/**
 * Adds the hooks that start such a target and, after each test, hold that the store is as it was and that the
 * proxy, the same process, still serves.
 */
export function againstProxy(
  test: Test,
  options: Partial<SvcProxyConfig> = {},
): { readonly at: BadInputTarget } {
  const held: { at?: BadInputTarget; before: string[] } = { before: [] };
  const at = () => held.at as BadInputTarget;
  test.before(async () => {
    held.at = await startTarget(options);
  });
  test.before.each(async () => {
    held.before = await rawState(at().rig);
  });
  test.after.each(async () => {
    assert.equal(await rawState(at().rig), held.before, 'the store is not as it was');
    await assertServes(at());
  });
  test.after(() => held.at?.rig.stop());
  return {
    get at() {
      return at();
    },
  };
}

async function startTarget(options: Partial<SvcProxyConfig>): Promise<BadInputTarget> {
  const rig = await startRig();
  const proxy = await rig.proxy(options);
  const kept = randomBytes(3000);
  await proxy.s3.send(new PutObjectCommand({ Bucket: rig.bucket, Key: 'kept', Body: kept }));
  const upload = await sendParts(proxy.s3, rig.bucket, 'kept-upload', [randomBytes(1000)]);
  const uploadPath = `kept-upload?uploadId=${upload.UploadId}`;
  const send = async (path: string, call: RawCall = {}) => {
    const { status, code } = await rawHttp(`${proxy.url}/${rig.bucket}/${path}`, { method: 'PUT', ...call });
    return `${status} ${code}`;
  };
  const everywhere = ['new', 'kept', `${uploadPath}&partNumber=1`, `${uploadPath}&partNumber=2`];
  return {
    ...{ rig, proxy, kept, upload, uploadPath, send },
    async sendEverywhere(call) {
      const answers = await Promise.all(everywhere.map((path) => send(path, call)));
      return [...new Set(answers)].join(', ');
    },
  };
}

/** A restart would show as another answer to the first request, or as an exit in its output. */
async function assertServes({ rig, proxy, kept }: BadInputTarget): Promise<void> {
  const { Body } = await proxy.s3.send(new GetObjectCommand({ Bucket: rig.bucket, Key: 'kept' }));
  assert.equal(Buffer.from((await Body?.transformToByteArray()) ?? []), kept);
  assert.not.match(proxy.output(), /proxy\.request\.broke|"event":"crashed"/);
}
