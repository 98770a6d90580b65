// `next start`, in this process.

import { dir, host, port, requireOfApp } from './app.ts'

// It stops as it should, but says with the signal's code that it did.
process.once('exit', (code) => {
  if (code === 143 || code === 130) process.exitCode = 0
})

process.argv = [process.execPath, 'next', 'start', dir, '--hostname', host, '--port', String(port)]
requireOfApp('next/dist/bin/next')
