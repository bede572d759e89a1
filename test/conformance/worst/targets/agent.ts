import { connect } from 'node:net';
import { join } from 'node:path';
import { unixSocketPath } from '../../../../src/runtime/protocols/grpc.ts';
import { privateFileSystem } from '../../../plugins/agent/bpf/private-file-system.ts';
import { createMemoryCgroup } from '../../../support/limit-cgroup.ts';
import { startSvcAgent } from '../../../support/svc-agent.ts';
import type { Target } from '../input.ts';
import { MiB, once } from '../inputs/pieces.ts';
import { registrationInputs } from '../inputs/registrations.ts';
import { exchange } from '../send.ts';

const limit = 512 * MiB;

export const agentTargets = [{ name: 'agent', start: startAgent }];

/** The agent on the tier that this machine gives. */
async function startAgent(): Promise<Target> {
  const cgroup = createMemoryCgroup(limit);
  const files = privateFileSystem();
  const agent = await startSvcAgent({ bpfFolder: join(files.path, 'svc'), under: cgroup.under });
  const path = unixSocketPath(agent.address) ?? '';
  const inputs = registrationInputs.map(({ name, bytes }) => {
    const all = once(bytes);
    // the agent's answers are none of HTTP/1
    return {
      name,
      outcomes: ['ended' as const],
      send: () => exchange(connect(path), all(), { leaveAfterMs: 20_000 }),
    };
  });
  return {
    ...{ name: 'agent', limit, inputs, killed: cgroup.killed },
    get pid() {
      return agent.pid;
    },
    get healthz() {
      return `${agent.health}/healthz`;
    },
    restart: () => agent.restart(),
    async stop() {
      await agent.stop();
      files.remove();
      await cgroup.remove();
    },
  };
}
