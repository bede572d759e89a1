/** The same tests for a wrapper that stays as a Node process. */
process.env['SVC_RESIDENT'] = 'true';
await import('./exit-status.test.ts');
await import('./inheritance.test.ts');
await import('./orphans.test.ts');
await import('./pid-1.test.ts');
await import('./signals.test.ts');

export const slow = true;
export const idle = true;
export const timeout = 120_000;
