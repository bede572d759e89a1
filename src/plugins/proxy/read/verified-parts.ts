import { noRoom, strictFile } from './body/body-roads.ts';
import type { ByteReader } from './body/byte-reader.ts';
import { sealedPart } from './body/sealed-body.ts';
import type { PartKeys } from './part-keys.ts';
import type { WantedPart } from './part-runs.ts';
import type { Spool } from './spool/spool.ts';
import { type SpoolFile, SpoolUnavailable } from './spool/spool-file.ts';
import { type SpooledBody, spoolBody, spooledSlice } from './spool/spooled-body.ts';

/**
 * The slices of parts that `reader` stands before, the first of which begins only after the last part was
 * found authentic too. Their ciphertext waits on disk; their keys are unwrapped once for each of the two passes.
 * @throws S3Error SlowDown when the parts do not fit on disk together
 */
export async function* verifiedParts(
  spool: Spool,
  reader: ByteReader,
  wanted: readonly WantedPart[],
  openKeys: () => PartKeys,
): AsyncGenerator<Buffer, void> {
  const file = await strictFile(
    spool,
    wanted.reduce((sum, { entry }) => sum + entry.size, 0),
  );
  try {
    const bodies = await withKeys(openKeys, (keys) => spoolAll(file, reader, wanted, keys));
    const keys = openKeys();
    try {
      for (const [index, { entry, slice }] of wanted.entries())
        yield* spooledSlice(bodies[index] as SpooledBody, slice, keys.of(entry));
    } finally {
      keys.close();
    }
  } catch (error) {
    throw error instanceof SpoolUnavailable ? noRoom(error) : error;
  } finally {
    file.close();
  }
}

async function withKeys<T>(openKeys: () => PartKeys, use: (keys: PartKeys) => Promise<T>): Promise<T> {
  const keys = openKeys();
  try {
    return await use(keys);
  } finally {
    keys.close();
  }
}

async function spoolAll(
  file: SpoolFile,
  reader: ByteReader,
  wanted: readonly WantedPart[],
  keys: PartKeys,
): Promise<SpooledBody[]> {
  const bodies: SpooledBody[] = [];
  for (const { entry } of wanted)
    bodies.push(await spoolBody(reader, sealedPart(entry), keys.of(entry), file));
  return bodies;
}
