import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Catalog } from './catalog.ts';
import { FileBlobs } from './file-blobs.ts';
import { MemoryBlobs } from './memory-blobs.ts';
import { fileRecords, noRecords } from './records.ts';
import { SharedBlobs } from './shared-blobs.ts';

/** Bodies kept in memory, all together. Bytes. */
const memoryBound = 1024 ** 3;

/** In memory; `bound` in bytes. */
export function memoryCatalog(bound = memoryBound): Catalog {
  return new Catalog(noRecords, new SharedBlobs(new MemoryBlobs(bound)));
}

/** In that folder, which is made where it is missing. @throws SvcError DEV_STORE */
export function folderCatalog(folder: string): Catalog {
  const [records, blobs] = [join(folder, 'records'), join(folder, 'blobs')] as const;
  for (const path of [records, blobs]) mkdirSync(path, { recursive: true, mode: 0o700 });
  return new Catalog(fileRecords(records), new SharedBlobs(new FileBlobs(blobs)));
}
