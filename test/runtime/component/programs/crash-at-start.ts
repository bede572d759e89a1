import { runDemo } from './program.ts';

await runDemo({
  start: async ({ password }) => {
    throw new Error(`cannot log in with ${password}`);
  },
});
