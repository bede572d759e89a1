/** The same tests for a wrapper that stays as a Node process. */
process.env['SVC_RESIDENT'] = 'true';
await import('./rotation.server.test.ts');
await import('./token.server.test.ts');

export const idle = true;
export const timeout = 120_000;
