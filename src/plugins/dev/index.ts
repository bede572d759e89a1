export { demonstrate } from './demonstrate.ts';
