import { join } from 'node:path';
import { unpinAll } from '../../../../../src/plugins/agent/guard/program-set.ts';
import type { VictimFacts } from '../../../../support/bypass/types.ts';
import { temporaryFolder } from '../../../../support/temporary.ts';
import { type Prepared, prepareVictim } from '../../bypass/driver/prepare.ts';
import { type RegistrarPlace, startRegistrar } from '../../bypass/driver/registrar-place.ts';
import { type Agent, startAgent } from './agent.ts';
import type { AgentMode, Machine } from './machine.ts';

/** One agent after the other with the same socket and tables, and processes that register with them. */
export interface Bench {
  readonly machine: Machine;
  readonly socket: string;
  /** The newest one. */
  readonly agent: Agent;
  start(mode: AgentMode): Promise<Agent>;
  /** A registrar that has not registered yet. */
  place(): Promise<RegistrarPlace>;
  /** A registrar that has, and a victim below it. */
  covered(): Promise<Covered>;
  /** What all agents have written, and what they exposed. */
  heard(): string;
  /** Adds to what is searched for secrets. */
  hear(text: string): void;
  markers(): readonly string[];
  close(): Promise<void>;
}

export interface Covered {
  readonly place: RegistrarPlace;
  readonly victim: Prepared;
  readonly facts: VictimFacts;
}

export function createBench(machine: Machine): Bench {
  const folder = temporaryFolder('agent');
  const socket = join(folder.path, 'agent.sock');
  const places: RegistrarPlace[] = [];
  const markers: string[] = [];
  let heard = '';
  let agent: Agent | undefined;
  const hear = (text: string) => {
    heard += text;
  };
  const place = async () => {
    const started = await startRegistrar(machine.registrar, socket);
    places.push(started);
    return started;
  };
  return {
    machine,
    socket,
    get agent() {
      if (agent === undefined) throw new Error('No agent was started');
      return agent;
    },
    async start(mode) {
      agent = await startAgent(machine, socket, mode, hear);
      return agent;
    },
    place,
    async covered() {
      const started = await place();
      const refused = await started.protect();
      if (refused !== undefined) throw new Error(`The registrar was refused: ${refused.message}`);
      const victim = await prepareVictim(machine.bypass, { needs: [] }, started);
      markers.push(victim.facts.marker);
      return { place: started, victim, facts: victim.facts };
    },
    heard: () => heard,
    hear,
    markers: () => markers,
    async close() {
      for (const each of places) await each.end();
      await agent?.kill('SIGKILL');
      unpinAll(machine.bpf);
      await folder.remove();
    },
  };
}
