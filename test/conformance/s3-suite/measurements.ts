import type { ObjectStore } from '../../support/types.ts';
import { lostAtMinio, lostAtVersitygw, unsteadyAtVersitygw } from '../minio-go-suite/lost-rows.ts';
import type { Cause } from './compare.ts';
import { lostRows, unsteadyRows } from './lost-rows.ts';
import { lostRowsMinio } from './lost-rows-minio.ts';
import type { SuiteName } from './rows.ts';

/** What is known of a suite at a store. The runs of `npm run conformance` check it, and docs/CONFORMANCE.md shows it. */
export interface Measurement {
  readonly suite: SuiteName;
  readonly store: ObjectStore['kind'];
  /** Rows that pass at the store itself. */
  readonly passing: number;
  /** Which of them fail through the proxy, and why. */
  readonly lost: readonly Cause[];
  /** Names of rows that pass or fail by chance, at the store too; they are left out. */
  readonly unsteady: readonly string[];
}

export const measurements: readonly Measurement[] = [
  { suite: 's3-suite', store: 'versitygw', passing: 766, lost: lostRows, unsteady: unsteadyRows },
  { suite: 's3-suite', store: 'minio', passing: 229, lost: lostRowsMinio, unsteady: [] },
  {
    suite: 'minio-go-suite',
    store: 'versitygw',
    passing: 44,
    lost: lostAtVersitygw,
    unsteady: unsteadyAtVersitygw,
  },
  { suite: 'minio-go-suite', store: 'minio', passing: 82, lost: lostAtMinio, unsteady: [] },
];
