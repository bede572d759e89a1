import cluster from 'node:cluster';
import type { Component } from '../../runtime/component/contract.ts';
import { readConfig } from './read-config.ts';
import { checkProxy } from './rules.ts';
import { type ProxySettings, proxySettings } from './settings.ts';
import { startProcess } from './start-process.ts';
import { startCrew } from './workers/crew.ts';
import { startWorker } from './workers/worker.ts';

/** The S3 encryption proxy, in this process or in several that share its address. */
export const proxy: Component<ProxySettings> = {
  name: 'proxy',
  settings: proxySettings,
  check: checkProxy,
  start(settings, deps, signal) {
    const config = readConfig(settings);
    if (cluster.isWorker) return startWorker({ config, settings, deps }, signal);
    if (config.workers > 1) return startCrew(config, deps, signal);
    const onVault = ({ ready, reason }: { ready: boolean; reason: string }) =>
      ready ? deps.health.ready('vault') : deps.health.notReady('vault', reason);
    return startProcess({ config, settings, deps, onVault }, signal);
  },
};
