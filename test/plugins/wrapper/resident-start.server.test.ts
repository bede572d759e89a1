/** The same tests for a wrapper that stays: its worker makes the first pass, below svc-init. */
process.env['SVC_RESIDENT'] = 'true';
await import('./exit-status.server.test.ts');
await import('./pid-1.server.test.ts');

export const timeout = 180_000;
