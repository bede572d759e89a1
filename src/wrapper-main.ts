import { prepare } from './plugins/wrapper/prepare.ts';

const prepared = prepare(process.argv.slice(2), process.env);
if ('status' in prepared) process.exitCode = prepared.status;
