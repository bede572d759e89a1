/** The same tests for a wrapper that stays as a Node process. */
process.env['SVC_RESIDENT'] = 'true';
await import('./wrapper.server.test.ts');

export const timeout = 120_000;
