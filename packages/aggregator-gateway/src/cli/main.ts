#!/usr/bin/env node
import { runOnNode } from 'checked-options/node-version'

await runOnNode('aggregator-gateway', '22.19', () => import('./program.ts'))
