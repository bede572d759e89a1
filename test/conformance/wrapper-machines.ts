import { longSuites } from './support/long-suites.ts';

/** The wrapper on other processors, and where the clock may be set. */
export const wrapperMachines = longSuites({
  name: 'wrapper-machines',
  summary: 'the wrapper that leaves on x64 and arm64, in virtual machines whose clocks jump',
  folders: ['plugins/wrapper/'],
});
