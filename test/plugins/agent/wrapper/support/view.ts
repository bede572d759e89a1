import { http } from '../../../../support/http.ts';
import type { LogLine } from '../../../../support/log-lines.ts';
import type { SvcAgent } from '../../../../support/svc-agent.ts';
import { startWrapper, type WrapperRun } from '../../../../support/svc-wrapper.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import type { KeyServer } from './key-server.ts';
import type { Machine } from './machine.ts';

export interface ViewRecord {
  readonly kind: 'view';
  /** What the application saw of KEY on each way, at its start and after SIGHUP. */
  readonly looks: readonly Readonly<Record<string, unknown>>[];
  readonly expected: readonly string[];
  /** The application got the wrapper's SIGUSR1. */
  readonly signalled: boolean;
  /** Status of the wrapper when the application ended with 7, and on tier 3 of one whose application was killed by 9. */
  readonly exits: readonly (number | null)[];
  /** Statuses of the wrapper's /healthz and /readyz. */
  readonly probes: readonly number[];
  /** The wrapper's own metrics of the agent. */
  readonly metrics: Readonly<Record<string, string | undefined>>;
  readonly coreLimit: string;
  /** What the Go demo showed before and after a restart with a new secret, and the wrapper's status at SIGTERM. */
  readonly demo: readonly [before: string, after: string, status: number | null];
  readonly warnings: readonly string[];
  /** What the agent took for attempts: nobody tried. */
  readonly hits: readonly object[];
}

const values = ['first-value-of-key', 'second-value-of-key'] as const;

/** An application, its children, SDKs and the wrapper that sees to them, while all are protected. */
export async function runView(machine: Machine, keys: KeyServer, agent: SvcAgent): Promise<ViewRecord> {
  const viewer = new Viewer(machine, keys, agent);
  try {
    const { status, ...seen } = await viewer.node();
    return {
      ...{ kind: 'view', expected: values, ...seen },
      demo: await viewer.demo(),
      // emulated processors take too long for one start more
      exits: machine.tier === 3 ? [status, await viewer.killed()] : [status],
      warnings: viewer.warnings(),
      hits: attemptsHere(agent),
    };
  } finally {
    await viewer.end();
  }
}

/**
 * Without what the attacker of other tests tries on this machine meanwhile: it reads every process from its first moment
 * and looks afterwards whose it is, and a path to all memory is reported by every agent.
 */
function attemptsHere(agent: SvcAgent): LogLine[] {
  const hits = ['hit.denied', 'hit.killed', 'hit.seen'].flatMap((event) => agent.events(event));
  return hits.filter((hit) => hit['source_comm'] !== 'bypass');
}

class Viewer {
  readonly #machine: Machine;
  readonly #keys: KeyServer;
  readonly #agent: SvcAgent;
  readonly #runs: WrapperRun[] = [];

  constructor(machine: Machine, keys: KeyServer, agent: SvcAgent) {
    this.#machine = machine;
    this.#keys = keys;
    this.#agent = agent;
  }

  async node() {
    await this.#put(values[0]);
    const run = await this.#start(this.#machine.application, {
      SVC_ROTATION: 'sighup',
      RENEWAL_INTERVAL: '1s',
    });
    const looks = [look(await run.says(/^LOOK (.*"why":"start".*)$/m))];
    const health = await run.health();
    const probes = [(await http(`${health}/healthz`)).status, (await http(`${health}/readyz`)).status];
    const { text } = await http(`${health}/metrics`);
    run.signal('SIGUSR1');
    await run.says(/^GOT USR1$/m);
    await this.#put(values[1]);
    looks.push(look(await run.says(/^LOOK (.*"why":"SIGHUP".*)$/m)));
    run.signal('SIGUSR2');
    const { code } = await run.exited;
    const coreLimit = String((await run.event('protection'))['core_limit']);
    const metric = (name: string) => new RegExp(`^svc_wrapper_${name} (.*)$`, 'm').exec(text)?.[1];
    const metrics = { tier: metric('agent_tier'), enforcing: metric('agent_enforcing') };
    return { looks, probes, metrics, coreLimit, signalled: true, status: code };
  }

  async demo(): Promise<[string, string, number | null]> {
    await this.#put(values[0]);
    const run = await this.#start([this.#machine.goDemo], {
      ...{ HOST: '127.0.0.1', PORT: '0', SVC_ROTATION: 'restart', RENEWAL_INTERVAL: '1s' },
    });
    const shown = async (count: number) => {
      const urls = () => [...run.output().matchAll(/^demo: listening on (\S+),/gm)].map(([, url]) => url);
      const url = await waitFor(`demo ${count}`, () => urls()[count - 1], { details: run.output });
      return (await http(`http://${url}/protected`)).json.secrets[0].value as string;
    };
    const before = await shown(1);
    await this.#put(values[1]);
    const after = await shown(2);
    run.signal('SIGTERM');
    return [before, after, (await run.exited).code];
  }

  /** Beside it an orphan that the wrapper has to end. */
  async killed(): Promise<number | null> {
    const run = await this.#start(['/bin/sh', '-c', '(sleep 600 &); kill -KILL $$'], {});
    return (await run.exited).code;
  }

  async end(): Promise<void> {
    for (const run of this.#runs) await run.stop();
  }

  warnings(): string[] {
    const lines = this.#runs.flatMap((run) => run.events());
    return lines.filter(({ level }) => level !== 'info').map((line) => JSON.stringify(line));
  }

  #put(value: string): Promise<void> {
    return this.#keys.put('app', { KEY: value });
  }

  async #start(command: readonly string[], env: Record<string, string>): Promise<WrapperRun> {
    const run = await startWrapper({
      vault: await this.#keys.vault(),
      paths: ['secret/app'],
      entry: this.#machine.wrapper,
      command,
      env: { SVC_EBPF_AGENT_ADDR: this.#agent.address, SVC_REQUIRE_ENFORCEMENT: 'true', ...env },
    });
    this.#runs.push(run);
    return run;
  }
}

const look = ([, json = '']: RegExpExecArray): Record<string, unknown> => JSON.parse(json);
