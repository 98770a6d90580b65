import { createServer, type Server } from 'node:https'
import { answer } from './faults.ts'

/** A server of `node:https`. */
export default function secure(): Server {
  const { TLS_KEY: key, TLS_CERTIFICATE: cert } = process.env
  return createServer({ key, cert }, (request, response) => void answer(request, response))
}
