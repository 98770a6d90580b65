// An app in one process, which ends as PM2's documentation has it: what is under way is answered, then it exits.

import type { Server } from 'node:http'

const { APP = 'faults.ts', HOST = '127.0.0.1', PORT = '0' } = process.env
const { default: app } = (await import(new URL(APP, import.meta.url).href)) as { default: () => Server }
const server = app().listen(Number(PORT), HOST)
process.once('SIGINT', () => server.close(() => process.exit()))
