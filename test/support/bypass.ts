/**
 * The program of test/tools/bypass as functions: victims, attackers, ordinary readers. All but `buildBypass` run inside
 * a virtual machine too, given the program's path there.
 */
export * from './bypass/attempt.ts';
export * from './bypass/load.ts';
export * from './bypass/types.ts';
export * from './bypass/victim.ts';
export * from './bypass/walk.ts';
