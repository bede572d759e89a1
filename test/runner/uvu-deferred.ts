/** To be loaded before uvu, which then leaves it to others to run the suites whose `.run()` was called. */
type Run = () => Promise<unknown>;

/** uvu's own runs of those suites, in that order. */
export const runs: Run[] = [];
Object.assign(globalThis, { UVU_DEFER: true, UVU_QUEUE: [runs], UVU_INDEX: 0 });
