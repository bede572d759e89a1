/** `svc run agent` without its command line, which an emulated processor takes seconds to load. */
import { agent } from '../../../../../src/plugins/agent/index.ts';
import { runComponent } from '../../../../../src/runtime/component/run-component.ts';

process.exit(await runComponent(agent, { flags: {}, env: process.env }));
