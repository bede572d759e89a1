import cluster from 'node:cluster';
import type { Component } from '../../runtime/component/contract.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { setCoreLimit, setDumpable } from '../../runtime/native/self.ts';
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
    protectMemory(deps.log);
    const config = readConfig(settings);
    if (cluster.isWorker) return startWorker({ config, settings, deps }, signal);
    if (config.workers > 1) return startCrew(config, deps, signal);
    return startProcess({ config, settings, deps, conditions: deps.health }, signal);
  },
};

/**
 * No core dumps, and no reading by other processes of the same user, before there is a token or a key.
 * @throws NativeError, SvcError NATIVE_UNSUPPORTED (exit 71) where Linux refuses
 */
function protectMemory(log: Logger): void {
  if (process.platform !== 'linux') {
    return log.warn('proxy.memory.unprotected', { platform: process.platform });
  }
  setCoreLimit(1);
  setDumpable(false);
}
