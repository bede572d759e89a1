import { longSuites } from './support/long-suites.ts';

/** Clients of the proxy that take long to start, beside those of `npm test`. */
export const clients = longSuites({
  name: 'clients',
  summary: 'both versions of the AWS CLI through the proxy',
  folders: ['clients/'],
});
