import { longSuites } from './support/long-suites.ts';

/** What `npm test` shows with versitygw. */
export const stores = longSuites({
  name: 'stores',
  summary: 'commands of the proxy between stores, the other way round than in `npm test`',
  folders: ['plugins/proxy/'],
});
