export { type OpenOptions, open } from './open.ts';
export type { Store } from './store.ts';
