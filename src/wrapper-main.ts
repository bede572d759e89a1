import { main } from './plugins/wrapper/main.ts';

void main(process.argv.slice(2));
