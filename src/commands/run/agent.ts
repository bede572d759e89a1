import { boolean } from '@oclif/core/flags';
import { agentSettings } from '../../plugins/agent/settings.ts';
import { componentCommand, type GivenFlags } from '../../runtime/cli/component-command.ts';

const Component = componentCommand({
  summary: 'Keep other processes on this node out of the environment and memory of protected ones.',
  description:
    'Loads BPF programs that deny (or, on kernels that do not allow it, report or kill) attempts of other processes, ' +
    'root included, and proves by a canary that they do. Wrappers register at its Unix socket; the pods of this node ' +
    'with the label svc/protected=true are covered as a whole. The loaded programs keep guarding after it ends; ' +
    'the next agent takes them over, and --unload removes them. Needs root and the PID namespace of the host.',
  examples: [
    '<%= config.bin %> run agent',
    '<%= config.bin %> run agent --enforce false',
    '<%= config.bin %> run agent --unload',
  ],
  settings: agentSettings,
  load: async () => (await import('../../plugins/agent/index.ts')).agent,
});

export default class RunAgent extends Component {
  static override flags = {
    ...Component.flags,
    unload: boolean({ summary: 'Remove the programs from this node and end; nothing is guarded then' }),
  };

  override async run(): Promise<void> {
    const { flags } = await this.parse(RunAgent);
    const { unload, config: configFile, ...given } = flags as GivenFlags & { config?: string };
    if (!unload) return this.start({ ...given, ...(configFile && { config: configFile }) });
    const { unloadAgent } = await import('../../plugins/agent/unload.ts');
    this.log(await unloadAgent({ flags: given, env: process.env, configFile }));
  }
}
