#!/usr/bin/env node
import { nodeVersionError } from 'checked-options/node-version'

// Before all other modules: older versions of Node fail to link them, with a SyntaxError.
const error = nodeVersionError('speed-bounds', '22.19')
if (error === undefined) await import('./program.ts')
else {
  console.error(error)
  process.exitCode = 2
}
