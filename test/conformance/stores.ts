import { longSuites } from './support/long-suites.ts';

/** What `npm test` shows with versitygw, what only MinIO has, and races of commands that run for long. */
export const stores = longSuites({
  name: 'stores',
  summary: 'the proxy and its commands with MinIO; `rewrap` and `migrate` beside writers',
  folders: ['plugins/proxy/', 'plugins/bulk/', 'objects/', 'faults/'],
});
