import { string } from '@oclif/core/args';
import { BaseCommand } from '../../runtime/cli/base-command.ts';
import { componentsOf, componentTable } from '../../runtime/cli/components.ts';
import { SvcError } from '../../runtime/errors.ts';

export default class Run extends BaseCommand {
  static override summary = 'Start a component and keep it running.';
  static override description =
    'Without a component, lists those that can be started: built in or from installed plugins.';
  static override args = { component: string({ description: 'Name of the component.' }) };
  static override examples = ['<%= config.bin %> run', '<%= config.bin %> run proxy --help'];

  async run(): Promise<void> {
    const { args } = await this.parse(Run);
    const components = componentsOf(this.config.commands);
    if (args.component !== undefined) throw unknownComponent(args.component);
    this.log(componentTable(components, this.config.bin));
  }
}

function unknownComponent(name: string): SvcError {
  return new SvcError('UNKNOWN_COMPONENT', `There is no component named ${JSON.stringify(name)}.`, {
    nextStep: 'Run `svc run` to list the components; `svc plugins install` adds others.',
    exitStatus: 2,
  });
}
