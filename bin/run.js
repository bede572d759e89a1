#!/usr/bin/env node
import module from 'node:module';
import { requireNode } from './require-node.js';

requireNode('svc');
module.enableCompileCache?.();
await import('../dist/main.js');
