// The server that `output: 'standalone'` makes, in this process. Build it with NEXT_VARIANT=standalone.

import { pathToFileURL } from 'node:url'
import { dir, host, port } from './app.ts'

// It stops as it should, but says with the signal's code that it did.
process.once('exit', (code) => {
  if (code === 143 || code === 130) process.exitCode = 0
})

process.env.HOSTNAME = host
process.env.PORT = String(port)
await import(`${pathToFileURL(dir).href}/.next/standalone/standalone/examples/next/web/server.js`)
