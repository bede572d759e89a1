import { boolean, string } from '@oclif/core/flags';
import { BaseCommand } from '../runtime/cli/base-command.ts';

export default class Dev extends BaseCommand {
  static override summary =
    'Try the encryption proxy and the wrapper on this machine, with a built-in key server and object store.';
  static override description =
    'For development only. Starts all of it on loopback, writes an object through the proxy, shows what the store ' +
    'holds of it and reads it back. Then starts a demo server under the wrapper (Linux only), shows that it has its ' +
    'secrets and its environment does not, and changes one. Keeps running for any S3 client. Keys and objects are in ' +
    'memory unless --data names a folder, which then holds the keys in the clear; secrets are always in memory.';
  static override enableJsonFlag = true;
  static override flags = {
    once: boolean({ summary: 'End after the round trips' }),
    data: string({ summary: 'Keep keys and objects in this folder', helpValue: '<folder>' }),
    listen: string({
      summary: 'Where clients reach the proxy [default 127.0.0.1:8190, or a free port where that is taken]',
      helpValue: '<address>',
    }),
    tls: boolean({ summary: 'Serve clients over TLS, with a new certificate' }),
  };
  static override examples = [
    '<%= config.bin %> dev',
    '<%= config.bin %> dev --once',
    '<%= config.bin %> dev --data ./svc-dev',
    '<%= config.bin %> dev --tls',
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(Dev);
    const [{ demonstrate }, { proxy }] = await Promise.all([
      import('../plugins/dev/index.ts'),
      import('../plugins/proxy/index.ts'),
    ]);
    const { once, data: dataFolder, listen, tls } = flags;
    const say = (text: string) => this.log(text);
    const tell = (facts: object) => {
      if (this.jsonEnabled()) this.logJson(facts);
    };
    this.exit(await demonstrate({ proxy, once, dataFolder, listen, tls, say, tell }));
  }
}
