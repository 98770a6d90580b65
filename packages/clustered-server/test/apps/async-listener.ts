import type { IncomingMessage, ServerResponse } from 'node:http'
import { answer } from './faults.ts'

/** A request listener in the form of a plugin. */
export default async (req: IncomingMessage, res: ServerResponse): Promise<void> => answer(req, res)
