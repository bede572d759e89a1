#!/usr/bin/env node
import './no-debugger.js';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { requireNode } from './require-node.js';
import { withShippedNode } from './shipped-node.js';

await withShippedNode(fileURLToPath(import.meta.url));
requireNode('svc');
module.enableCompileCache?.();
await import('../dist/main.js');
