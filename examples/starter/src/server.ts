// The app in one process with its services, for development. `npm start` uses every core.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import app from './app.ts'
import { services } from './services.ts'

if (process.env.SERVICES === undefined) {
  services.listen(0, '127.0.0.1')
  await once(services, 'listening')
  process.env.SERVICES = `http://127.0.0.1:${(services.address() as AddressInfo).port}`
}

const { HOST = '127.0.0.1', PORT = '3000' } = process.env
const instance = await app()
console.log(`The app listens at ${await instance.listen({ host: HOST, port: Number(PORT) })}`)
