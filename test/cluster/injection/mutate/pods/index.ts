import type { PodCase } from './case.ts';
import { commandPods } from './commands.ts';
import { levelPods } from './levels.ts';
import { proxyPods } from './proxies.ts';
import { shapePods } from './shapes.ts';

export const podCases: readonly PodCase[] = [...commandPods, ...shapePods, ...levelPods, ...proxyPods];
