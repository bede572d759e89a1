/** Set by `npm run conformance -- repetitions`. */
const variable = 'SVC_TEST_REPETITIONS';

/**
 * How often a test does again what it has done, or how much it sends: enough in `npm test` for what it is to show, more
 * in `npm run conformance -- repetitions`, which runs every suite that asks here.
 */
export const repetitions = (usual: number, nightly: number): number =>
  process.env[variable] === 'nightly' ? nightly : usual;

/** The stores that a suite goes through where it shows the same with each: the second one in that part alone. */
export const storeKinds = (['versitygw', 'minio'] as const).slice(0, repetitions(1, 2));
