import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { commandSnapshot } from '../../scripts/lib/snapshot.mjs';

const snapshot = suite('command snapshot');

const flag = { name: 'listen', type: 'option', summary: 'Address to listen on.' };
const command = { id: 'run:proxy', aliases: [], args: {}, flags: { listen: flag }, summary: 'Encrypts.' };
const text = (changed: object = {}) =>
  commandSnapshot(JSON.stringify({ commands: { x: { ...command, ...changed } } }));

snapshot('shows a command with its flags', () => {
  assert.is(text(), 'svc run proxy\n    Encrypts.\n    --listen=value  Address to listen on.\n');
});

snapshot('differs when anything changes that users rely on', () => {
  const changes = [
    { id: 'run:gate' },
    { hidden: true },
    { aliases: ['gate'] },
    { summary: 'Decrypts.' },
    { args: { name: { name: 'name' } } },
    { flags: {} },
    { flags: { listen: { ...flag, char: 'l' } } },
    { flags: { listen: { ...flag, required: true } } },
    { flags: { listen: { ...flag, multiple: true } } },
    { flags: { listen: { ...flag, type: 'boolean' } } },
    { flags: { listen: { ...flag, options: ['a', 'b'] } } },
  ];
  const texts = new Set([text(), ...changes.map(text)]);
  assert.is(texts.size, changes.length + 1);
});

snapshot.run();
